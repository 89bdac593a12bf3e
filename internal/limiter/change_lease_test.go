package limiter_test

import (
	"context"
	"testing"
	"time"

	"weir/internal/limiter"
	"weir/internal/memstore"
	"weir/pkg/bucket"
)

// A lease is paid for and outlives the limit that it was charged under, but for no
// more than the new burst and not for long.
func TestLeaseOutlivesACut(t *testing.T) {
	for _, tt := range []struct {
		name  string
		after bucket.Limit
		most  int // from the lease, and from the bucket
	}{
		{"smaller than the lease", mustLimit(t, 5, time.Minute, 5), 5 + 5},
		{"larger than the lease", mustLimit(t, 100, time.Minute, 100), 83 + 100},
	} {
		mem := memstore.New("r")
		ls := processes(mem, 1)
		plans := versions(bucket.Proportional, mustLimit(t, 1000, time.Second, 1000), tt.after)
		now := start + second
		admitted := drive(ls, start, now, ms, plans[0])
		row, _ := mem.Peek(plans[0].Key)
		held := int(row.Spent) - admitted
		if held < 10 {
			t.Fatalf("%d tokens in hand, too few for the test", held)
		}
		plans[1].Since = now
		n := drive(ls, now, now+300, 1, plans[1])
		if n > tt.most || n < min(held, int(tt.after.Burst())) {
			t.Errorf("%s: %d admitted at once with %d in hand, want at most %d", tt.name, n, held, tt.most)
		}
		if r := ls[0].Decide(context.Background(), now+300, plans[1:]).Results[0]; r.Allowed || r.Wait > time.Minute || r.Wait < 500*time.Millisecond {
			t.Errorf("%s: %+v after that, want refused by the new rate", tt.name, r)
		}
	}
	// Unspent, it is gone after 5 s.
	mem := memstore.New("r")
	ls := processes(mem, 1)
	plans := versions(bucket.Proportional, mustLimit(t, 1000, time.Second, 1000), mustLimit(t, 1, time.Hour, 5))
	now := start + second
	drive(ls, start, now, ms, plans[0])
	plans[1].Since = now
	drive(ls, now, now+1, 1, plans[1]) // the change is known
	before, _ := mem.Peek(plans[0].Key)
	now += 5*second + 1
	n := drive(ls, now, now+100, 1, plans[1])
	if n < 4 || n > 5 {
		t.Errorf("%d admitted 5 s later, want the new burst of 5, or what was left of it", n)
	}
	if after, _ := mem.Peek(plans[0].Key); after.Spent != before.Spent+int64(n) {
		t.Errorf("%d charged for %d", after.Spent-before.Spent, n)
	}
}

// What is left of an older lease is not given back: under the new limit it would be
// worth more than was paid.
func TestReleaseAfterAChange(t *testing.T) {
	mem := memstore.New("r")
	ls := processes(mem, 1)
	plans := versions(bucket.Proportional, mustLimit(t, 1000, time.Second, 1000), mustLimit(t, 100, time.Minute, 100))
	now := start + second
	drive(ls, start, now, ms, plans[0])
	plans[1].Since = now
	drive(ls, now, now+1, 1, plans[1])
	before, _ := mem.Peek(plans[0].Key)
	if n := ls[0].Release(context.Background(), now+1); n != 0 {
		t.Errorf("%d returned of a lease charged under the limit before", n)
	}
	if after, _ := mem.Peek(plans[0].Key); after.TAT != before.TAT || after.Spent != before.Spent {
		t.Errorf("row %+v, was %+v", after, before)
	}

	// What is charged under the new limit is given back again.
	now += 10 * second
	drive(ls, now, now+second, 10*ms, plans[1])
	before, _ = mem.Peek(plans[0].Key)
	held := ls[0].Stats(now + second).Tokens
	if n := ls[0].Release(context.Background(), now+second); n != held || n == 0 {
		t.Errorf("%d returned, %d in hand", n, held)
	}
	if after, _ := mem.Peek(plans[0].Key); after.TAT != before.TAT-plans[1].Limit.Time(held) {
		t.Errorf("row %+v, was %+v", after, before)
	}

	// Nor if only the row knows that the limit has changed.
	mem = memstore.New("r")
	ls = processes(mem, 1)
	drive(ls, start, now, ms, plans[0])
	if _, err := mem.Rescale(context.Background(), plans[0].Key, bucket.Rescale{Limit: plans[1].Limit, Ver: plans[1].Ver, Now: now}); err != nil {
		t.Fatal(err)
	}
	before, _ = mem.Peek(plans[0].Key)
	if n := ls[0].Release(context.Background(), now); n != 0 {
		t.Errorf("%d returned to a row of a newer version", n)
	}
	if after, _ := mem.Peek(plans[0].Key); after.TAT != before.TAT || after.Ver != plans[1].Ver {
		t.Errorf("row %+v, was %+v", after, before)
	}
}

