package plan

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"weir/pkg/bucket"
)

// ver is the version of a tenant's and a plan's versions; forced is 1 if a
// scheduled change is in force.
func ver(tenant, plan, forced int64) int64 { return tenant<<32 | plan<<1 | forced }

func TestEffectiveIsThePlanItself(t *testing.T) {
	p := one(t, "rate: 100/s, mode: shadow, hold: 1s")
	p.Ver, p.Stamp, p.Carry = 4, 40, bucket.AsIs
	scheduled := *p
	scheduled.Next = mustRollout(t, `"from":"2026-12-01T12:00:00Z"`)
	canary := *p
	canary.Next = mustRollout(t, `"tenants":["hooli"]`)
	for name, tt := range map[string]struct {
		plan   *Plan
		tenant Tenant
		ver    int64
	}{
		"nothing else":                {p, Tenant{ID: "acme"}, ver(0, 4, 0)},
		"an older tenant":             {p, Tenant{ID: "acme", Ver: 9, Stamp: 38, Carry: bucket.Reset}, ver(9, 4, 0)},
		"a newer tenant, same carry":  {p, Tenant{ID: "acme", Ver: 3, Stamp: 42, Carry: bucket.AsIs}, ver(3, 4, 0)},
		"no credential":               {p, Tenant{}, ver(0, 4, 0)},
		"what the plan has anyway":    {p, Tenant{ID: "acme", Overrides: mustOverrides(t, "{mode: shadow, hold: 500ms, limits: {a: {rate: 100/s}}}")}, ver(0, 4, 0)},
		"limits of another plan":      {p, Tenant{ID: "acme", Overrides: mustOverrides(t, "limits: {b: {rate: 1/s}}")}, ver(0, 4, 0)},
		"before a scheduled change":   {&scheduled, Tenant{ID: "acme"}, ver(0, 4, 0)},
		"a canary of somebody else's": {&canary, Tenant{ID: "acme", Ver: 1, Stamp: 44, Carry: bucket.AsIs}, ver(1, 4, 0)},
		"development":                 {one(t, "rate: 1/s"), Tenant{ID: "acme"}, 0},
	} {
		var eff *Plan
		var got int64
		n := testing.AllocsPerRun(1, func() { eff, got = Effective(tt.plan, tt.tenant, noon-1) })
		if eff != tt.plan || got != tt.ver {
			t.Errorf("%s: %+v, version %d; want the plan itself, version %d", name, eff, got, tt.ver)
		}
		if n != 0 && tt.tenant.Overrides.IsZero() {
			t.Errorf("%s: %v allocations, want 0", name, n)
		}
	}
}

func TestEffectiveRollout(t *testing.T) {
	p := one(t, "rate: 100/s")
	p.Ver, p.Stamp, p.Carry = 7, 40, bucket.AsIs
	p.Next = mustRollout(t, `"from":"2026-12-01T12:00:00Z","carry":"additive"`)
	p.Next.Plan.Description = "twice as much"

	if eff, got := Effective(p, Tenant{ID: "acme", Ver: 1, Stamp: 30}, noon-1); eff != p || got != ver(1, 7, 0) {
		t.Errorf("a moment before: %+v, version %d", eff, got)
	}
	eff, got := Effective(p, Tenant{ID: "acme", Ver: 1, Stamp: 30}, noon)
	if eff.Limits[0].Bucket.Burst() != 200 || eff.Carry != bucket.Additive || got != ver(1, 7, 1) {
		t.Errorf("in force: %+v, version %d", eff, got)
	}
	if eff.Name != "pro" || eff.Ver != 7 || eff.Stamp != 40 || eff.Description != "twice as much" {
		t.Errorf("in force: %+v, want the plan's name and numbers, and the next description", eff)
	}
	if p.Limits[0].Bucket.Burst() != 100 || p.Carry != bucket.AsIs {
		t.Error("the plan itself was changed")
	}
	// The tenant's own hold on it, and a change of the tenant is newer if it is later.
	own := Tenant{ID: "acme", Ver: 2, Stamp: 50, Carry: bucket.Reset, Overrides: mustOverrides(t, "limits: {a: {burst: 7}}")}
	eff, got = Effective(p, own, noon)
	if eff.Limits[0].Bucket != mustLimit(t, 200, time.Second, 7) || eff.Carry != bucket.Additive || got != ver(2, 7, 1) {
		t.Errorf("in force, changed before: %+v, version %d", eff, got)
	}
	own.Stamp = noon + 2
	if eff, _ = Effective(p, own, noon+3); eff.Carry != bucket.Reset {
		t.Errorf("in force, changed after: carry %v", eff.Carry)
	}

	p.Next = mustRollout(t, `"tenants":["hooli"],"carry":"additive"`)
	if eff, got := Effective(p, Tenant{ID: "hooli", Ver: 1, Stamp: 30}, 0); eff.Limits[0].Bucket.Burst() != 200 || eff.Carry != bucket.Additive || got != ver(1, 7, 0) {
		t.Errorf("a canary: %+v, version %d", eff, got)
	}
	if eff, _ := Effective(p, Tenant{ID: "hooli", Stamp: 42}, 0); eff.Limits[0].Bucket.Burst() != 200 || eff.Carry != bucket.Proportional {
		t.Errorf("a canary that changed since: %+v", eff)
	}
}

