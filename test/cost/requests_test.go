package cost_test

import (
	"fmt"
	"testing"
	"time"

	"weir/internal/limiter"
	"weir/pkg/bucket"
)

// asked is a kind of limit, and what is wanted of every request that cannot be
// decided from memory.
type asked struct {
	name    string
	regions int
	check   limiter.Check
	strict  bool           // there is a strict table
	calls   map[string]int // per request
	write   float64
	read    float64
}

var requests = []asked{
	{"any limit", 1, limiter.Check{}, false, map[string]int{"UpdateItem": 1}, 1, 0},
	{"`onPartition: share`", 1, limiter.Check{Share: true}, false, map[string]int{"UpdateItem": 1}, 1, 0},
	{"`strict`, without a table", 1, limiter.Check{Consistency: limiter.Strict}, false, map[string]int{"UpdateItem": 1}, 1, 0},
	{"`regional`", 3, limiter.Check{Consistency: limiter.Regional}, false, map[string]int{"UpdateItem": 1}, 1, 0},
	{"`global`", 3, limiter.Check{}, false, map[string]int{"UpdateItem": 1, "Query": 1}, 1, 0.5},
	{"`global`, `onPartition: share`", 3, limiter.Check{Share: true}, false, map[string]int{"UpdateItem": 2, "Query": 3}, 2, 1.5},
	{"`strict`", 3, limiter.Check{Consistency: limiter.Strict}, true, map[string]int{"UpdateItem": 1}, 1, 0},
}

const each = 12 // requests of each kind

// measureRequests sends requests through a limiter on d, so far apart that memory
// decides none of them, and returns what they cost together.
func (d *deployment) measureRequests(a asked) row {
	d.t.Helper()
	l, err := bucket.NewLimit(bucket.Rate{Count: 1, Period: time.Minute}, 100)
	if err != nil {
		d.t.Fatal(err)
	}
	o := limiter.Options{Timeout: time.Minute, Region: d.regions[0], Regions: len(d.regions)}
	if a.strict {
		o.Strict = d.strict
	}
	process := limiter.New(d.store, o)
	c := a.check
	c.Name, c.Key, c.Limit, c.Cost = "api", fmt.Sprintf("%s/%d", d.t.Name(), tables.Add(1)), l, 1
	now := t0 + tables.Add(1)*3600*second // presence is one bucket for all
	ask := func() {
		now += 10 * second
		if r := process.Decide(d.t.Context(), now, []limiter.Check{c}); !r.Allowed || r.Results[0].FromMemory || r.Results[0].Unknown {
			d.t.Errorf("%s: %+v, want a decision of the store", a.name, r)
		}
	}
	ask() // the process learns the row, and the bucket is in use
	r := row{name: a.name, regions: a.regions, strict: a.strict}
	r.here, r.elsewhere = d.measure(func() {
		for range each {
			ask()
			d.settle() // else two writes of a row might be replicated as one
		}
	})
	return r
}

// TestRequests: with one Region a request that memory cannot decide is one call,
// whatever the limit; with several, a regional or strict limit is so too, and a
// global one reads the rows of all beside it.
func TestRequests(t *testing.T) {
	deployments := map[int]*deployment{1: deploy(t, 1), 3: deploy(t, 3)}
	for _, a := range requests {
		r := deployments[a.regions].measureRequests(a)
		for _, op := range []string{"UpdateItem", "Query"} {
			if got := r.here.Calls[op]; got != each*a.calls[op] {
				t.Errorf("%s, %d Regions: %d %s in %d requests, want %d each", a.name, a.regions, got, op, each, a.calls[op])
			}
		}
		if want := each * (a.calls["UpdateItem"] + a.calls["Query"]); r.here.calls() != want || r.here.Failed != 0 {
			t.Errorf("%s, %d Regions: %v of which %d failed, want %d and none", a.name, a.regions, r.here.Calls, r.here.Failed, want)
		}
		if r.here.Write != each*a.write || r.here.Read != each*a.read {
			t.Errorf("%s, %d Regions: %v write and %v read units in %d requests, want %v and %v each", a.name, a.regions, r.here.Write, r.here.Read, each, a.write, a.read)
		}
		if want := float64(each*(a.regions-1)) * a.write; !a.strict && r.elsewhere.Write != want {
			t.Errorf("%s, %d Regions: %v write units elsewhere, want %v", a.name, a.regions, r.elsewhere.Write, want)
		}
	}
}
