package limiter

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"weir/pkg/bucket"
)

// gated is a store of one row whose calls wait at a gate while there is one.
type gated struct {
	mu    sync.Mutex
	row   bucket.Row
	found bool
	gate  chan error // nil for none; an error is returned in place of the charge
	slow  bool       // others run while a call is in flight, and one in ten fails
	calls atomic.Int64
}

func (g *gated) Charge(_ context.Context, _ string, c bucket.Charge) (bucket.Outcome, error) {
	n := g.calls.Add(1)
	if g.slow {
		for range 3 {
			runtime.Gosched()
		}
		if n%10 == 0 {
			return bucket.Outcome{Calls: 1}, ErrUnavailable
		}
	}
	if g.gate != nil {
		if err := <-g.gate; err != nil {
			return bucket.Outcome{Calls: 1}, err
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	row, status := c.Apply(g.row, g.found)
	if status == bucket.Charged {
		g.row, g.found = row, true
	}
	return bucket.Outcome{Status: status, Row: row, Calls: 1, Units: 1}, nil
}

func (g *gated) Rows(context.Context, string) ([]bucket.Row, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.found {
		return nil, nil
	}
	return []bucket.Row{g.row}, nil
}

func limitOf(t *testing.T, count int64, period time.Duration, burst int64) bucket.Limit {
	t.Helper()
	l, err := bucket.NewLimit(bucket.Rate{Count: count, Period: period}, burst)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// waitFor runs other goroutines until ok, which is called with the bucket's entry
// locked.
func waitFor(t *testing.T, l *Limiter, key string, ok func(*entry) bool) {
	t.Helper()
	for range 10_000_000 {
		if e := l.table.lockKnown(key); e != nil {
			done := ok(e)
			e.mu.Unlock()
			if done {
				return
			}
		}
		runtime.Gosched()
	}
	t.Fatal("it never came to that")
}

// inFlight runs other goroutines until a call is at the gate.
func (g *gated) inFlight() {
	for g.calls.Load() == 0 {
		runtime.Gosched()
	}
}

// A new limit comes to be known while a charge by the old one is in flight: what
// the store answers is read under the new one.
func TestChangeWhileAChargeIsInFlight(t *testing.T) {
	before := limitOf(t, 1, time.Hour, 10)
	for _, tt := range []struct {
		name    string
		used    int64        // of the 10, before
		after   bucket.Limit // of the newer check, which waits behind the charge
		err     error        // of the charge
		allowed bool
		unknown bool
		calls   int64 // until both are decided
		spent   int64
	}{
		{"refused, but the new limit has room", 10, limitOf(t, 1, time.Hour, 20), nil, true, false, 3, 12},
		{"refused, and by the new limit too", 10, limitOf(t, 2, time.Hour, 10), nil, false, false, 2, 10},
		{"refused, and the new limit is none", 10, bucket.Unlimited(), nil, true, false, 1, 10},
		{"refused, and the new limit admits nothing", 10, limitOf(t, 0, 0, 5), nil, false, false, 1, 10},
		{"charged, and the new limit is wider", 1, limitOf(t, 1, time.Hour, 20), nil, true, false, 2, 3},
		{"charged, and the new limit is narrower", 1, limitOf(t, 1, time.Hour, 5), nil, true, false, 2, 3},
		{"charged, and the new limit admits nothing", 1, limitOf(t, 0, 0, 5), nil, false, false, 1, 2},
		{"not answered", 1, limitOf(t, 1, time.Hour, 20), ErrUnavailable, true, true, 1, 1},
		{"not answered, and the new limit admits nothing", 1, limitOf(t, 0, 0, 5), ErrUnavailable, false, false, 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := &gated{}
			l := New(store, Options{Timeout: time.Hour, NoLease: true})
			ctx := context.Background()
			old := Check{Name: "api", Key: "k", Limit: before, Cost: 1, Ver: 1}
			fresh := Check{Name: "api", Key: "k", Limit: tt.after, Cost: 1, Ver: 2, Carry: bucket.Additive, Since: t0}
			for range tt.used {
				if !l.Decide(ctx, t0, []Check{old}).Allowed {
					t.Fatal("refused")
				}
			}
			store.calls.Store(0)
			store.gate = make(chan error)
			var wg sync.WaitGroup
			var first, second Decision
			wg.Go(func() { first = l.Decide(ctx, t0, []Check{old}) })
			store.inFlight()
			wg.Go(func() { second = l.Decide(ctx, t0, []Check{fresh}) })
			waitFor(t, l, "k", func(e *entry) bool { return e.ver == 2 && (len(e.queue) == 1 || e.most < 0) })
			store.gate <- tt.err
			close(store.gate)
			wg.Wait()
			for i, r := range []Result{first.Results[0], second.Results[0]} {
				if r.Allowed != tt.allowed || r.Unknown != tt.unknown || r.Limit != tt.after || r.Ver != 2 {
					t.Errorf("request %d: %+v; want allowed=%v, unknown=%v by the new limit", i, r, tt.allowed, tt.unknown)
				}
				if !tt.allowed && r.Wait <= 0 {
					t.Errorf("request %d refused for %v", i, r.Wait)
				}
			}
			if n := store.calls.Load(); n != tt.calls {
				t.Errorf("%d calls, want %d", n, tt.calls)
			}
			if store.row.Spent != tt.spent {
				t.Errorf("%d charged, want %d", store.row.Spent, tt.spent)
			}
		})
	}
}

// A token that was there when it was charged is there, although under the new limit
// the bucket is overdrawn; one of the future is held for no longer than was asked.
func TestHoldInFlight(t *testing.T) {
	for _, tt := range []struct {
		name string
		used int64
		held time.Duration
	}{
		{"of what was there", 9, 0},
		{"of the future", 10, 100 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := &gated{}
			var held time.Duration
			l := New(store, Options{Timeout: time.Hour, NoLease: true, Sleep: func(_ context.Context, d time.Duration) error {
				held = d
				return nil
			}})
			ctx := context.Background()
			old := Check{Name: "api", Key: "k", Limit: limitOf(t, 10, time.Second, 10), Cost: 1, Ver: 1, Hold: 100 * time.Millisecond}
			fresh := old
			fresh.Limit, fresh.Ver, fresh.Carry, fresh.Since = limitOf(t, 1, time.Minute, 2), 2, bucket.Additive, t0
			for range tt.used {
				l.Decide(ctx, t0, []Check{old})
			}
			store.gate = make(chan error)
			store.calls.Store(0)
			var wg sync.WaitGroup
			var first, second Decision
			wg.Go(func() { first = l.Decide(ctx, t0, []Check{old}) })
			store.inFlight()
			wg.Go(func() { second = l.Decide(ctx, t0, []Check{fresh}) })
			waitFor(t, l, "k", func(e *entry) bool { return e.ver == 2 && len(e.queue) == 1 })
			close(store.gate)
			wg.Wait()
			if !first.Allowed || held != tt.held {
				t.Errorf("%+v after %v; want allowed after %v", first.Results[0], held, tt.held)
			}
			if r := second.Results[0]; second.Allowed || r.Wait < 8*time.Minute {
				t.Errorf("%+v, want refused until the debt is paid", r)
			}
		})
	}
}

// A lease that was charged by the old limit may be spent up to the new burst and is
// not given back, whenever the new one came to be known.
func TestLeaseInFlight(t *testing.T) {
	store := &gated{}
	l := New(store, Options{Timeout: time.Hour})
	ctx := context.Background()
	old := Check{Name: "api", Key: "k", Limit: limitOf(t, 1000, time.Second, 1000), Cost: 1, Ver: 1}
	fresh := Check{Name: "api", Key: "k", Limit: limitOf(t, 10, time.Second, 10), Cost: 1, Ver: 2, Since: t0}
	for range 60 { // demand
		l.Decide(ctx, t0, []Check{old})
	}
	e := l.table.lockKnown("k")
	e.credit = 0
	e.mu.Unlock()
	store.gate = make(chan error)
	store.calls.Store(0)
	var wg sync.WaitGroup
	wg.Go(func() { l.Decide(ctx, t0, []Check{old}) })
	store.inFlight()
	wg.Go(func() { l.Decide(ctx, t0, []Check{fresh}) })
	waitFor(t, l, "k", func(e *entry) bool { return e.ver == 2 && len(e.queue) == 1 })
	close(store.gate)
	wg.Wait()
	e = l.table.lockKnown("k")
	held := e.spendable(t0)
	e.mu.Unlock()
	if held != 8 { // of 10, the new burst, one for each request
		t.Fatalf("%d in hand, want 8", held)
	}
	if n := l.Release(ctx, t0); n != 0 {
		t.Errorf("%d given back", n)
	}
}

// Goroutines of tenants that share a bucket under limits of their own: each is
// decided by its own, also while the other's calls are in flight.
func TestSharedBucketIsDecidedByEachsOwn(t *testing.T) {
	l := New(&gated{slow: true}, Options{Timeout: time.Hour})
	limits := [...]bucket.Limit{limitOf(t, 1000, time.Second, 1000), limitOf(t, 10, time.Second, 10), limitOf(t, 0, 0, 0), bucket.Unlimited()}
	var now, spent atomic.Int64
	now.Store(t0)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			c := Check{Name: "ip", Key: "k", Limit: limits[g%4], Cost: 1, OnError: Deny}
			for range 2000 {
				d := l.Decide(context.Background(), now.Add(10_000), []Check{c})
				r := d.Results[0]
				if r.Limit != c.Limit || r.Ver != 0 || c.Limit.IsUnlimited() && !r.Allowed || c.Limit.IsZero() && r.Allowed {
					t.Errorf("%+v for a limit of %+v", r, c.Limit.Rate())
					return
				}
				if r.Allowed && !c.Limit.IsUnlimited() {
					spent.Add(c.Limit.Time(1))
				}
			}
		})
	}
	wg.Wait()
	if most := int64(time.Second) + now.Load() - t0; spent.Load() > most {
		t.Errorf("admitted for %v in %v, of a bucket of a second", time.Duration(spent.Load()), time.Duration(most)-time.Second)
	}
}