// Tokens that held requests took from the future are owed, so many of them, by the
// new limit.
func TestHoldAcrossAChange(t *testing.T) {
	plans := versions(bucket.Proportional, mustLimit(t, 100, time.Second, 100), mustLimit(t, 10, time.Second, 10))
	for i := range plans {
		plans[i].Hold = 250 * time.Millisecond
	}
	var h holds
	store := memstore.New("r")
	l := limiter.New(store, limiter.Options{Timeout: time.Minute, NoLease: true, Sleep: h.sleep})
	n := 0
	for range 130 {
		if l.Decide(context.Background(), start, plans[:1]).Allowed {
			n++
		}
	}
	if n != 125 || h.all[24] != 250*time.Millisecond {
		t.Fatalf("%d admitted, held %v; want 100 and 25 of the next 250 ms", n, h.all)
	}
	// 25 owed are 2.5 s of the new rate: nothing can be held until 2.25 s from now.
	plans[1].Since = start
	for _, tt := range []struct {
		at   time.Duration
		held time.Duration
		wait time.Duration
	}{
		{at: 0, wait: 2600 * time.Millisecond},
		{at: 2349 * time.Millisecond, wait: 251 * time.Millisecond},
		{at: 2350 * time.Millisecond, held: 250 * time.Millisecond},
		{at: 2700 * time.Millisecond, held: 0},
	} {
		r := l.Decide(context.Background(), start+int64(tt.at), plans[1:]).Results[0]
		if r.Allowed != (tt.wait == 0) || r.Wait != tt.wait || r.Hold != tt.held {
			t.Errorf("at %v: %+v, want held for %v or refused for %v", tt.at, r, tt.held, tt.wait)
		}
	}
}

// After a flood a process does not chase single tokens. A raise ends that.
func TestRaiseIsFeltInAFlood(t *testing.T) {
	ls := processes(memstore.New("r"), 1)
	plans := versions(bucket.AsIs, mustLimit(t, 10, time.Second, 10), mustLimit(t, 1000, time.Second, 1000))
	now := start + 3*second
	drive(ls, start, now, ms, plans[0])
	plans[1].Since = now
	if n := drive(ls, now, now+20*ms, ms, plans[1]); n < 15 || n > 21 {
		t.Errorf("%d admitted in the 20 ms after a raise to 1000/s, want one each", n)
	}
}

