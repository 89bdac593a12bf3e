package limiter_test

import (
	"context"
	"testing"
	"time"

	"weir/internal/limiter"
	"weir/internal/memstore"
	"weir/pkg/bucket"
)

// regionsOf returns a limiter in each of n Regions on one table: replication
// without lag.
func regionsOf(table *memstore.Table, names ...string) []*limiter.Limiter {
	var out []*limiter.Limiter
	for _, name := range names {
		out = append(out, limiter.New(table.Region(name), limiter.Options{Region: name, Regions: len(names), Serial: true}))
	}
	return out
}

// A Region that cannot hear the others admits its share of a limit that asks for
// it, and the whole of one that does not.
func TestShareWhileNobodyIsHeard(t *testing.T) {
	ctx := context.Background()
	serve := check("serve", mustLimit(t, 30, time.Second, 30), 1)
	share := check("share", mustLimit(t, 30, time.Second, 30), 1)
	share.Share = true

	admitted := func(l *limiter.Limiter, now int64, c limiter.Check) int {
		n := 0
		for range 100 {
			if l.Decide(ctx, now, []limiter.Check{c}).Allowed {
				n++
			}
		}
		return n
	}
	table := memstore.NewTable()
	all := regionsOf(table, "a", "b", "c")
	for _, l := range all { // everybody says that they are alive
		admitted(l, start, share)
	}
	now := start + second
	for _, l := range all[1:] {
		l.Decide(ctx, now, []limiter.Check{share})
	}
	if n := admitted(all[0], now+100*int64(time.Millisecond), share); n < 25 {
		t.Errorf("%d admitted while all are heard, want what is left of 30", n)
	}

	now += int64(limiter.DefaultGrace) + 2*second // b and c have fallen silent
	if n := admitted(all[0], now, share); n != 10 {
		t.Errorf("%d admitted by one of three Regions, want its share of 30: 10", n)
	}
	if n := admitted(all[0], now, serve); n != 30 {
		t.Errorf("%d admitted by a limit that serves fully, want 30", n)
	}

	all[1].Decide(ctx, now+second, []limiter.Check{share}) // b is back
	now += 3 * second
	if n := admitted(all[0], now, share); n < 18 || n > 20 {
		t.Errorf("%d admitted with two of three heard, want 20 or what b left of it", n)
	}
}

// A Region that is only idle, by its reconciler's word, is not missed; one whose
// last word came from a request is.
func TestIdleRegionIsNotMissed(t *testing.T) {
	ctx := context.Background()
	c := check("share", mustLimit(t, 30, time.Second, 30), 1)
	c.Share = true
	table := memstore.NewTable()
	all := regionsOf(table, "a", "b")
	all[1].Decide(ctx, start, []limiter.Check{c}) // b says that it is alive
	idle := func(now int64) {
		t.Helper()
		out, err := table.Region("b").Charge(ctx, limiter.IdleKey, bucket.Charge{Limit: c.Limit, Now: now, Tokens: 1, Inc: c.Limit.Time(1)})
		if err != nil || out.Status != bucket.Charged {
			t.Fatal(out, err)
		}
	}
	idle(start - second) // before that, it was idle
	for _, tt := range []struct {
		at   time.Duration
		idle bool // b's reconciler says so then
		want int
	}{
		{at: 4 * time.Second, want: 30},
		{at: 10 * time.Second, want: 15}, // it was busy and is silent: cut off
		{at: 60 * time.Second, idle: true, want: 30},
		{at: 149 * time.Second, want: 30},
		{at: 160 * time.Second, want: 15},
	} {
		now := start + int64(tt.at)
		if tt.idle {
			idle(now)
		}
		n := 0
		for range 100 {
			if all[0].Decide(ctx, now, []limiter.Check{c}).Allowed {
				n++
			}
		}
		if n != tt.want {
			t.Errorf("after %v: %d admitted, want %d", tt.at, n, tt.want)
		}
	}
}

// Nor is a Region counted twice, as busy and as idle.
func TestIdleRegionCountsOnce(t *testing.T) {
	ctx := context.Background()
	c := check("share", mustLimit(t, 30, time.Second, 30), 1)
	c.Share = true
	table := memstore.NewTable()
	all := regionsOf(table, "a", "b", "c")
	now := start + 10*second
	all[1].Decide(ctx, now, []limiter.Check{c})
	out, err := table.Region("b").Charge(ctx, limiter.IdleKey, bucket.Charge{Limit: c.Limit, Now: now + 1, Tokens: 1, Inc: c.Limit.Time(1)})
	if err != nil || out.Status != bucket.Charged {
		t.Fatal(out, err)
	}
	n := 0
	for range 100 {
		if all[0].Decide(ctx, now+second, []limiter.Check{c}).Allowed {
			n++
		}
	}
	if n < 19 || n > 20 {
		t.Errorf("%d admitted with two of three Regions heard, want 20 or what b left of it", n)
	}
}

// The share is one of the limit that is in force.
func TestShareAcrossAChange(t *testing.T) {
	plans := versions(bucket.Proportional, mustLimit(t, 30, time.Second, 30), mustLimit(t, 60, time.Minute, 60))
	plans[0].Share, plans[1].Share = true, true
	l := regionsOf(memstore.NewTable(), "a", "b", "c")[:1] // b and c are not heard
	if n := drive(l, start, start+100, 1, plans[0]); n != 10 {
		t.Fatalf("%d admitted, want 10 of 30", n)
	}
	now := start + 2*second
	plans[1].Since = now
	if n := drive(l, now, now+100, 1, plans[1]); n != 20 {
		t.Errorf("%d admitted, want 20 of 60", n)
	}
	plans = versions(bucket.Additive, plans[1].Limit, plans[1].Limit, mustLimit(t, 60, time.Minute, 90))
	plans[2].Share, plans[2].Since = true, now+second
	if n := drive(l, now+second, now+second+100, 1, plans[2]); n != 10 {
		t.Errorf("%d admitted of 30 more, want 10", n)
	}
}

// A limit that does not depend on presence costs nothing for it.
func TestPresenceIsNotReadForNothing(t *testing.T) {
	store := &counting{Store: memstore.New("a")}
	l := limiter.New(store, limiter.Options{Region: "a", Regions: 1, Serial: true})
	c := check("api", mustLimit(t, 30, time.Second, 30), 1)
	c.Share = true
	l.Decide(context.Background(), start, []limiter.Check{c})
	if store.rows.Load() != 0 || store.charges.Load() != 1 {
		t.Errorf("%d reads and %d charges in a single Region, want 0 and 1", store.rows.Load(), store.charges.Load())
	}
}
