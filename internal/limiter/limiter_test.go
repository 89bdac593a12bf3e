package limiter_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"weir/internal/limiter"
	"weir/internal/memstore"
	"weir/pkg/bucket"
)

const (
	start  = int64(1_800_000_000_000_000_000)
	second = int64(time.Second)
)

func mustLimit(t testing.TB, count int64, period time.Duration, burst int64) bucket.Limit {
	t.Helper()
	l, err := bucket.NewLimit(bucket.Rate{Count: count, Period: period}, burst)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func check(name string, l bucket.Limit, cost int64) limiter.Check {
	return limiter.Check{Name: name, Key: name + "|acme", Limit: l, Cost: cost}
}

// counting counts the store's calls.
type counting struct {
	limiter.Store
	charges, rows atomic.Int64
}

func (c *counting) Charge(ctx context.Context, key string, ch bucket.Charge) (bucket.Outcome, error) {
	c.charges.Add(1)
	return c.Store.Charge(ctx, key, ch)
}

func (c *counting) Rows(ctx context.Context, key string) ([]bucket.Row, error) {
	c.rows.Add(1)
	return c.Store.Rows(ctx, key)
}

func TestBurstThenExactWait(t *testing.T) {
	store := &counting{Store: memstore.New("r")}
	l := limiter.New(store, limiter.Options{Timeout: time.Minute})
	c := []limiter.Check{check("api", mustLimit(t, 10, time.Second, 20), 1)}
	ctx := context.Background()

	for i := range 20 {
		d := l.Decide(ctx, start, c)
		if !d.Allowed || d.Results[0].Remaining != int64(19-i) {
			t.Fatalf("request %d: %+v, want allowed with %d left", i, d, 19-i)
		}
	}
	d := l.Decide(ctx, start, c)
	r := d.Results[d.Tightest]
	if d.Allowed || r.Wait != 100*time.Millisecond || r.Remaining != 0 || r.Full != 2*time.Second {
		t.Fatalf("request 21: %+v, want refused for 100ms, full in 2s", d)
	}
	before := store.charges.Load()
	for range 1000 {
		if d := l.Decide(ctx, start+int64(r.Wait)-1, c); d.Allowed {
			t.Fatal("allowed a nanosecond before the wait was over")
		}
	}
	if n := store.charges.Load() - before; n != 0 {
		t.Errorf("%d store calls for 1000 refusals, want none", n)
	}
	if d := l.Decide(ctx, start+int64(r.Wait), c); !d.Allowed {
		t.Errorf("refused after exactly the wait: %+v", d)
	}
}

func TestARefusalChargesNoLimit(t *testing.T) {
	l := limiter.New(memstore.New("r"), limiter.Options{Timeout: time.Minute})
	api := check("api", mustLimit(t, 100, time.Second, 100), 1)
	follow := check("follow", mustLimit(t, 2, time.Minute, 2), 1)
	ctx := context.Background()

	allowed := 0
	for i := range 10 {
		d := l.Decide(ctx, start, []limiter.Check{api, follow})
		if d.Allowed {
			allowed++
		} else if got := d.Results[d.Tightest].Name; got != "follow" {
			t.Errorf("request %d refused by %q, want follow", i, got)
		}
	}
	if allowed != 2 {
		t.Errorf("allowed %d, want 2", allowed)
	}
	rest := 0
	for range 200 {
		if l.Decide(ctx, start, []limiter.Check{api}).Allowed {
			rest++
		}
	}
	if rest != 98 {
		t.Errorf("%d more requests passed limit api, want 98: the refused ones were charged", rest)
	}
}

func TestDefinedCorners(t *testing.T) {
	zero := mustLimit(t, 0, 0, 0)
	ten := mustLimit(t, 10, time.Second, 10)
	for _, tc := range []struct {
		name    string
		check   limiter.Check
		allowed bool
		wait    time.Duration
	}{
		{"zero rate", check("zero", zero, 1), false, bucket.Never},
		{"zero rate, cost 0", check("zero0", zero, 0), false, bucket.Never},
		{"unlimited", check("inf", bucket.Unlimited(), 1), true, 0},
		{"cost 0", check("free", ten, 0), true, 0},
		{"cost above the burst", check("big", ten, 11), false, bucket.Never},
		{"cost of the whole burst", check("all", ten, 10), true, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			store := &counting{Store: memstore.New("r")}
			d := limiter.New(store, limiter.Options{Timeout: time.Minute}).Decide(context.Background(), start, []limiter.Check{tc.check})
			if r := d.Results[0]; d.Allowed != tc.allowed || r.Wait != tc.wait {
				t.Errorf("got %+v, want allowed=%v wait=%v", r, tc.allowed, tc.wait)
			}
			if n := store.charges.Load(); n != 0 && tc.check.Cost != 10 {
				t.Errorf("%d store calls, want none", n)
			}
		})
	}
	if d := limiter.New(memstore.New("r"), limiter.Options{Timeout: time.Minute}).Decide(context.Background(), start, nil); !d.Allowed || d.Tightest != -1 {
		t.Errorf("no limits: %+v, want allowed", d)
	}
}

