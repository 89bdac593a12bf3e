package limiter_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"weir/internal/limiter"
	"weir/internal/memstore"
)

const ms = int64(time.Millisecond)

// drive sends a request to limiters in turn every gap from one time to another
// and returns how many were admitted.
func drive(ls []*limiter.Limiter, from, to, gap int64, c limiter.Check) int {
	n, checks, ctx := 0, []limiter.Check{c}, context.Background()
	for now, i := from, 0; now < to; now, i = now+gap, i+1 {
		if ls[i%len(ls)].Decide(ctx, now, checks).Allowed {
			n++
		}
	}
	return n
}

func processes(store limiter.Store, n int) []*limiter.Limiter {
	var ls []*limiter.Limiter
	for i := range n { // each with a jitter of its own, the same in every run
		rng := rand.New(rand.NewPCG(uint64(i), 1))
		ls = append(ls, limiter.New(store, limiter.Options{Timeout: time.Minute, Rand: rng.Float64}))
	}
	return ls
}

// Below the limit a steady process asks the store for about one request in
// fifty, and everything is admitted.
func TestLeaseServesFromMemory(t *testing.T) {
	store := &counting{Store: memstore.New("r")}
	c := check("api", mustLimit(t, 1000, time.Second, 1000), 1)
	const requests = 5000
	n := drive(processes(store, 1), start, start+10*second, 2*ms, c)
	if n != requests {
		t.Errorf("%d of %d admitted at half the limit", n, requests)
	}
	if calls := store.charges.Load(); calls > requests/50 {
		t.Errorf("%d calls for %d requests", calls, requests)
	}
}

// A lease is prepaid: the row holds every token that was admitted, at all times,
// whatever the processes do.
func TestLeaseIsPrepaid(t *testing.T) {
	store := memstore.New("r")
	l := mustLimit(t, 200, time.Second, 200)
	c := check("api", l, 1)
	ls := processes(store, 7)
	admitted := 0
	for step := range int64(200) {
		from := start + step*100*ms
		admitted += drive(ls, from, from+100*ms, ms/2, c)
		row, _ := store.Peek(c.Key)
		if row.Spent < int64(admitted) {
			t.Fatalf("after %v: %d admitted, %d charged", time.Duration(step*100*ms), admitted, row.Spent)
		}
	}
	if most := l.Burst() + l.Tokens(20*second); int64(admitted) > most || int64(admitted) < most*98/100 {
		t.Errorf("%d admitted in 20 s at ten times the limit, want 98 to 100 %% of %d", admitted, most)
	}
}

// What a lease holds is gone when it expires: a process that pauses does not
// come back with old tokens.
func TestLeaseExpires(t *testing.T) {
	store := memstore.New("r")
	c := check("api", mustLimit(t, 100, time.Second, 100), 1)
	l := processes(store, 1)
	drive(l, start, start+2*second, 20*ms, c) // a lease is in hand now
	charged, _ := store.Peek(c.Key)
	drive(l, start+3600*second, start+3600*second+1, 1, c)
	row, _ := store.Peek(c.Key)
	if row.Spent == charged.Spent {
		t.Error("an hour later a request was served from the lease")
	}
}

// A bucket that refills slowly is not stranded in leases of processes that go
// quiet.
func TestSlowBucketsAreNotStranded(t *testing.T) {
	store := memstore.New("r")
	l := mustLimit(t, 200, time.Hour, 200)
	c := check("follow", l, 1)
	n := 0
	for range 20 { // cold processes, a few requests each
		n += drive(processes(store, 1), start, start+5*ms, ms, c)
	}
	row, _ := store.Peek(c.Key)
	if stranded := row.Spent - int64(n); stranded > 10 {
		t.Errorf("%d of 200 tokens stranded in 20 processes that served %d", stranded, n)
	}
}

// In a flood the store is asked less than once in 300 refusals, and
// what refills is still admitted.
func TestFloodCostsNothing(t *testing.T) {
	store := &counting{Store: memstore.New("r")}
	l := mustLimit(t, 100, time.Second, 100)
	n := drive(processes(store, 4), start, start+30*second, ms/10, check("api", l, 1))
	const requests = 300_000
	if most := l.Burst() + l.Tokens(30*second); int64(n) > most || int64(n) < most*98/100 {
		t.Errorf("%d admitted, want 98 to 100 %% of %d", n, most)
	}
	if calls := store.charges.Load(); calls > requests/300 {
		t.Errorf("%d calls for %d requests, of which %d were refused", calls, requests, requests-n)
	}
}

// Remaining counts what the process has in hand: one process counts down to
// zero, one by one.
func TestRemainingIncludesTheLease(t *testing.T) {
	l := processes(memstore.New("r"), 1)[0]
	c := []limiter.Check{check("api", mustLimit(t, 1, time.Second, 100), 1)}
	for want := int64(99); want >= 0; want-- {
		d := l.Decide(context.Background(), start, c)
		if !d.Allowed || d.Results[0].Remaining != want {
			t.Fatalf("%+v, want allowed with %d left", d.Results[0], want)
		}
	}
}

// Two Regions that drain one bucket stay close to it, with replication at once.
func TestLeasesAcrossRegions(t *testing.T) {
	l := mustLimit(t, 1000, time.Second, 1000)
	ls := regionsOf(memstore.NewTable(), "a", "b")
	n := drive(ls, start, start+20*second, ms/3, check("api", l, 1))
	if most := l.Burst() + l.Tokens(20*second); int64(n) > most*102/100 || int64(n) < most*97/100 {
		t.Errorf("%d admitted by two Regions, one bucket admits %d", n, most)
	}
}
