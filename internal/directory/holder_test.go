package directory

import (
	"testing"
	"time"

	"weir/internal/plan"
	"weir/pkg/bucket"
)

func parsed(t *testing.T, body string) *plan.Plan {
	t.Helper()
	p, err := plan.ParsePlan("pro", []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestScheduledChange: it comes into force at its time, although nothing is loaded.
func TestScheduledChange(t *testing.T) {
	s := newFakeSource()
	p := parsed(t, "limits: [{ name: api, rate: 100/s }]")
	p.Next = &plan.Rollout{Plan: parsed(t, "limits: [{ name: api, rate: 200/s }]"), Carry: bucket.Additive, From: at(10 * time.Second)}
	s.put(40, *p)
	c := NewCached(s, quiet())
	if e := lookup(t, c, at(0), "k"); e.Plan.Limits[0].Bucket.Burst() != 100 || e.Ver != ver(1, 2, 0) {
		t.Errorf("before: %+v of %+v", e, e.Plan)
	}
	s.took()
	if e := lookup(t, c, at(10*time.Second-1), "k"); e.Plan.Limits[0].Bucket.Burst() != 100 || e.Ver != ver(1, 2, 0) {
		t.Errorf("a moment before: %+v of %+v", e, e.Plan)
	}
	e := lookup(t, c, at(10*time.Second), "k")
	if e.Plan.Limits[0].Bucket.Burst() != 200 || e.Ver != ver(1, 2, 1) || e.Plan.Carry != bucket.Additive {
		t.Errorf("in force: %+v of %+v", e, e.Plan)
	}
	if again := lookup(t, c, at(11*time.Second), "k"); again.Plan != e.Plan {
		t.Error("what holds is made anew for every request")
	}
	wantCalls(t, s, 0)
}

// TestEffectivePlanIsKept as long as nothing of what it is made of changes.
func TestEffectivePlanIsKept(t *testing.T) {
	s := newFakeSource()
	s.put(40, *parsed(t, "limits: [{ name: api, rate: 100/s }]"))
	s.put(42, plan.Tenant{ID: "acme", Plan: "pro", Overrides: plan.Overrides{Mode: plan.Shadow}})
	c := NewCached(s, quiet())
	e := lookup(t, c, at(0), "k")
	if e.Plan.Limits[0].Mode != plan.Shadow || e.Ver != ver(2, 2, 0) || s.plans["pro"].Limits[0].Mode != plan.Enforce {
		t.Errorf("%+v of %+v", e, e.Plan)
	}
	if again := lookup(t, c, at(time.Second), "k"); again.Plan != e.Plan {
		t.Error("what holds is made anew for every request")
	}
	s.put(50, *parsed(t, "limits: [{ name: api, rate: 200/s }]"))
	c.Seen(at(2*time.Second), "acme", "pro", ver(2, 3, 0))
	if e := lookup(t, c, at(2*time.Second), "k"); e.Plan.Limits[0].Bucket.Burst() != 200 || e.Plan.Limits[0].Mode != plan.Shadow || e.Ver != ver(2, 3, 0) {
		t.Errorf("the plan changed: %+v of %+v", e, e.Plan)
	}
	s.put(60, plan.Tenant{ID: "acme", Plan: "pro", Overrides: plan.Overrides{Mode: plan.Off}})
	c.Seen(at(4*time.Second), "acme", "pro", ver(3, 3, 0))
	if e := lookup(t, c, at(4*time.Second), "k"); e.Plan.Limits[0].Mode != plan.Off || e.Ver != ver(3, 3, 0) {
		t.Errorf("the tenant changed: %+v of %+v", e, e.Plan)
	}
}
