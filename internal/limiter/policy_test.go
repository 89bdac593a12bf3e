package limiter_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"weir/internal/limiter"
	"weir/internal/memstore"
)

// holds records holds instead of waiting.
type holds struct{ all []time.Duration }

func (h *holds) sleep(_ context.Context, d time.Duration) error {
	h.all = append(h.all, d)
	return nil
}

// The worked example of request smoothing: 100/s, burst 100 %, 120 at once.
func TestHold(t *testing.T) {
	c := check("api", mustLimit(t, 100, time.Second, 100), 1)
	served := func(l *limiter.Limiter) (n int, refused []limiter.Result) {
		for range 120 {
			d := l.Decide(context.Background(), start, []limiter.Check{c})
			if d.Allowed {
				n++
			} else {
				refused = append(refused, d.Results[0])
			}
		}
		return n, refused
	}
	n, refused := served(limiter.New(memstore.New("r"), limiter.Options{Timeout: time.Minute}))
	if n != 100 {
		t.Errorf("without hold %d of 120 served, want 100", n)
	}
	for _, r := range refused {
		if r.Remaining != 0 || r.Wait <= 0 || r.Wait > time.Second {
			t.Fatalf("refused with %+v, want none left and up to a second to wait", r)
		}
	}

	c.Hold = 250 * time.Millisecond
	var h holds
	store := memstore.New("r")
	if n, _ := served(limiter.New(store, limiter.Options{Timeout: time.Minute, Sleep: h.sleep})); n != 120 {
		t.Errorf("with a hold of 250 ms %d of 120 served, want all", n)
	}
	if len(h.all) != 20 {
		t.Fatalf("%d requests held, want 20", len(h.all))
	}
	for i, d := range h.all {
		if want := time.Duration(i+1) * 10 * time.Millisecond; d != want {
			t.Errorf("request %d held for %v, want %v: in the order of arrival", 101+i, d, want)
		}
	}
}

// A hold reaches as far as it says and no further, and not past the deadline.
func TestHoldIsBounded(t *testing.T) {
	c := check("api", mustLimit(t, 100, time.Second, 100), 1)
	c.Hold = 250 * time.Millisecond
	var h holds
	l := limiter.New(memstore.New("r"), limiter.Options{Timeout: time.Minute, Sleep: h.sleep})
	n := drive([]*limiter.Limiter{l}, start, start+1000, 1, c)
	if n != 125 {
		t.Errorf("%d of 1000 at once served, want 125", n)
	}

	l = limiter.New(memstore.New("r"), limiter.Options{Timeout: time.Minute, Sleep: h.sleep})
	now := time.Now().UnixNano()
	ctx, cancel := context.WithDeadline(context.Background(), time.Unix(0, now).Add(300*time.Millisecond))
	defer cancel()
	h.all, n = nil, 0
	for range 200 {
		if l.Decide(ctx, now, []limiter.Check{c}).Allowed {
			n++
		}
	}
	if n < 100 || n > 105 {
		t.Errorf("%d served with 300 ms to the deadline, want 100 to 105: 250 ms are kept free", n)
	}
}

// A request that another limit refuses is not held, and its tokens go to the next.
func TestRefusedIsNotHeld(t *testing.T) {
	var h holds
	l := limiter.New(memstore.New("r"), limiter.Options{Timeout: time.Minute, Sleep: h.sleep})
	api := check("api", mustLimit(t, 10, time.Second, 10), 1)
	api.Hold = time.Second
	follow := check("follow", mustLimit(t, 1, time.Hour, 10), 1)
	both := []limiter.Check{api, follow}
	for range 10 {
		l.Decide(context.Background(), start, both)
	}
	if d := l.Decide(context.Background(), start, both); d.Allowed || len(h.all) != 0 {
		t.Errorf("%+v after holds %v, want refused at once", d, h.all)
	}
}