func TestSplit(t *testing.T) {
	const most = 1<<31 - 1
	for _, tt := range []struct{ tenant, plan int64 }{{0, 0}, {0, 1}, {1, 0}, {7, 9}, {most, most}} {
		for forced := range int64(2) {
			v := ver(tt.tenant, tt.plan, forced)
			if tn, p := Split(v); tn != tt.tenant || p != tt.plan || v < 0 {
				t.Errorf("%d is %d and %d, want %d and %d", v, tn, p, tt.tenant, tt.plan)
			}
		}
	}
}

func TestSince(t *testing.T) {
	p := one(t, "rate: 100/s")
	p.Next = mustRollout(t, `"from":"2026-12-01T12:00:00Z"`)
	for _, tt := range []struct{ plan, tenant, now, want int64 }{
		{0, 0, noon - 1, 0},
		{40, 30, noon - 1, 40},
		{40, 50, noon - 1, 50},
		{40, 50, noon, noon},
		{40, noon + 4, noon + 5, noon + 4},
	} {
		p.Stamp = tt.plan
		tn := Tenant{ID: "acme", Stamp: tt.tenant}
		eff, _ := Effective(p, tn, tt.now)
		if got := Since(eff, tn, tt.now); got != tt.want || Since(p, tn, tt.now) != got {
			t.Errorf("%+v: since %d, want %d", tt, got, tt.want)
		}
	}
}

func TestEffectiveHasModeAndHold(t *testing.T) {
	p := one(t, "rate: 100/s, hold: 1s")
	eff, _ := Effective(p, Tenant{Overrides: Overrides{Mode: Shadow, Hold: 2 * time.Second}}, 0)
	if l := eff.Limits[0]; l.Mode != Shadow || l.Hold != 2*time.Second || l.Bucket != p.Limits[0].Bucket {
		t.Errorf("got %+v", l)
	}
	if l := p.Limits[0]; l.Mode != Enforce || l.Hold != time.Second {
		t.Errorf("the plan itself was changed: %+v", l)
	}
}

// view is what somebody has of the configuration.
type view struct {
	tenant Tenant
	plans  [2]*Plan
}

func (v view) effective(now int64) (*Plan, int64) {
	for _, p := range v.plans {
		if p.Name == v.tenant.Plan {
			return Effective(p, v.tenant, now)
		}
	}
	panic("no such plan")
}

// history is a random history of one tenant and two plans, made by writers whose
// clocks are off.
type history struct {
	t     *testing.T
	rnd   *rand.Rand
	now   int64  // real time
	stamp int64  // the last
	all   []view // the last is what holds
}

func (h *history) body() []Limit {
	return one(h.t, fmt.Sprintf("rate: %d/s", 1+h.rnd.IntN(100_000))).Limits
}

