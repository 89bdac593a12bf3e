package directory

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"weir/internal/plan"
)

// t0 is a time like any other, in ns since the Unix epoch.
const t0 = 1_800_000_000 * int64(time.Second)

func at(d time.Duration) int64 { return t0 + int64(d) }

// quiet are Options without jitter and without a log.
func quiet() Options {
	return Options{Rand: func() float64 { return 0 }, Log: slog.New(slog.DiscardHandler)}
}

func lookup(t *testing.T, c *Cached, now int64, key string) Entry {
	t.Helper()
	e, err := c.ByCredential(t.Context(), now, HashOf(key))
	if err != nil {
		t.Fatalf("ByCredential(%s) at %v: %v", key, time.Duration(now-t0), err)
	}
	return e
}

// wantCalls checks how many calls the source took since the last check.
func wantCalls(t *testing.T, s *fakeSource, want int) {
	t.Helper()
	if got := s.took(); got != want {
		t.Errorf("the source took %d calls, want %d", got, want)
	}
}

func TestCachedLooksUpOnceAMinute(t *testing.T) {
	s := newFakeSource()
	c := NewCached(s, quiet())
	e := lookup(t, c, at(0), "k")
	if e.Tenant.ID != "acme" || e.Plan != s.plans["pro"] || e.Stale {
		t.Errorf("got %+v", e)
	}
	wantCalls(t, s, 3)

	s.change(func() { s.tenants["acme"] = plan.Tenant{ID: "acme", Plan: "pro", Suspended: true} })
	if e := lookup(t, c, at(time.Minute-1), "k"); e.Tenant.Suspended {
		t.Error("a change is seen before the TTL: nothing was cached")
	}
	wantCalls(t, s, 0)
	if e := lookup(t, c, at(time.Minute), "k"); !e.Tenant.Suspended || e.Stale {
		t.Errorf("after the TTL: got %+v, want the suspended tenant", e)
	}
	wantCalls(t, s, 3)
}

func TestCachedUnknownCredential(t *testing.T) {
	s := newFakeSource()
	c := NewCached(s, quiet())
	unknown := func(now int64) {
		t.Helper()
		if _, err := c.ByCredential(t.Context(), now, HashOf("new")); !errors.Is(err, ErrUnknown) {
			t.Errorf("at %v: %v, want ErrUnknown", time.Duration(now-t0), err)
		}
	}
	unknown(at(0))
	wantCalls(t, s, 1)
	s.change(func() { s.credentials[HashOf("new")] = Credential{Tenant: "acme"} })
	unknown(at(10*time.Second - 1))
	wantCalls(t, s, 0)
	if e := lookup(t, c, at(10*time.Second), "new"); e.Tenant.ID != "acme" {
		t.Errorf("got %+v", e)
	}
}

func TestCachedExpiredCredential(t *testing.T) {
	s := newFakeSource()
	s.credentials[HashOf("k")] = Credential{Tenant: "acme", Expires: at(5 * time.Second)}
	c := NewCached(s, quiet())
	lookup(t, c, at(5*time.Second-1), "k")
	if !c.Remembers(at(5*time.Second-1), HashOf("k")) {
		t.Error("a credential that was looked up is not remembered")
	}
	wantCalls(t, s, 3)
	if _, err := c.ByCredential(t.Context(), at(5*time.Second), HashOf("k")); !errors.Is(err, ErrUnknown) {
		t.Errorf("expired, and cached: %v, want ErrUnknown", err)
	}
	if c.Remembers(at(5*time.Second), HashOf("k")) {
		t.Error("an expired credential is remembered as good")
	}
	wantCalls(t, s, 0)
}

func TestCachedRevokedCredential(t *testing.T) {
	s := newFakeSource()
	c := NewCached(s, quiet())
	lookup(t, c, at(0), "k")
	s.change(func() { delete(s.credentials, HashOf("k")) })
	if _, err := c.ByCredential(t.Context(), at(time.Minute), HashOf("k")); !errors.Is(err, ErrUnknown) {
		t.Errorf("revoked: %v, want ErrUnknown", err)
	}
	if c.Remembers(at(time.Minute), HashOf("k")) {
		t.Error("a credential that is gone is remembered as good")
	}
}

func TestCachedContradictions(t *testing.T) {
	s := newFakeSource()
	s.credentials[HashOf("orphan")] = Credential{Tenant: "gone"}
	s.credentials[HashOf("planless")] = Credential{Tenant: "hooli"}
	s.tenants["hooli"] = plan.Tenant{ID: "hooli", Plan: "gold"}
	o := quiet()
	o.Anonymous = "anon"
	c := NewCached(s, o)

	if _, err := c.ByCredential(t.Context(), t0, HashOf("orphan")); !errors.Is(err, ErrUnknown) {
		t.Errorf("credential of a tenant that does not exist: %v, want ErrUnknown", err)
	}
	var missing *MissingPlanError
	_, err := c.ByCredential(t.Context(), t0, HashOf("planless"))
	if !errors.As(err, &missing) || missing.Tenant != "hooli" || missing.Plan != "gold" {
		t.Errorf("tenant of a plan that does not exist: %v", err)
	}
	_, err = c.Anonymous(t.Context(), t0)
	if !errors.As(err, &missing) || missing.Tenant != "" || missing.Plan != "anon" {
		t.Errorf("anonymous plan that does not exist: %v", err)
	}
}

func TestCachedAnonymous(t *testing.T) {
	s := newFakeSource()
	if _, err := NewCached(s, quiet()).Anonymous(t.Context(), t0); !errors.Is(err, ErrUnknown) {
		t.Errorf("without an anonymous plan: %v, want ErrUnknown", err)
	}
	wantCalls(t, s, 0)
	o := quiet()
	o.Anonymous = "pro"
	c := NewCached(s, o)
	for range 2 {
		if e, err := c.Anonymous(t.Context(), t0); err != nil || e.Plan != s.plans["pro"] || e.Tenant.ID != "" {
			t.Errorf("Anonymous = %+v, %v", e, err)
		}
	}
	wantCalls(t, s, 1)
}

func TestCachedReloadsAPlanThatIsNewer(t *testing.T) {
	s := newFakeSource()
	c := NewCached(s, quiet())
	lookup(t, c, at(0), "k")
	s.took()
	s.change(func() { s.plans["pro"] = &plan.Plan{Name: "pro", Ver: 2} })

	c.PlanSeen(at(2*time.Second), "pro", 1)
	c.PlanSeen(at(2*time.Second), "other", 9)
	if e := lookup(t, c, at(2*time.Second), "k"); e.Plan.Ver != 1 {
		t.Errorf("version %d, want 1: nothing newer was seen", e.Plan.Ver)
	}
	wantCalls(t, s, 0)
	c.PlanSeen(at(2*time.Second), "pro", 3)
	if e := lookup(t, c, at(2*time.Second), "k"); e.Plan.Ver != 2 {
		t.Errorf("version %d, want 2", e.Plan.Ver)
	}
	wantCalls(t, s, 1)

	// The replica has not got version 3 yet: it is asked once a second.
	c.PlanSeen(at(2500*time.Millisecond), "pro", 3)
	lookup(t, c, at(2500*time.Millisecond), "k")
	wantCalls(t, s, 0)
	c.PlanSeen(at(3*time.Second), "pro", 3)
	lookup(t, c, at(3*time.Second), "k")
	wantCalls(t, s, 1)
}