func TestOnError(t *testing.T) {
	store := memstore.New("r")
	store.Fault = func(context.Context, string) error { return limiter.ErrUnavailable }
	c := check("api", mustLimit(t, 100, time.Second, 100), 1)
	admitted := func(on limiter.OnError, from, to int64) int {
		c.OnError = on
		ls := []*limiter.Limiter{limiter.New(store, limiter.Options{Processes: 10})}
		return drive(ls, from, to, 10*ms, c)
	}
	if n := admitted(limiter.Admit, start, start+second); n != 100 {
		t.Errorf("allow: %d of 100 admitted", n)
	}
	if n := admitted(limiter.Deny, start, start+second); n != 0 {
		t.Errorf("deny: %d of 100 admitted", n)
	}
	// One of ten processes: a tenth of burst 100 at once, then one every 100 ms.
	if n := admitted(limiter.AdmitLocal, start, start+10*second); n != 109 {
		t.Errorf("local: %d admitted in 10 s, want 109", n)
	}
	// A limit with a burst below one a process still lets a request through now
	// and then.
	c = check("otp", mustLimit(t, 5, time.Minute, 5), 1)
	if n := admitted(limiter.AdmitLocal, start, start+600*second); n < 5 || n > 6 {
		t.Errorf("local: %d admitted in 10 min, want a tenth of 5/min", n)
	}
	c.OnError = limiter.Deny
	d := limiter.New(store, limiter.Options{Timeout: time.Minute}).Decide(context.Background(), start, []limiter.Check{c})
	if r := d.Results[0]; r.Wait < time.Second || r.Remaining != -1 || !r.Unknown {
		t.Errorf("deny says %+v, want a second at least and nothing known", r)
	}
}

// A shadow limit decides like an enforced one, refuses nothing, and does not
// change what is enforced beside it: bit for bit, over random requests.
func TestShadowChangesNothing(t *testing.T) {
	for seed := range uint64(50) {
		with, without := memstore.New("r"), memstore.New("r")
		alone := memstore.New("r")
		options := limiter.Options{Rand: func() float64 { return 0.5 }, Timeout: time.Minute}
		a, b, e := limiter.New(with, options), limiter.New(without, options), limiter.New(alone, options)
		api := check("api", mustLimit(t, 50, time.Second, 20), 1)
		shadow := check("candidate", mustLimit(t, 10, time.Second, 5), 1)
		shadow.Mode = limiter.Shadow
		enforced := shadow
		enforced.Mode = limiter.Enforce

		rng := rand.New(rand.NewPCG(seed, 9))
		wouldRefuse, refused := 0, 0
		ctx := context.Background()
		for now, i := start, 0; i < 500; i++ {
			now += rng.Int64N(40 * ms)
			got := a.Decide(ctx, now, []limiter.Check{api, shadow})
			want := b.Decide(ctx, now, []limiter.Check{api})
			if got.Allowed != want.Allowed || fmt.Sprint(got.Results[0]) != fmt.Sprint(want.Results[0]) || got.Tightest != want.Tightest {
				t.Fatalf("seed %d, request %d: beside a shadow %+v, alone %+v", seed, i, got, want)
			}
			if got.Allowed {
				if !got.Results[1].Allowed {
					wouldRefuse++
				}
				if !e.Decide(ctx, now, []limiter.Check{enforced}).Allowed {
					refused++
				}
			}
		}
		ra, _ := with.Peek(api.Key)
		rb, _ := without.Peek(api.Key)
		if fmt.Sprint(ra) != fmt.Sprint(rb) {
			t.Fatalf("seed %d: rows differ:\n%+v\n%+v", seed, ra, rb)
		}
		if wouldRefuse != refused || refused == 0 {
			t.Errorf("seed %d: the shadow would have refused %d, enforced it refuses %d", seed, wouldRefuse, refused)
		}
	}
}

func TestOffIsNotCounted(t *testing.T) {
	store := &counting{Store: memstore.New("r")}
	c := check("api", mustLimit(t, 1, time.Hour, 1), 1)
	c.Mode = limiter.Off
	if n := drive([]*limiter.Limiter{limiter.New(store, limiter.Options{Timeout: time.Minute})}, start, start+100, 1, c); n != 100 || store.charges.Load() != 0 {
		t.Errorf("%d of 100 admitted, %d charges; want all and none", n, store.charges.Load())
	}
}

