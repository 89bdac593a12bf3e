package limiter_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"weir/internal/limiter"
	"weir/internal/memstore"
	"weir/pkg/bucket"
)

// A process that holds an old plan learns of the new one from the row: the request
// that meets it is decided by the new limit, with one more call, and so are those
// that follow.
func TestOldPlanFollowsTheRow(t *testing.T) {
	for name, c := range map[string]limiter.Consistency{"global": limiter.Global, "regional": limiter.Regional, "strict": limiter.Strict} {
		t.Run(name, func(t *testing.T) {
			store := memstore.New("r")
			options := limiter.Options{Timeout: time.Minute, NoLease: true}
			if c == limiter.Strict {
				options.Strict = store
			}
			others := memstore.New("r") // not the strict one
			if c != limiter.Strict {
				others = store
			}
			knows, old := limiter.New(others, options), limiter.New(others, options)
			plans := versions(bucket.Additive, mustLimit(t, 10, time.Second, 10), mustLimit(t, 100, time.Second, 100))
			plans[0].Consistency, plans[1].Consistency = c, c
			ctx := context.Background()
			for range 11 {
				old.Decide(ctx, start, plans[:1]) // refused in the end, which it remembers
			}
			if r := knows.Decide(ctx, start, plans[1:]).Results[0]; !r.Allowed || r.Remaining != 89 {
				t.Fatalf("%+v, want allowed and 89 left", r)
			}
			now := start + 100*ms // the old limit's wait is over
			r := old.Decide(ctx, now, plans[:1]).Results[0]
			if !r.Allowed || r.Calls != 2 || r.Ver != plans[1].Ver || r.Limit != plans[1].Limit || r.Remaining != 98 {
				t.Errorf("%+v, want allowed by version %d after two calls, 98 left", r, plans[1].Ver)
			}
			r = old.Decide(ctx, now, plans[:1]).Results[0]
			if !r.Allowed || r.Calls != 1 || r.Ver != plans[1].Ver || r.Remaining != 97 {
				t.Errorf("%+v, want allowed by version %d after one call, 97 left", r, plans[1].Ver)
			}
			row, _ := store.Peek(plans[0].Key)
			if row.Ver != plans[1].Ver || row.Limit != plans[1].Limit || row.Spent != 13 {
				t.Errorf("%+v, want 13 spent and the new version", row)
			}
		})
	}
}

// What the row says may be that everything or nothing is admitted.
func TestOldPlanFollowsTheRowToCorners(t *testing.T) {
	for _, tt := range []struct {
		name    string
		to      bucket.Limit
		cost    int64
		allowed bool
	}{
		{"unlimited", bucket.Unlimited(), 1, true},
		{"nothing", mustLimit(t, 0, 0, 5), 1, false},
		{"less than the cost", mustLimit(t, 100, time.Second, 5), 6, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, store := context.Background(), memstore.New("r")
			plans := versions(bucket.Proportional, mustLimit(t, 10, time.Second, 10), tt.to)
			plans[0].Cost = tt.cost
			l := limiter.New(store, limiter.Options{Timeout: time.Minute, NoLease: true})
			l.Decide(ctx, start, plans[:1])
			if _, err := store.Rescale(ctx, plans[0].Key, bucket.Rescale{Limit: tt.to, Ver: plans[1].Ver, Now: start}); err != nil {
				t.Fatal(err)
			}
			for i := range 2 {
				r := l.Decide(ctx, start+second, plans[:1]).Results[0]
				if r.Calls != 1-i {
					t.Errorf("request %d: %d calls", i, r.Calls)
				}
				if r.Allowed != tt.allowed || r.Limit != tt.to || r.Ver != plans[1].Ver || r.Unknown {
					t.Errorf("%+v, want allowed=%v by the new limit", r, tt.allowed)
				}
				if !tt.allowed && r.Wait != bucket.Never {
					t.Errorf("wait %v, want never", r.Wait)
				}
			}
		})
	}
}

