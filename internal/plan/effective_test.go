package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"weir/pkg/bucket"
)

func TestEffectiveIsThePlanItself(t *testing.T) {
	p := one(t, "rate: 100/s, mode: shadow, hold: 1s")
	p.Stamp, p.Carry = 40, bucket.AsIs
	scheduled := *p
	scheduled.Next = mustRollout(t, `"from":"2026-12-01T12:00:00Z"`)
	canary := *p
	canary.Next = mustRollout(t, `"tenants":["hooli"]`)
	for name, tt := range map[string]struct {
		plan   *Plan
		tenant Tenant
		ver    int64
	}{
		"nothing else":                {p, Tenant{ID: "acme"}, 40},
		"an older tenant":             {p, Tenant{ID: "acme", Stamp: 38, Carry: bucket.Reset}, 40},
		"a newer tenant, same carry":  {p, Tenant{ID: "acme", Stamp: 42, Carry: bucket.AsIs}, 42},
		"no credential":               {p, Tenant{}, 40},
		"what the plan has anyway":    {p, Tenant{ID: "acme", Overrides: mustOverrides(t, "{mode: shadow, hold: 500ms, limits: {a: {rate: 100/s}}}")}, 40},
		"limits of another plan":      {p, Tenant{ID: "acme", Overrides: mustOverrides(t, "limits: {b: {rate: 1/s}}")}, 40},
		"before a scheduled change":   {&scheduled, Tenant{ID: "acme"}, 40},
		"a canary of somebody else's": {&canary, Tenant{ID: "acme", Stamp: 44, Carry: bucket.AsIs}, 44},
	} {
		var eff *Plan
		var ver int64
		n := testing.AllocsPerRun(1, func() { eff, ver = Effective(tt.plan, tt.tenant, noon-1) })
		if eff != tt.plan || ver != tt.ver {
			t.Errorf("%s: %+v, version %d; want the plan itself, version %d", name, eff, ver, tt.ver)
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

	if eff, ver := Effective(p, Tenant{ID: "acme", Stamp: 30}, noon-1); eff != p || ver != 40 {
		t.Errorf("a moment before: %+v, version %d", eff, ver)
	}
	eff, ver := Effective(p, Tenant{ID: "acme", Stamp: 30}, noon)
	if eff.Limits[0].Bucket.Burst() != 200 || eff.Carry != bucket.Additive || ver != 41 || StampOf(ver) != 40 {
		t.Errorf("in force: %+v, version %d", eff, ver)
	}
	if eff.Name != "pro" || eff.Ver != 7 || eff.Stamp != 40 || eff.Description != "twice as much" {
		t.Errorf("in force: %+v, want the plan's name and numbers, and the next description", eff)
	}
	if p.Limits[0].Bucket.Burst() != 100 || p.Carry != bucket.AsIs {
		t.Error("the plan itself was changed")
	}
	// The tenant's own hold on it, and a change of the tenant is newer if it is later.
	own := Tenant{ID: "acme", Stamp: 50, Carry: bucket.Reset, Overrides: mustOverrides(t, "limits: {a: {burst: 7}}")}
	eff, ver = Effective(p, own, noon)
	if eff.Limits[0].Bucket != mustLimit(t, 200, time.Second, 7) || eff.Carry != bucket.Additive || ver != 51 {
		t.Errorf("in force, changed before: %+v, version %d", eff, ver)
	}
	own.Stamp = noon + 2
	if eff, ver = Effective(p, own, noon+3); eff.Carry != bucket.Reset || ver != noon+3 {
		t.Errorf("in force, changed after: carry %v, version %d", eff.Carry, ver)
	}

	p.Next = mustRollout(t, `"tenants":["hooli"],"carry":"additive"`)
	if eff, ver := Effective(p, Tenant{ID: "hooli", Stamp: 30}, 0); eff.Limits[0].Bucket.Burst() != 200 || eff.Carry != bucket.Additive || ver != 40 {
		t.Errorf("a canary: %+v, version %d", eff, ver)
	}
	if eff, ver := Effective(p, Tenant{ID: "hooli", Stamp: 42}, 0); eff.Limits[0].Bucket.Burst() != 200 || eff.Carry != bucket.Proportional || ver != 42 {
		t.Errorf("a canary that changed since: %+v, version %d", eff, ver)
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
		eff, ver := Effective(p, Tenant{ID: "acme", Stamp: tt.tenant}, tt.now)
		if got := eff.Since(ver); got != tt.want || p.Since(ver) != got {
			t.Errorf("%+v: version %d holds since %d, want %d", tt, ver, got, tt.want)
		}
	}
	p.Next = nil // with a version of when it had one
	if got := p.Since(41); got != 40 {
		t.Errorf("without a rollout: %d, want 40", got)
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

// history is a random history of one tenant, two plans and a clock that the
// writers of the configuration have.
type history struct {
	t      *testing.T
	rnd    *rand.Rand
	now    int64 // real time
	last   int64 // stamp
	tenant Tenant
	plans  map[string]*Plan
}

// stamp returns the stamp of a change by a writer whose clock may be off.
func (h *history) stamp() int64 {
	at := h.now + h.rnd.Int64N(int64(4*time.Second)) - int64(2*time.Second)
	h.last = max(at+at%2, h.last+2)
	return h.last
}

func (h *history) body() []Limit {
	return one(h.t, fmt.Sprintf("rate: %d/s", 1+h.rnd.IntN(1000))).Limits
}

// change makes a change and says what.
func (h *history) change() string {
	name := []string{"pro", "free"}[h.rnd.IntN(2)]
	p := *h.plans[name]
	defer func() { h.plans[name] = &p }()
	if p.Next.InForce(h.now) || p.Next.Complete(h.now) && h.rnd.IntN(2) == 0 {
		p.Limits, p.Carry, p.Next, p.Stamp = p.Next.Plan.Limits, p.Next.Carry, nil, h.stamp()
		return "promote " + name
	}
	switch h.rnd.IntN(7) {
	case 0:
		p.Limits, p.Stamp = h.body(), h.stamp()
		return "change " + name
	case 1:
		p.Next = &Rollout{Plan: &Plan{Limits: h.body()}, From: h.now + h.rnd.Int64N(int64(3*time.Second))}
		p.Stamp = h.stamp()
		return "schedule " + name
	case 2:
		p.Next = &Rollout{Plan: &Plan{Limits: h.body()}, Share: Share(h.rnd.IntN(5000)), Steps: []Share{7000, Everybody}}
		p.Stamp = h.stamp()
		return "canary of " + name
	case 3:
		p.Next, p.Stamp = p.Next.Step(h.now), h.stamp()
		return "step of " + name
	case 4:
		p.Next, p.Stamp = nil, h.stamp()
		return "cancel " + name
	case 5:
		h.tenant.Overrides = Overrides{Limits: map[string]LimitOverride{"a": {Burst: &Burst{Tokens: 1 + h.rnd.Int64N(1000)}}}}
		h.tenant.Stamp = h.stamp()
		return "override"
	default:
		h.tenant.Plan, h.tenant.Stamp = name, h.stamp()
		return "move to " + name
	}
}

// TestVersionsAreInOrder: whatever changes, and whatever the clocks of writers and
// readers say, the version grows with every change, a scheduled one included, and
// one version is of one set of limits.
func TestVersionsAreInOrder(t *testing.T) {
	for seed := range uint64(300) {
		h := &history{t: t, rnd: rand.New(rand.NewPCG(seed, 7)), now: noon, plans: map[string]*Plan{
			"pro": {Name: "pro", Limits: one(t, "rate: 100/s").Limits}, "free": {Name: "free", Limits: one(t, "rate: 5/s").Limits},
		}, tenant: Tenant{ID: "acme", Plan: "pro"}}
		limits := map[int64][]Limit{} // by version, whoever saw it
		skews := []int64{0, -int64(time.Second), int64(1700 * time.Millisecond)}
		before := make([]int64, len(skews)) // versions
		var forced [3]bool                  // whether a scheduled change was
		for range 60 {
			what := "time passes"
			if h.rnd.IntN(2) == 0 {
				what = h.change()
			} else {
				h.now += h.rnd.Int64N(int64(2 * time.Second))
			}
			p := h.plans[h.tenant.Plan]
			for i, skew := range skews {
				now := h.now + skew
				eff, ver := Effective(p, h.tenant, now)
				if old, ok := limits[ver]; ok && !slices.EqualFunc(old, eff.Limits, func(a, b Limit) bool { return a.Bucket == b.Bucket }) {
					t.Fatalf("seed %d, %s: version %d is of %+v and of %+v", seed, what, ver, old[0].Bucket, eff.Limits[0].Bucket)
				}
				limits[ver] = eff.Limits
				force := p.Next.InForce(now)
				affected := what != "time passes" && (h.last == p.Stamp || h.last == h.tenant.Stamp) || force && !forced[i] && what == "time passes"
				if ver < before[i] || affected && ver == before[i] {
					t.Fatalf("seed %d, %s: version %d after %d", seed, what, ver, before[i])
				}
				if StampOf(ver) != max(p.Stamp, h.tenant.Stamp) {
					t.Fatalf("seed %d, %s: version %d has stamp %d, want %d", seed, what, ver, StampOf(ver), max(p.Stamp, h.tenant.Stamp))
				}
				before[i], forced[i] = ver, force
			}
		}
	}
}
