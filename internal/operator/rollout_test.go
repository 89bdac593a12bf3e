package operator

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"weir/internal/plan"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// withCanary returns a stored plan with a rollout to another rate.
func withCanary(t *testing.T, r plan.Rollout) (ddbstore.Plan, *plan.Plan) {
	t.Helper()
	body, err := planOf(t, "rate: 10/s").MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	r.Plan = planOf(t, "rate: 20/s")
	next, err := r.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	s := ddbstore.Plan{Name: "pro", Body: string(body), Carry: "reset", Next: string(next), Version: 4}
	p, err := PlanOf(s)
	if err != nil {
		t.Fatal(err)
	}
	return s, p
}

func steps(t *testing.T, shares ...string) []plan.Share {
	t.Helper()
	var all []plan.Share
	for _, s := range shares {
		share, err := plan.ParseShare(s)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, share)
	}
	return all
}

func TestRolloutGoesToItsEnd(t *testing.T) {
	s, p := withCanary(t, CanaryOf(steps(t, "5%", "25%", "100%"), time.Hour, []string{"acme"}, bucket.AsIs, t0))
	var shares []string
	now := t0
	for p.Next != nil {
		shares = append(shares, p.Next.Share.String())
		now += int64(time.Minute)
		put, err := Rollout(s, p, Next, now)
		if err != nil {
			t.Fatal(err)
		}
		if put.Version != s.Version {
			t.Fatalf("based on version %d, want %d", put.Version, s.Version)
		}
		s = put
		if p, err = PlanOf(s); err != nil {
			t.Fatal(err)
		}
		if p.Next != nil && (p.Next.StepAt != now+int64(time.Hour) || !p.Next.Has("pro", "acme", now)) {
			t.Errorf("after a step: %+v", p.Next)
		}
	}
	if got := fmt.Sprint(shares); got != "[5% 25% 100%]" {
		t.Errorf("shares %s", got)
	}
	if got := RateText(p.Limits[0].Bucket); got != "20/s" || p.Carry != bucket.AsIs {
		t.Errorf("at the end the plan has %s, carry %v", got, p.Carry)
	}
}

func TestRolloutSteps(t *testing.T) {
	canary := CanaryOf(steps(t, "5%", "100%"), time.Hour, nil, bucket.Additive, t0)
	scheduled := plan.Rollout{From: t0 + int64(time.Hour)}
	paused := canary
	paused.Paused = true
	for _, tt := range []struct {
		name    string
		r       plan.Rollout
		step    Step
		refused bool
		check   func(*plan.Plan) bool
	}{
		{"pause", canary, Pause, false, func(p *plan.Plan) bool { return p.Next.Paused }},
		{"pause twice", paused, Pause, true, nil},
		{"resume", paused, Resume, false, func(p *plan.Plan) bool { return !p.Next.Paused && p.Next.StepAt == t0+2*int64(time.Hour) }},
		{"resume twice", canary, Resume, true, nil},
		{"next while paused", paused, Next, false, func(p *plan.Plan) bool { return p.Next.Paused && p.Next.Share == plan.Everybody }},
		{"abort", canary, Abort, false, func(p *plan.Plan) bool {
			return p.Next == nil && RateText(p.Limits[0].Bucket) == "10/s" && p.Carry == bucket.Proportional
		}},
		{"scheduled, now", scheduled, Next, false, func(p *plan.Plan) bool { return p.Next == nil && RateText(p.Limits[0].Bucket) == "20/s" }},
		{"scheduled, not at all", scheduled, Abort, false, func(p *plan.Plan) bool { return p.Next == nil && RateText(p.Limits[0].Bucket) == "10/s" }},
		{"scheduled, paused", scheduled, Pause, true, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, p := withCanary(t, tt.r)
			put, err := Rollout(s, p, tt.step, t0+int64(time.Hour))
			if tt.refused {
				if !errors.Is(err, ErrRefused) {
					t.Fatalf("%v, want ErrRefused", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := PlanOf(put)
			if err != nil || !tt.check(got) {
				t.Errorf("%+v, next %+v, %v", got, got.Next, err)
			}
		})
	}
	s, p := withCanary(t, canary)
	p.Next = nil
	if _, err := Rollout(s, p, Next, t0); !errors.Is(err, ErrRefused) {
		t.Errorf("without a rollout: %v", err)
	}
	if _, err := Rollout(s, p, "jump", t0); err == nil {
		t.Error("no error for a step that there is not")
	}
}

func TestRolloutText(t *testing.T) {
	for want, r := range map[string]plan.Rollout{
		"a canary for 5% of the tenants, then 25%, 100%":           {Share: 500, Steps: []plan.Share{2500, 10000}},
		"a canary for acme, hooli, then 100%":                      {Tenants: []string{"acme", "hooli"}, Steps: []plan.Share{10000}},
		"a canary for 0.5% of the tenants and 4 named tenants":     {Share: 50, Tenants: []string{"a", "b", "c", "d"}},
		"a canary for 100% of the tenants, paused":                 {Share: 10000, Paused: true},
		"a change scheduled for 2027-01-15 08:00:00Z":              {From: t0},
		"a canary for 5% of the tenants and acme, then 6%, paused": {Share: 500, Tenants: []string{"acme"}, Steps: []plan.Share{600}, Paused: true},
	} {
		if got := RolloutText(&r); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestSources(t *testing.T) {
	base := parsePlan(t, `limits: [{name: api, rate: 10/s, mode: enforce}, {name: b, rate: 1/s, burst: 5, hold: 100ms}]`)
	base.Ver = 7
	base.Next = &plan.Rollout{Plan: parsePlan(t, `limits: [{name: api, rate: 20/s}]`), Share: 500}
	overrides, err := plan.ParseOverrides("acme", []byte(`{mode: shadow, hold: 50ms, limits: {api: {rate: 5/s}, b: {burst: 9}}}`))
	if err != nil {
		t.Fatal(err)
	}
	tenant := plan.Tenant{ID: "acme", Plan: "pro", Overrides: overrides}
	for _, tt := range []struct {
		reached bool
		limit   string
		want    map[string]string
	}{
		{false, "api", map[string]string{"rate": "override", "burst": "100% of the rate's number; plan pro, version 7", "mode": "override", "hold": "override"}},
		{false, "b", map[string]string{"rate": "plan pro, version 7", "burst": "override", "mode": "override", "hold": "plan pro"}},
		{true, "api", map[string]string{"rate": "override", "burst": "canary of plan pro", "mode": "override", "hold": "override"}},
	} {
		p := *base
		if tt.reached {
			p.Next = &plan.Rollout{Plan: base.Next.Plan, Share: plan.Everybody}
		}
		eff, _ := plan.Effective(&p, tenant, t0)
		got := sources{&p, tenant, 3, tt.reached}.of(limitNamed(eff, tt.limit))
		for field, want := range tt.want {
			if !strings.Contains(got[field], want) {
				t.Errorf("reached %v, limit %s: %s is from %q, want %q", tt.reached, tt.limit, field, got[field], want)
			}
		}
	}
}