// The row says what limit is in force, but not how other Regions' rows are to be
// brought to it: that comes with the check.
func TestCheckCompletesWhatTheRowSays(t *testing.T) {
	ctx, table := context.Background(), memstore.NewTable()
	plans := versions(bucket.Reset, mustLimit(t, 1, time.Hour, 10), mustLimit(t, 1, time.Hour, 20))
	plans[1].Since = start + second
	ls := regionsOf(table, "a", "b")
	for range 10 {
		ls[0].Decide(ctx, start, plans[:1]) // a is idle from now on
	}
	ls[1].Decide(ctx, start, plans[:1])
	b := table.Region("b")
	_, err := b.Charge(ctx, plans[0].Key, bucket.Charge{Limit: plans[1].Limit, Ver: plans[1].Ver, Now: start, Tokens: 1, Inc: 1})
	if err != nil {
		t.Fatal(err)
	}
	now := start + 2*second
	if r := ls[1].Decide(ctx, now, plans[:1]).Results[0]; r.Ver != plans[1].Ver || r.Limit != plans[1].Limit {
		t.Fatalf("%+v, want the row followed", r)
	}
	n := 0
	for i := range int64(30) {
		if ls[1].Decide(ctx, now+i*100*ms, plans[1:]).Allowed {
			n++
		}
	}
	if n < 18 {
		t.Errorf("%d admitted of a bucket of 20 that was reset", n)
	}
}

// Rows that are read tell of a new version too, before a charge is made by the old.
func TestRowsThatAreReadAreFollowed(t *testing.T) {
	ctx, table := context.Background(), memstore.NewTable()
	plans := versions(bucket.Proportional, mustLimit(t, 10, time.Second, 10), mustLimit(t, 100, time.Second, 100))
	regionsOf(table, "a", "b")[0].Decide(ctx, start, plans[1:])
	store := &counting{Store: table.Region("a")}
	cold := limiter.New(store, limiter.Options{Region: "a", Regions: 2, Serial: true})
	r := cold.Decide(ctx, start+second, plans[:1]).Results[0]
	if !r.Allowed || r.Limit != plans[1].Limit || store.charges.Load() != 1 {
		t.Errorf("%+v after %d charges, want one by the new limit", r, store.charges.Load())
	}
}

// Whatever the reconciler does to a row, an authorizer that does not know the plan
// yet admits by it; and one that does charges the row no second time.
func TestRescaledRowIsNotRescaledAgain(t *testing.T) {
	ctx, store := context.Background(), memstore.New("r")
	plans := versions(bucket.Proportional, mustLimit(t, 100, time.Second, 100), mustLimit(t, 10, time.Second, 10))
	plans[1].Since = start
	l := limiter.New(store, limiter.Options{Timeout: time.Minute, NoLease: true})
	for range 50 {
		l.Decide(ctx, start, plans[:1])
	}
	if _, err := store.Rescale(ctx, plans[0].Key, bucket.Rescale{Limit: plans[1].Limit, Ver: plans[1].Ver, Since: start, Now: start}); err != nil {
		t.Fatal(err)
	}
	admitted := 0
	for i := range 10 {
		if l.Decide(ctx, start, plans[1-i%2:2-i%2]).Allowed {
			admitted++
		}
	}
	if admitted != 5 {
		t.Errorf("%d admitted of a bucket of 10 that was half used, want 5", admitted)
	}
}

// Another Region's newer row says that the plan should be read again. How this
// Region's row is to be brought to it is not known here, so it is not followed.
func TestOtherRegionsVersionIsReported(t *testing.T) {
	ctx, table := context.Background(), memstore.NewTable()
	ls := regionsOf(table, "a", "b")
	plans := versions(bucket.Additive, mustLimit(t, 10, time.Second, 10), mustLimit(t, 100, time.Second, 100))
	plans[1].Since = start
	ls[0].Decide(ctx, start, plans[:1])
	ls[1].Decide(ctx, start, plans[1:])
	now := start + second/2 // rows are read again
	r := ls[0].Decide(ctx, now, plans[:1]).Results[0]
	if r = ls[0].Decide(ctx, now+second, plans[:1]).Results[0]; r.Ver != plans[1].Ver || r.Limit != plans[0].Limit {
		t.Errorf("%+v, want the new version reported, decided by the old limit", r)
	}
	if row, _ := table.Region("a").Peek(plans[0].Key); row.Ver != plans[0].Ver {
		t.Errorf("row of version %d, want %d: nobody here knows how to bring it to the new one", row.Ver, plans[0].Ver)
	}
	r = ls[0].Decide(ctx, now+second, plans[1:]).Results[0]
	if r.Ver != plans[1].Ver || r.Limit != plans[1].Limit {
		t.Errorf("%+v, want decided by the new limit", r)
	}
}