// change makes a change and says what.
func (h *history) change() string {
	h.stamp = max((h.now+h.rnd.Int64N(int64(4*time.Second))-int64(2*time.Second))&^1, h.stamp+2)
	v := h.all[len(h.all)-1]
	defer func() { h.all = append(h.all, v) }()
	i := h.rnd.IntN(2)
	if n := h.rnd.IntN(8); n < 2 {
		v.tenant.Ver, v.tenant.Stamp = v.tenant.Ver+1, h.stamp
		if n == 0 {
			v.tenant.Plan = v.plans[i].Name
			return "move to " + v.tenant.Plan
		}
		v.tenant.Overrides = Overrides{Limits: map[string]LimitOverride{"a": {Burst: &Burst{Tokens: 1 + h.rnd.Int64N(100_000)}}}}
		return "override"
	}
	p := *v.plans[i]
	v.plans[i] = &p
	p.Ver, p.Stamp = p.Ver+1, h.stamp
	switch n := h.rnd.IntN(6); {
	case p.Next.InForce(h.now) || p.Next.Complete(h.now):
		p.Limits, p.Carry, p.Next = p.Next.Plan.Limits, p.Next.Carry, nil
		return "promote " + p.Name
	case n == 0:
		p.Limits = h.body()
		return "change " + p.Name
	case n == 1:
		p.Next = &Rollout{Plan: &Plan{Limits: h.body()}, From: h.now + h.rnd.Int64N(int64(3*time.Second))}
		return "schedule " + p.Name
	case n == 2:
		p.Next = &Rollout{Plan: &Plan{Limits: h.body()}, Share: Share(h.rnd.IntN(5000)), Steps: []Share{7000, Everybody}}
		return "canary of " + p.Name
	case n == 3:
		p.Next = p.Next.Step(h.now)
		return "step of " + p.Name
	default:
		p.Next = nil
		return "cancel " + p.Name
	}
}

// later returns a view that has each thing as v has it, or as it was at some later
// time.
func (h *history) later(v view) view {
	at := func() view { return h.all[h.rnd.IntN(len(h.all))] }
	if n := at(); n.tenant.Ver > v.tenant.Ver {
		v.tenant = n.tenant
	}
	for i := range v.plans {
		if n := at(); n.plans[i].Ver > v.plans[i].Ver {
			v.plans[i] = n.plans[i]
		}
	}
	return v
}

// TestVersionsAreInOrder: whatever changes, whatever the clocks of writers and
// readers say, and whichever of several changes a reader has seen: versions grow,
// a scheduled change that comes into force included; one version is of one set of
// limits; and none is above that of what holds.
func TestVersionsAreInOrder(t *testing.T) {
	for seed := range uint64(300) {
		pro, free := one(t, "rate: 100/s"), one(t, "rate: 5/s")
		free.Name, pro.Ver, free.Ver = "free", 1, 1
		h := &history{t: t, rnd: rand.New(rand.NewPCG(seed, 7)), now: noon}
		h.all = []view{{Tenant{ID: "acme", Plan: "pro", Ver: 1}, [2]*Plan{pro, free}}}
		limits := map[int64]bucket.Limit{} // by version, whoever saw it
		skews := []int64{0, -int64(time.Second), int64(1700 * time.Millisecond)}
		seen := []view{h.all[0], h.all[0], h.all[0]}
		before := make([]int64, len(skews)+1) // versions
		check := func(what string, i int, v view, now int64) int64 {
			eff, ver := v.effective(now)
			if old, ok := limits[ver]; ok && old != eff.Limits[0].Bucket {
				t.Fatalf("seed %d, %s: version %d is of %+v and of %+v", seed, what, ver, old, eff.Limits[0].Bucket)
			}
			limits[ver] = eff.Limits[0].Bucket
			if ver < before[i] {
				t.Fatalf("seed %d, %s: version %d after %d", seed, what, ver, before[i])
			}
			before[i] = ver
			return ver
		}
		for range 60 {
			what := "time passes"
			if h.rnd.IntN(2) == 0 {
				what = h.change()
			} else {
				h.now += h.rnd.Int64N(int64(2 * time.Second))
			}
			truth := h.all[len(h.all)-1]
			was, wasVer := h.all[max(0, len(h.all)-2)], before[len(skews)]
			holds := check(what, len(skews), truth, h.now)
			p, old := truth.plans[0], was.plans[0]
			if truth.tenant.Plan == "free" {
				p, old = truth.plans[1], was.plans[1]
			}
			if what != "time passes" && (truth.tenant.Ver != was.tenant.Ver || p.Ver != old.Ver) && holds <= wasVer {
				t.Fatalf("seed %d, %s: version %d after %d", seed, what, holds, wasVer)
			}
			for i, skew := range skews {
				seen[i] = h.later(seen[i])
				got := check(what, i, seen[i], h.now+skew)
				if tn, pv := Split(got); skew <= 0 && got > holds || tn > truth.tenant.Ver || tn == truth.tenant.Ver && pv > p.Ver {
					t.Fatalf("seed %d, %s: version %d of an old view is above %d, which holds", seed, what, got, holds)
				}
			}
		}
	}
}
