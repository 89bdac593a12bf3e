package telemetry

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"weir/internal/telemetry/metric"
)

// truth is what was decided, counted plainly.
type truth struct {
	mu                                                    sync.Mutex
	n, blind, held                                        int64
	outcome, plan, limit, reason, source, tenant, shadows map[string]int64
}

func newTruth() *truth {
	m := func() map[string]int64 { return make(map[string]int64) }
	return &truth{outcome: m(), plan: m(), limit: m(), reason: m(), source: m(), tenant: m(), shadows: m()}
}

func (x *truth) add(d *Decision) {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := d.Reason.outcome().String()
	x.n++
	x.outcome[o]++
	x.plan[d.Plan+" "+o]++
	x.limit[d.Plan+" "+d.Limit+" "+o]++
	x.reason[d.Reason.String()]++
	x.source[d.Source.String()]++
	x.tenant[d.Tenant+" "+o]++
	if d.Blind {
		x.blind++
	}
	if d.Held > 0 {
		x.held++
	}
	for _, s := range d.Shadows {
		x.shadows[d.Plan+" "+s]++
	}
}

// check compares what arrived in CloudWatch, by every dimension. Tenants are
// compared by tenants.
func (x *truth) check(t *testing.T, c *cloudWatch) {
	t.Helper()
	equal := func(what string, got, want map[string]int64) {
		t.Helper()
		if !maps.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	const n = "Decisions"
	equal("in all", c.by(n), map[string]int64{"": x.n})
	equal("by outcome", c.by(n, "Outcome"), x.outcome)
	equal("by plan", c.by(n, "Plan", "Outcome"), x.plan)
	equal("by limit", c.by(n, "Plan", "Limit", "Outcome"), x.limit)
	equal("by reason", c.by(n, "Reason"), x.reason)
	equal("by source", c.by(n, "Source"), x.source)
	equal("shadows", c.by("ShadowRefusals", "Plan", "Limit"), x.shadows)
	tenants := make(map[string]int64)
	for k, n := range c.by(n, "Tenant", "Outcome") {
		var id, o string
		fmt.Sscan(k, &id, &o)
		tenants[o] += n
	}
	equal("of all tenants, by outcome", tenants, x.outcome)
	if got := c.get("DecisionTime").samples; got != x.n {
		t.Errorf("%d times, want %d", got, x.n)
	}
	if got := c.sum("SoftLimitDecisions"); got != x.blind {
		t.Errorf("%d soft-limit decisions, want %d", got, x.blind)
	}
	if got := c.get("HoldTime").samples; got != x.held {
		t.Errorf("%d were held, want %d", got, x.held)
	}
}

// ways are how decisions come out.
var ways = []struct {
	Reason
	Source
}{
	{OK, Memory}, {OK, Store}, {OK, None}, {Unchecked, Policy}, {RateLimited, Memory}, {RateLimited, Store}, {RateLimited, Policy}, {Exceeds, Memory},
	{Suspended, None}, {Unavailable, None}, {Unsupported, None}, {Unauthorized, None}, {BadCredentials, Memory},
}

// some returns a decision of one of a few kinds.
func some(rng *rand.Rand, now int64) Decision {
	way := ways[rng.IntN(len(ways))]
	d := Decision{
		Now: now, Took: time.Duration(rng.ExpFloat64() * 20_000), Plan: fmt.Sprint("plan-", rng.IntN(2)), Limit: fmt.Sprint("limit-", rng.IntN(3)),
		Tenant: fmt.Sprint("tenant-", int(rng.ExpFloat64()*8)),
		Source: way.Source, Reason: way.Reason,
	}
	switch rng.IntN(20) {
	case 0:
		d.Blind = true
	case 1:
		d.Held = time.Duration(rng.IntN(250_000_000) + 1_000_000)
	case 2:
		d.Shadows = []string{"limit-0", "limit-2"}[:1+rng.IntN(2)]
	}
	return d
}

// TestSumsAreExact: whatever is decided arrives, by every dimension, exactly once,
// also with many requests at a time, lines written meanwhile, and a clock that
// jumps.
func TestSumsAreExact(t *testing.T) {
	const goroutines, each = 8, 12_500
	c, x := newCloudWatch(t), newTruth()
	r := New(Options{Out: c, Region: "eu-west-1", MostDecisions: 8000})
	var clock atomic.Int64
	clock.Store(t0)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(g)))
			for i := range each {
				now := clock.Add(int64(rng.ExpFloat64() * 5e6))
				switch rng.IntN(10_000) {
				case 0:
					now = clock.Add(3600 * second) // frozen
				case 1:
					now = clock.Add(-300 * second) // the clock is set
				}
				d := some(rng, now)
				x.add(&d)
				r.Record(&d)
				if i%5000 == 4999 {
					r.Flush(now)
				}
			}
		})
	}
	wg.Wait()
	r.Flush(t0)
	if x.n != goroutines*each {
		t.Fatalf("%d decisions", x.n)
	}
	c.read()
	x.check(t, c)
	s := r.Snapshot(t0)
	if got := s.Total(); got != x.n {
		t.Errorf("the snapshot has %d decisions, want %d", got, x.n)
	}
	t.Logf("%d decisions in %d lines, %d bytes", x.n, c.lines, c.bytes)
}

// many returns n, or fewer under the race detector, which is slow.
func many(n int) int {
	if raceEnabled {
		return n / 10
	}
	return n
}