// First tokens: a process that goes cold before it charges has touched nothing;
// one that goes on pays what it spent.
func TestInitial(t *testing.T) {
	store := &counting{Store: memstore.New("r")}
	c := check("api", mustLimit(t, 1, time.Hour, 200), 1)
	c.Initial = 5
	for range 20 { // cold processes
		ls := []*limiter.Limiter{limiter.New(store, limiter.Options{Timeout: time.Minute})}
		if n := drive(ls, start, start+5, 1, c); n != 5 {
			t.Fatalf("%d of the first 5 served", n)
		}
	}
	if store.charges.Load() != 0 {
		t.Errorf("%d charges by processes that went cold, want none", store.charges.Load())
	}
	mem := memstore.New("r")
	l := []*limiter.Limiter{limiter.New(mem, limiter.Options{Timeout: time.Minute})}
	n := drive(l, start, start+300, 1, c)
	row, _ := mem.Peek(c.Key)
	if n != 200 || row.Spent != 200 {
		t.Errorf("%d admitted and %d charged of a burst of 200", n, row.Spent)
	}
}

// A process that ends gives back what it holds.
func TestRelease(t *testing.T) {
	mem := memstore.New("r")
	l := limiter.New(mem, limiter.Options{Timeout: time.Minute})
	c := check("api", mustLimit(t, 1000, time.Second, 1000), 1)
	now := start + second
	n := drive([]*limiter.Limiter{l}, start, now, ms, c)
	before, _ := mem.Peek(c.Key)
	returned := l.Release(context.Background(), now)
	after, _ := mem.Peek(c.Key)
	if returned == 0 || after.Spent != int64(n) {
		t.Errorf("%d returned; %d charged for %d admitted, want as many", returned, after.Spent, n)
	}
	if want := before.TAT - int64(returned)*ms; after.TAT != want {
		t.Errorf("TAT %d, want %d", after.TAT, want)
	}
	if again := l.Release(context.Background(), now); again != 0 {
		t.Errorf("%d returned twice", again)
	}
}

// What a request cost the store is part of its result.
func TestUnitsAreAccounted(t *testing.T) {
	l := limiter.New(memstore.New("r"), limiter.Options{Timeout: time.Minute})
	c := []limiter.Check{check("api", mustLimit(t, 1, time.Hour, 1), 1)}
	ctx := context.Background()
	for i, want := range []struct {
		calls int
		units float64
	}{{1, 1}, {1, 1}, {0, 0}} { // admitted, refused by the store, refused from memory
		r := l.Decide(ctx, start, c).Results[0]
		if r.Calls != want.calls || r.Units != want.units || r.FromMemory != (want.calls == 0) {
			t.Errorf("request %d: %+v, want %d calls of %v units", i, r, want.calls, want.units)
		}
	}
}

// What refusals cost is known, in all and by bucket.
func TestCostsOfRefusals(t *testing.T) {
	l := limiter.New(memstore.New("r"), limiter.Options{Timeout: time.Minute})
	calm := check("calm", mustLimit(t, 100, time.Second, 100), 1)
	flood := check("flood", mustLimit(t, 1, time.Minute, 1), 1)
	drive([]*limiter.Limiter{l}, start, start+10*second, 100*ms, calm)
	if c := l.Costs(); c.Units == 0 || c.OnRefusals != 0 {
		t.Errorf("%+v before anything was refused", c)
	}
	drive([]*limiter.Limiter{l}, start, start+10*second, ms, flood)
	c, top := l.Costs(), l.Costliest(5)
	if c.OnRefusals < 5 || c.OnRefusals > 20 || c.Units < c.OnRefusals+10 {
		t.Errorf("%+v after 10 s of flood, want about a unit a second for refusals", c)
	}
	if len(top) != 1 || top[0].Key != flood.Key || top[0].OnRefusals != c.OnRefusals {
		t.Errorf("costliest %+v, want the flooded bucket alone", top)
	}
}