// What a refused request hands back is worth what was taken for it.
func TestHandBackToASharedBucket(t *testing.T) {
	l := New(&gated{}, Options{Timeout: time.Hour})
	big := Check{Name: "ip", Key: "k", Limit: limitOf(t, 1000, time.Second, 1000), Cost: 5}
	small := Check{Name: "ip", Key: "k", Limit: limitOf(t, 10, time.Second, 10), Cost: 1}
	ctx := context.Background()
	d := l.Decide(ctx, t0, []Check{big})
	l.Decide(ctx, t0, []Check{small}) // now the other's limit is in force
	l.handBack(t0, []Check{big}, d.Results)
	e := l.table.lockKnown("k")
	defer e.mu.Unlock()
	if *e.limit != big.Limit || e.spendable(t0) != 5 {
		t.Errorf("%d tokens of %+v in hand, want the 5 of 1000/s", e.spendable(t0), e.limit.Rate())
	}
}

// What is handed back after a change was charged under the limit before, and is
// not given back to the store.
func TestHandBackAfterAChange(t *testing.T) {
	l := New(&gated{}, Options{Timeout: time.Hour, NoLease: true})
	old := Check{Name: "api", Key: "k", Limit: limitOf(t, 1000, time.Second, 1000), Cost: 5, Ver: 1}
	fresh := Check{Name: "api", Key: "k", Limit: limitOf(t, 10, time.Second, 10), Cost: 1, Ver: 2, Since: t0}
	ctx := context.Background()
	d := l.Decide(ctx, t0, []Check{old})
	l.Decide(ctx, t0, []Check{fresh})
	l.handBack(t0, []Check{old}, d.Results)
	if s := l.Stats(t0); s.Tokens != 5 {
		t.Fatalf("%d tokens in hand, want 5", s.Tokens)
	}
	if n := l.Release(ctx, t0); n != 0 {
		t.Errorf("%d given back", n)
	}
}

// The limits that entries have in common are not kept for good.
func TestInternIsBounded(t *testing.T) {
	for i := range int64(2*maxInterned + 7) {
		l := limitOf(t, 1, time.Second, i%10_000_000+1)
		if p := intern(l); *p != l || *intern(l) != l {
			t.Fatalf("%+v for %+v", *p, l)
		}
	}
	if n := len(interned.limits); n > maxInterned {
		t.Errorf("%d kept, want up to %d", n, maxInterned)
	}
}