// TestFloodOfNames: names that come once grow nothing, and all of them are counted.
func TestFloodOfNames(t *testing.T) {
	decisions := many(200_000)
	c, x := newCloudWatch(t), newTruth()
	r := New(Options{Out: c, Region: "eu-west-1"})
	for i := range decisions {
		d := Decision{Now: t0 + int64(i)*second/100, Tenant: fmt.Sprint("t-", i), Plan: fmt.Sprint("p-", i), Limit: fmt.Sprint("l-", i), Source: Memory, Reason: RateLimited}
		if i%4 == 0 {
			d.Tenant, d.Plan, d.Limit = "acme", "pro", "api"
		}
		x.add(&d)
		r.Record(&d)
	}
	r.Flush(t0 + int64(decisions)*second/100)
	c.read()
	if got := int(c.sum("Decisions")); got != decisions {
		t.Errorf("%d decisions, want %d", got, decisions)
	}
	if got := int(c.sum("Decisions", "Tenant", "acme", "Outcome", "refused")); got != decisions/4 {
		t.Errorf("%d decisions of the busy tenant, want %d", got, decisions/4)
	}
	if got := int(c.sum("Decisions", "Tenant", metric.Other, "Outcome", "refused")); got != decisions*3/4 {
		t.Errorf("%d decisions of others, want %d", got, decisions*3/4)
	}
	if n := len(c.by("Decisions", "Tenant", "Outcome")); n > 2 {
		t.Errorf("%d tenants listed, want acme and other", n)
	}
	if n := len(c.data); n > 3*maxSeries+50 {
		t.Errorf("%d metrics, want no more than maxSeries makes", n)
	}
	t.Logf("%d metrics", len(c.data))
}

// TestTenantsTakeTurns: tenants who are busy one after the other do not each become
// a metric.
func TestTenantsTakeTurns(t *testing.T) {
	c := newCloudWatch(t)
	r := New(Options{Out: c, Region: "eu-west-1", Tenants: 3})
	for i := range 60 * 600 { // an hour
		d := Decision{Now: t0 + int64(i)*second/10, Tenant: fmt.Sprint("t-", i/300), Plan: "p", Limit: "l", Source: Memory}
		r.Record(&d)
	}
	r.Flush(t0 + 3600*second)
	c.read()
	listed := c.by("Decisions", "Tenant", "Outcome")
	if n := len(listed); n != 2*3+1 {
		t.Errorf("%d tenants listed in an hour, want two sets of three, and other", n)
	}
	total := int64(0)
	for _, n := range listed {
		total += n
	}
	if total != 36_000 {
		t.Errorf("%d decisions of all tenants, want 36000", total)
	}
}

// TestSmallTenantsHaveNoNames: where all are small nobody is listed, in whatever
// process it happens to be seen.
func TestSmallTenantsHaveNoNames(t *testing.T) {
	c := newCloudWatch(t)
	r := New(Options{Out: c, Region: "eu-west-1"})
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 60_000 {
		d := Decision{Now: t0 + int64(i)*second/10, Tenant: fmt.Sprint("t-", rng.IntN(5000)), Plan: "p", Limit: "l", Source: Memory}
		r.Record(&d)
	}
	r.Flush(t0 + 6000*second)
	if got := c.read().by("Decisions", "Tenant", "Outcome"); !maps.Equal(got, map[string]int64{"other allowed": 60_000}) {
		t.Errorf("got %v, want all under other", got)
	}
}

// TestMiddlingTenantsHaveNoNames: with less than a fiftieth of the decisions nobody
// is listed, however many those are.
func TestMiddlingTenantsHaveNoNames(t *testing.T) {
	c := newCloudWatch(t)
	r := New(Options{Out: c, Region: "eu-west-1"})
	for i := range 60_000 {
		d := Decision{Now: t0 + int64(i)*second/1000, Tenant: fmt.Sprint("t-", i%60), Plan: "p", Limit: "l", Source: Memory}
		r.Record(&d)
	}
	r.Flush(t0 + 60*second)
	if got := c.read().by("Decisions", "Tenant", "Outcome"); !maps.Equal(got, map[string]int64{"other allowed": 60_000}) {
		t.Errorf("got %v, want all under other", got)
	}
}

// TestTenantsOfYesterday: who was very busy once does not keep those out who are
// busy now.
func TestTenantsOfYesterday(t *testing.T) {
	c := newCloudWatch(t)
	r := New(Options{Out: c, Region: "eu-west-1"})
	for i := range many(1_000_000) {
		d := Decision{Now: t0 + int64(i)*1000, Tenant: fmt.Sprint("old-", i%(maxTenants-1)), Plan: "p", Limit: "l", Source: Memory}
		r.Record(&d)
	}
	for i := range 12_000 { // twelve intervals
		d := Decision{Now: t0 + minute + int64(i)*60_000_000, Tenant: fmt.Sprint("new-", i), Plan: "p", Limit: "l", Source: Memory}
		if i%10 == 0 {
			d.Tenant = "acme"
		}
		r.Record(&d)
	}
	r.Flush(t0 + 15*minute)
	if got := c.read().sum("Decisions", "Tenant", "acme", "Outcome", "allowed"); got < 200 {
		t.Errorf("%d of 1200 decisions are counted under the busy tenant's name", got)
	}
}
