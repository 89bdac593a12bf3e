package bootstrap_test

import (
	"strings"
	"testing"

	"weir/internal/testbootstrap"
	"weir/pkg/ddbstore"
)

// TestRaise: a tenant who has used up its plan is served as soon as that is raised,
// has what the raise gives it, and is told of the new limit.
func TestRaise(t *testing.T) {
	l := startLive(t, slowPlans)
	for range 5 {
		l.call(t)
	}
	if a := decode(t, l.call(t)); a.effect() != "Deny" || a.Context["limit"] != "5" {
		t.Fatalf("after the burst: %+v", a)
	}
	l.write(t, ddbstore.Plan{Name: "small", Body: `{"limits":[{"name":"api","rate":"1/h","burst":8}]}`, Carry: "additive", Version: 1})
	a := decode(t, l.until(t, "raised", idle, coded("ok")))
	if a.Context["limit"] != "8" || a.Context["remaining"] != "2" || !strings.Contains(a.Context["rateLimitPolicy"], "weir-burst=8") {
		t.Errorf("got %v, want 2 of 8 left", a.Context)
	}
	for range 2 {
		if a := decode(t, l.call(t)); a.effect() != "Allow" {
			t.Errorf("got %+v, want the two that are left", a)
		}
	}
	if a := decode(t, l.call(t)); a.effect() != "Deny" || a.Context["limit"] != "8" {
		t.Errorf("got %+v, want a refusal by the new limit", a)
	}
	// The tenant's own limit is lower again: nothing is left, and no bucket is refilled.
	l.write(t, ddbstore.Tenant{ID: "acme", Plan: "small", Status: ddbstore.Active, Overrides: `{"limits":{"api":{"burst":3}}}`, Version: 1})
	l.until(t, "cut", busy, func(r testbootstrap.Reply) bool {
		return coded("rate_limited")(r) && strings.Contains(string(r.Payload), `"limit":"3"`)
	})
}