// What a process says from memory is of the new limit too.
func TestMemoryAfterAChange(t *testing.T) {
	store := &counting{Store: memstore.New("r")}
	l := processes(store, 1)[0]
	plans := versions(bucket.Proportional, mustLimit(t, 100, time.Second, 100), mustLimit(t, 100, time.Minute, 100))
	ctx, now := context.Background(), start+ms
	used := int64(0)
	for ; used < 50 || l.Stats(now).Tokens < 2; used++ {
		l.Decide(ctx, now, plans[:1])
	}
	plans[1].Since = now
	calls := store.charges.Load()
	r := l.Decide(ctx, now, plans[1:]).Results[0]
	if !r.Allowed || store.charges.Load() != calls {
		t.Fatalf("%+v, want allowed from the lease", r)
	}
	full := time.Duration(plans[1].Limit.Time(used))
	if r.Full < full || r.Full > full+10*time.Second || r.Remaining != 99-used {
		t.Errorf("full in %v with %d left, want %v and the lease's time, and %d", r.Full, r.Remaining, full, 99-used)
	}
	free := plans[1]
	free.Cost = 0
	if r := l.Decide(ctx, now, []limiter.Check{free}).Results[0]; !r.Allowed || r.Limit != free.Limit || r.Remaining != 99-used {
		t.Errorf("cost 0: %+v", r)
	}

	// A version that changes nothing here forgets nothing.
	refused := versions(bucket.Reset, mustLimit(t, 1, time.Hour, 1), mustLimit(t, 1, time.Hour, 1))
	refused[1].Since = now
	refused[0].Key, refused[1].Key = "other|acme", "other|acme"
	for range 2 {
		l.Decide(ctx, now, refused[:1])
	}
	calls = store.charges.Load()
	for i := range 100 {
		if r := l.Decide(ctx, now+int64(i), refused[1:]).Results[0]; r.Allowed || r.Ver != refused[1].Ver {
			t.Errorf("%+v, want refused by the new version", r)
		}
	}
	if n := store.charges.Load() - calls; n != 0 {
		t.Errorf("%d calls for refusals that were remembered", n)
	}
}

// A limit that admits everything takes no tokens, and none are handed back.
func TestUnlimitedHandsNothingBack(t *testing.T) {
	mem := memstore.New("r")
	l := limiter.New(mem, limiter.Options{Timeout: time.Minute, NoLease: true})
	plans := versions(bucket.Proportional, mustLimit(t, 1, time.Hour, 10), bucket.Unlimited(), mustLimit(t, 1, time.Hour, 10))
	no := check("no", mustLimit(t, 0, 0, 0), 1)
	ctx := context.Background()
	l.Decide(ctx, start, plans[:1])
	for range 100 {
		l.Decide(ctx, start, []limiter.Check{plans[1], no})
	}
	if s := l.Stats(start); s.Tokens != 0 {
		t.Errorf("%d tokens in hand that nobody charged", s.Tokens)
	}
	free := plans[1]
	free.Cost = 0
	if r := l.Decide(ctx, start, []limiter.Check{free}).Results[0]; !r.Allowed || r.Remaining != bucket.Unlimited().Remaining(0, 0) {
		t.Errorf("cost 0: %+v, want everything left", r)
	}
	plans[2].Since = start
	if n := drive([]*limiter.Limiter{l}, start, start+100, 1, plans[2]); n != 9 {
		t.Errorf("%d admitted, want 9 of 10", n)
	}
}

// Should two limits have one version, the store's word for it is asked.
func TestOneVersionOfTwoLimits(t *testing.T) {
	l := limiter.New(memstore.New("r"), limiter.Options{Timeout: time.Minute, NoLease: true})
	plans := versions(bucket.Additive, mustLimit(t, 1, time.Hour, 10), mustLimit(t, 1, time.Hour, 20))
	plans[1].Ver = plans[0].Ver
	if n := drive([]*limiter.Limiter{l}, start, start+100, 1, plans[0]); n != 10 {
		t.Fatalf("%d admitted of 10", n)
	}
	plans[1].Since = start + 100
	if n := drive([]*limiter.Limiter{l}, start+100+second, start+200+second, 1, plans[1]); n != 10 {
		t.Errorf("%d admitted of 10 more", n)
	}
}

