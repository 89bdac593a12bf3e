package faults_test

import (
	"strings"
	"testing"
	"time"

	"weir/internal/testengine"
)

// policy is the failure policy of the limit.
type policy struct {
	name   string
	fields string // of the limit, beside its rate and burst
	blind  []code // what may be answered while the store cannot tell
	most   int    // how many may be let pass so; 0 for any number
}

// processes is how many are said to serve, for the policy local; not the default.
const processes = 20

var (
	allow = policy{name: "allow", blind: []code{unchecked}}
	local = policy{name: "local", fields: `,"onError":"local"`, blind: []code{unchecked, capped}, most: burst / processes}
	deny  = policy{name: "deny", fields: `,"onError":"deny"`, blind: []code{unavailable}}
)

// leases is how long a process may answer from tokens that it has charged before
// the store broke.
const leases = 2 * time.Second

// recovery is by when everything is as before.
const recovery = 2 * time.Second

// fault is a way in which a store breaks.
type fault struct {
	name    string
	lasts   time.Duration
	begin   func(*testengine.Proxy)
	end     func(*testing.T, *testengine.Proxy)
	partial bool // the store still answers some
}

func down(p *testengine.Proxy)             { p.Down() }
func up(t *testing.T, p *testengine.Proxy) { p.Up(t) }

func faults() []fault {
	set := func(f testengine.Fault) func(*testengine.Proxy) {
		return func(p *testengine.Proxy) { p.Set(f) }
	}
	unset := func(_ *testing.T, p *testengine.Proxy) { p.Set(nil) }
	return []fault{
		{name: "latency of 5 s", lasts: 3 * time.Second, begin: set(testengine.Slow(5 * time.Second)), end: unset},
		{name: "connections reset", lasts: 2500 * time.Millisecond, begin: set(testengine.Reset), end: unset},
		{name: "half throttled", lasts: 2 * time.Second, begin: set(testengine.EverySecond(testengine.Throttle)), end: unset, partial: true},
		{name: "gone", lasts: *outage, begin: down, end: up},
		{name: "slow, then back", lasts: 3500 * time.Millisecond, begin: set(testengine.Slow(3 * deadline)), end: unset},
	}
}

func TestFault(t *testing.T) {
	for _, fa := range faults() {
		t.Run(fa.name, func(t *testing.T) { testFault(t, fa, allow) })
	}
}

func TestPolicy(t *testing.T) {
	gone := fault{lasts: 3 * time.Second, begin: down, end: up}
	for _, p := range []policy{local, deny} {
		t.Run(p.name, func(t *testing.T) { testFault(t, gone, p) })
	}
}

func testFault(t *testing.T, fa fault, p policy) {
	f := start(t, p)
	if _, ok := f.until(10 * time.Second); !ok { // a lookup and a first charge, on a machine that may be busy
		t.Fatalf("no answer from the bucket before the fault\n%s", f.lines())
	}

	began := time.Now()
	fa.begin(f.proxy)
	r := f.traffic(fa.lasts)
	f.modes.look(f.Log())
	ended := time.Now()
	fa.end(t, f.proxy)

	took, ok := f.until(2 * recovery)
	if !ok || took > recovery {
		t.Errorf("the first answer from the bucket came %v after the store was back, want it within %v", ms(took), recovery)
	}
	t.Logf("back after %v", ms(took))
	r.within(t, deadline)
	if fa.partial {
		halfBlind(t, f, r, p)
	} else {
		blind(t, f, r, p)
	}
	f.metrics(began, ended, leases)
	f.drain()
	f.accounts()
}

// blind checks answers while nothing can be told: by the policy, once leases have
// ended.
func blind(t *testing.T, f *function, r record, p policy) {
	t.Helper()
	late := r.count(leases, ok, unchecked, rateLimited, unavailable, capped)
	if got := r.count(leases, p.blind...); got != late || late == 0 {
		t.Errorf("%d of %d answers are by the policy (%v)", got, late, p.blind)
	}
	if got := r.count(0, unchecked); p.most > 0 && (got == 0 || got > p.most) {
		t.Errorf("%d requests let pass without the bucket, want 1 to %d", got, p.most)
	}
	f.waitLine(outageEnds)
	begins, ends := strings.Count(f.lines(), outageBegins), strings.Count(f.lines(), outageEnds)
	if !f.told || begins > 1 || ends != 1 {
		t.Errorf("the log says %q (%t) and %d times %q, want one line of each\n%s", outageBegins, f.told, ends, outageEnds, f.lines())
	}
}

// metrics checks that the metrics name the mode that limits were in, soon after it
// began, which is when leases had ended, and its end, soon after that.
func (f *function) metrics(began, ended time.Time, leases time.Duration) {
	f.t.Helper()
	if !f.modes.begun(began, leases+toldWithin) {
		f.t.Errorf("no line says within %v that limits follow their failure policy: %+v", leases+toldWithin, f.modes.modes)
	}
	for f.modes.look(f.Log()); !f.modes.over() && time.Since(ended) < recovery+toldWithin+leases; f.modes.look(f.Log()) {
		f.call()
		time.Sleep(pace)
	}
	if !f.modes.over() {
		f.t.Errorf("no line says that the mode is over, %v after the store is back and with an interval of %v: %+v", time.Since(ended), interval, f.modes.modes)
	}
	f.t.Logf("metrics: %+v", f.modes.modes)
}

// halfBlind checks answers while some can be told: the limit goes on.
func halfBlind(t *testing.T, f *function, r record, p policy) {
	t.Helper()
	checked, blind := r.count(0, ok), r.count(0, p.blind...)
	if n := len(r.samples); checked < n/4 || checked+blind != n {
		t.Errorf("%d of %d answers are from the bucket and %d by the policy, want at least a quarter and the rest", checked, n, blind)
	}
	if f.told || strings.Contains(f.lines(), outageBegins) {
		t.Errorf("a store that throttles is taken for one that does not answer\n%s", f.lines())
	}
}

// accounts checks that what was answered from the bucket is in the bucket's books.
func (f *function) accounts() {
	f.t.Helper()
	spent := f.spent()
	f.t.Logf("%d admitted from the bucket and %d by policy, %d refused by the bucket and %d by policy; %d tokens charged",
		f.answers[ok], f.answers[unchecked], f.answers[rateLimited], f.answers[unavailable]+f.answers[capped], spent)
	if f.answers[ok] > spent || spent > burst {
		f.t.Errorf("%d admitted from a bucket of %d, with %d charged", f.answers[ok], burst, spent)
	}
}