// The store's silence is not a refusal.
func TestStoreGone(t *testing.T) {
	store := memstore.New("r")
	store.Fault = func(context.Context, string) error { return limiter.ErrUnavailable }
	d := limiter.New(store, limiter.Options{Timeout: time.Minute}).Decide(context.Background(), start,
		[]limiter.Check{check("api", mustLimit(t, 10, time.Second, 10), 1)})
	if r := d.Results[0]; !d.Allowed || !r.Unknown || r.Remaining != -1 {
		t.Errorf("got %+v, want allowed, unknown, -1 left", r)
	}
}

// A raised limit is used at once; one process must not refuse by the old one.
func TestNewLimitForgetsRefusals(t *testing.T) {
	l := limiter.New(memstore.New("r"), limiter.Options{Timeout: time.Minute})
	ctx := context.Background()
	c := check("api", mustLimit(t, 1, time.Minute, 1), 1)
	l.Decide(ctx, start, []limiter.Check{c})
	if l.Decide(ctx, start, []limiter.Check{c}).Allowed {
		t.Fatal("second request allowed by 1/min")
	}
	c.Limit, c.Ver = mustLimit(t, 100, time.Second, 6100), 2
	// An empty bucket is still empty; but a token comes in 10 ms, not in a minute.
	if d := l.Decide(ctx, start+10*int64(time.Millisecond), []limiter.Check{c}); !d.Allowed {
		t.Errorf("refused by the old limit: %+v", d)
	}
}

// 64 clients of one limiter and a cold bucket: exactly the burst passes, and the
// clients share store calls.
func TestConcurrentClientsShareCalls(t *testing.T) {
	slow := memstore.New("r")
	slow.Fault = func(context.Context, string) error { time.Sleep(time.Millisecond); return nil }
	store := &counting{Store: slow}
	l := limiter.New(store, limiter.Options{Timeout: time.Minute})
	c := []limiter.Check{check("api", mustLimit(t, 1, time.Hour, 100), 1)}
	var allowed, unknown atomic.Int64
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for range 10 {
				d := l.Decide(context.Background(), start, c)
				if d.Allowed {
					allowed.Add(1)
				}
				if d.Results[0].Unknown {
					unknown.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if allowed.Load() != 100 || unknown.Load() != 0 {
		t.Errorf("%d allowed, %d unknown; want 100, 0", allowed.Load(), unknown.Load())
	}
	if n := store.charges.Load(); n > 60 {
		t.Errorf("%d store calls for 640 requests: nothing was shared", n)
	}
}

// Several processes on one bucket never admit more than the burst between them.
func TestManyProcesses(t *testing.T) {
	store := memstore.New("r")
	c := []limiter.Check{check("api", mustLimit(t, 1, time.Hour, 100), 1)}
	var allowed atomic.Int64
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			l := limiter.New(store, limiter.Options{Timeout: time.Minute})
			for range 20 {
				if l.Decide(context.Background(), start, c).Allowed {
					allowed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if allowed.Load() != 100 {
		t.Errorf("%d allowed, want 100", allowed.Load())
	}
}

func TestDeadline(t *testing.T) {
	store := memstore.New("r")
	store.Fault = func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() }
	l := limiter.New(store, limiter.Options{Timeout: time.Millisecond})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r := l.Decide(ctx, start, []limiter.Check{check("api", mustLimit(t, 1, time.Second, 1), 1)}).Results[0]; !r.Unknown {
		t.Errorf("cancelled: %+v, want unknown", r)
	}
	if r := l.Decide(context.Background(), start, []limiter.Check{check("api", mustLimit(t, 1, time.Second, 1), 1)}).Results[0]; !r.Unknown {
		t.Errorf("timed out: %+v, want unknown", r)
	}
}

func TestTightest(t *testing.T) {
	l := limiter.New(memstore.New("r"), limiter.Options{Timeout: time.Minute})
	d := l.Decide(context.Background(), start, []limiter.Check{
		check("a", mustLimit(t, 100, time.Second, 100), 1),
		check("b", mustLimit(t, 5, time.Second, 5), 1),
		check("c", mustLimit(t, 50, time.Second, 50), 1),
	})
	if got := d.Results[d.Tightest].Name; !d.Allowed || got != "b" {
		t.Errorf("tightest is %q (allowed %v), want b", got, d.Allowed)
	}
}