// A lease may hold tokens of the future too: they ripen at the new rate.
func TestUnripeLeaseAcrossAChange(t *testing.T) {
	plans := versions(bucket.Proportional, mustLimit(t, 1000, time.Second, 1000), mustLimit(t, 10, time.Second, 1000))
	for i := range plans {
		plans[i].Hold = 250 * time.Millisecond
	}
	var h holds
	store := memstore.New("r")
	l := limiter.New(store, limiter.Options{Timeout: time.Minute, Sleep: h.sleep, Rand: func() float64 { return 0 }})
	now := start
	for ; len(h.all) < 50; now += ms / 10 {
		l.Decide(context.Background(), now, plans[:1])
	}
	row, _ := store.Peek(plans[0].Key)
	owed := plans[0].Limit.Level(row.TAT, now) - 1000
	if owed < 20 {
		t.Fatalf("%d owed, too few for the test", owed)
	}
	plans[1].Since = now
	for at := now; at < now+2*second; at += ms {
		if r := l.Decide(context.Background(), at, plans[1:]).Results[0]; r.Allowed {
			if early := plans[1].Limit.Time(owed) - int64(r.Hold) - (at - now); early > 51*100*ms {
				t.Errorf("a token of the future admitted %v early", time.Duration(early))
			}
		}
	}
	ripe := 0
	for range 1000 {
		if r := l.Decide(context.Background(), now+2*second, plans[1:]).Results[0]; r.Allowed {
			ripe++
		}
	}
	if ripe > 23 {
		t.Errorf("%d admitted of what was owed, in 2 s at 10/s", ripe)
	}
}

// First tokens that were not charged yet are charged under the limit of then.
func TestDebtsAcrossAChange(t *testing.T) {
	store := memstore.New("r")
	plans := versions(bucket.Proportional, mustLimit(t, 1, time.Hour, 100), mustLimit(t, 1, time.Hour, 20))
	for i := range plans {
		plans[i].Initial = 5
	}
	l := []*limiter.Limiter{limiter.New(store, limiter.Options{Timeout: time.Minute, NoLease: true})}
	n := drive(l, start, start+5, 1, plans[0])
	plans[1].Since = start + 5
	n += drive(l, start+5, start+100, 1, plans[1])
	row, _ := store.Peek(plans[0].Key)
	if n != 20 || row.Spent != 20 || row.Ver != plans[1].Ver {
		t.Errorf("%d admitted, %d charged to version %d; want 20 of a burst of 20", n, row.Spent, row.Ver)
	}
}

// While the store cannot tell, the newest limit that is known counts.
func TestOfflineAcrossAChange(t *testing.T) {
	store := memstore.New("r")
	store.Fault = func(context.Context, string) error { return limiter.ErrUnavailable }
	plans := versions(bucket.Proportional, mustLimit(t, 1000, time.Hour, 1000), mustLimit(t, 200, time.Hour, 100))
	for i := range plans {
		plans[i].OnError = limiter.AdmitLocal
	}
	l := []*limiter.Limiter{limiter.New(store, limiter.Options{Processes: 10})}
	if n := drive(l, start, start+50, 1, plans[0]); n != 50 {
		t.Fatalf("%d of 50 admitted, want all of half of this process's part", n)
	}
	if n := drive(l, start+50, start+100, 1, plans[1]); n != 5 {
		t.Errorf("%d admitted after the cut, want the other half of a part of 10", n)
	}
	if n := drive(l, start+100, start+200, 1, plans[0]); n != 0 {
		t.Errorf("%d admitted by an older check", n)
	}
	plans = versions(bucket.Proportional, plans[0].Limit, plans[1].Limit, mustLimit(t, 0, 0, 0), bucket.Unlimited())
	plans[2].OnError, plans[3].OnError, plans[0].OnError = limiter.AdmitLocal, limiter.AdmitLocal, limiter.AdmitLocal
	for _, tt := range []struct{ plan, want int }{{2, 0}, {0, 0}, {3, 100}, {0, 100}} {
		if n := drive(l, start+300, start+400, 1, plans[tt.plan]); n != tt.want {
			t.Errorf("%d of 100 admitted of checks of version %d, want %d", n, plans[tt.plan].Ver, tt.want)
		}
	}
}