// A raise after exhaustion is felt in a Region although the bucket was exhausted in
// another, whose row nobody has brought to the new limit.
func TestRaiseIsFeltBesideAnIdleRegion(t *testing.T) {
	ctx, table := context.Background(), memstore.NewTable()
	ls := regionsOf(table, "a", "b")
	plans := versions(bucket.Proportional, mustLimit(t, 1, time.Hour, 10), mustLimit(t, 100, time.Second, 100))
	for range 11 {
		ls[0].Decide(ctx, start, plans[:1])
	}
	now := start + 10*second
	if r := ls[1].Decide(ctx, now, plans[:1]).Results[0]; r.Allowed {
		t.Fatal("admitted, although the bucket is exhausted")
	}
	plans[1].Since = now
	n := 0
	for i := range int64(300) {
		if ls[1].Decide(ctx, now+i*10*ms, plans[1:]).Allowed {
			n++
		}
	}
	if n < 190 { // the first second goes by as in a bucket that was always of 100/s
		t.Errorf("%d of 300 admitted in the 3 s after a raise to 100/s", n)
	}
}

// Goroutines with old and new plans at the same time, on two processes: the newest
// that a process has seen decides, nothing is reset, and what is admitted is what
// the limits in force admit, and leases.
func TestOldAndNewPlansTogether(t *testing.T) {
	for _, tt := range []struct {
		name          string
		before, after bucket.Limit
		carry         bucket.Carry
		lowered       bool
	}{
		{"raise", mustLimit(t, 1, time.Hour, 1000), mustLimit(t, 1, time.Hour, 3000), bucket.Additive, false},
		{"cut", mustLimit(t, 1, time.Hour, 3000), mustLimit(t, 1, time.Hour, 1000), bucket.Proportional, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := memstore.New("r")
			plans := versions(tt.carry, tt.before, tt.after)
			const processes, goroutines = 2, 8
			var ls [processes]*limiter.Limiter
			var newest [processes]atomic.Int64 // version that a process has answered with
			for i := range ls {
				ls[i] = limiter.New(store, limiter.Options{Timeout: time.Minute})
			}
			var now, admitted atomic.Int64
			now.Store(start)
			var wg sync.WaitGroup
			phase := func(newShare int, each int) {
				for g := range processes * goroutines {
					wg.Go(func() {
						rng := rand.New(rand.NewPCG(uint64(g), uint64(newShare)))
						l, seen := ls[g%processes], &newest[g%processes]
						for range each {
							at := now.Add(rng.Int64N(20_000))
							known := seen.Load()
							p := 0
							if rng.IntN(100) < newShare {
								p = 1
							}
							d := l.Decide(context.Background(), at, plans[p:p+1])
							r := &d.Results[0]
							switch {
							case r.Ver < known || r.Ver < plans[p].Ver:
								t.Errorf("decided by version %d, %d was known, the check's is %d", r.Ver, known, plans[p].Ver)
							case r.Ver == plans[1].Ver && r.Limit != tt.after, r.Ver == plans[0].Ver && r.Limit != tt.before:
								t.Errorf("version %d quotes %+v", r.Ver, r.Limit.Rate())
							case r.Unknown:
								t.Errorf("%+v", r)
							}
							for known = seen.Load(); r.Ver > known && !seen.CompareAndSwap(known, r.Ver); known = seen.Load() {
							}
							if d.Allowed {
								admitted.Add(1)
							}
						}
					})
				}
				wg.Wait()
			}
			phase(0, 30) // 480 requests by the old plan
			before, first := admitted.Load(), int64(0)
			row, _ := store.Peek(plans[0].Key)
			held := row.Spent - before
			if before != 480 {
				t.Fatalf("%d of 480 admitted", before)
			}
			plans[1].Since = now.Load()
			for _, l := range ls { // from here on each process knows
				if l.Decide(context.Background(), now.Load(), plans[1:]).Allowed {
					admitted.Add(1)
				}
			}
			phase(50, 400)
			first = admitted.Load() - before

			row, _ = store.Peek(plans[0].Key)
			if row.Ver != plans[1].Ver || row.Limit != tt.after {
				t.Errorf("the row is of version %d, %+v", row.Ver, row.Limit.Rate())
			}
			// Of the 480 a part was leased and came to be spent only after the change.
			room := int64(2520) - held
			if tt.lowered {
				room = 1000 - (480+held)*1000/3000
			}
			if first < room-10 || first > room+held+1 {
				t.Errorf("%d admitted after the change, want %d and up to %d in leases", first, room, held)
			}
			if total := admitted.Load(); row.Spent < total {
				t.Errorf("%d admitted, %d charged", total, row.Spent)
			}
		})
	}
}