// Tenants of different plans that share a bucket are each decided by their own
// limit, and their taking turns neither buys writes nor wastes tokens.
func TestSharedBucket(t *testing.T) {
	store := &counting{Store: memstore.New("r")}
	l := limiter.New(store, limiter.Options{Timeout: time.Minute, Rand: func() float64 { return 0.5 }})
	big, small := check("ip", mustLimit(t, 1000, time.Second, 1000), 1), check("ip", mustLimit(t, 100, time.Second, 100), 1)
	ctx := context.Background()
	served := [2]int{}
	for i := range int64(20_000) {
		for k, c := range []limiter.Check{big, small} {
			d := l.Decide(ctx, start+i*ms/2, []limiter.Check{c})
			r := d.Results[0]
			if r.Limit != c.Limit || r.Ver != 0 {
				t.Fatalf("decided by %+v, version %d; want the check's own", r.Limit.Rate(), r.Ver)
			}
			if d.Allowed {
				served[k]++
			}
		}
	}
	// In time: a token of the small limit takes ten times as long.
	if sum := served[0] + 10*served[1]; sum > 11_000+100 || sum < 10_000 {
		t.Errorf("%d and %d served, worth %d tokens of 1000/s in 10 s", served[0], served[1], sum)
	}
	if n := store.charges.Load(); n > 1000 {
		t.Errorf("%d charges for %d requests", n, 40_000)
	}

	// What one says is not what the other did.
	now := start
	l = limiter.New(memstore.New("r"), limiter.Options{Timeout: time.Minute})
	for used := 0; used < 500 || l.Stats(now).Tokens < 20; used++ {
		l.Decide(ctx, now, []limiter.Check{big})
	}
	if r := l.Decide(ctx, now, []limiter.Check{small}).Results[0]; !r.FromMemory || r.Remaining > 50 {
		t.Errorf("%+v, want up to 50 of 100 left, from memory", r)
	}

	// A tenant without a limit does not make the refusals of others forgotten.
	store = &counting{Store: memstore.New("r")}
	l = limiter.New(store, limiter.Options{Timeout: time.Minute})
	free, slow := check("ip", bucket.Unlimited(), 1), check("ip", mustLimit(t, 1, time.Minute, 1), 1)
	for i := range int64(1000) {
		l.Decide(ctx, start+i*ms, []limiter.Check{slow})
		if r := l.Decide(ctx, start+i*ms, []limiter.Check{free}).Results[0]; !r.Allowed || !r.Limit.IsUnlimited() {
			t.Fatalf("%+v, want allowed without a limit", r)
		}
	}
	if n := store.charges.Load(); n > 3 {
		t.Errorf("%d charges for a second of refusals", n)
	}

	// Nor does one tenant's flood lock out another, whose limit has room.
	l = limiter.New(memstore.New("r"), limiter.Options{Timeout: time.Minute})
	tiny := check("ip", mustLimit(t, 1, time.Minute, 1), 1)
	wide := check("ip", mustLimit(t, 1, time.Minute, 100), 1)
	n := 0
	for i := range int64(100) {
		now := start + i*10*ms
		l.Decide(ctx, now, []limiter.Check{tiny})
		if d := l.Decide(ctx, now, []limiter.Check{wide}); d.Allowed {
			n++
		}
		r := l.Decide(ctx, now, []limiter.Check{tiny}).Results[0]
		if r.Remaining != 0 {
			t.Fatalf("%+v: none is left of 1", r)
		}
	}
	if n < 20 {
		t.Errorf("%d of 100 admitted in a second beside a flood, of a limit of 100", n)
	}
}
