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
	s.change(func() { s.credentials[HashOf("k")] = Credential{Tenant: "acme", Revoked: true} })
	if _, err := c.ByCredential(t.Context(), at(time.Minute), HashOf("k")); !errors.Is(err, ErrUnknown) {
		t.Errorf("revoked: %v, want ErrUnknown", err)
	}
	if c.Remembers(at(time.Minute), HashOf("k")) {
		t.Error("a revoked credential is remembered as good")
	}
	s.change(func() { delete(s.credentials, HashOf("k")) })
	if _, err := c.ByCredential(t.Context(), at(2*time.Minute), HashOf("k")); !errors.Is(err, ErrUnknown) {
		t.Errorf("gone: %v, want ErrUnknown", err)
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

// A row that shows a newer version makes what is older be loaded anew, once a second
// until it is not.
func TestCachedSeen(t *testing.T) {
	s := newFakeSource()
	c := NewCached(s, quiet())
	lookup(t, c, at(0), "k")
	s.took()
	step := func(now time.Duration, seen, want int64, loads int) {
		t.Helper()
		c.Seen(at(now), "acme", "pro", seen)
		if e := lookup(t, c, at(now), "k"); e.Ver != want {
			t.Errorf("at %v: version %x, want %x", now, e.Ver, want)
		}
		wantCalls(t, s, loads)
	}
	s.put(2000, plan.Plan{Name: "pro"})
	step(2*time.Second, ver(1, 1, 0), ver(1, 1, 0), 0)
	step(2*time.Second, ver(1, 1, 1), ver(1, 1, 0), 0) // by a clock that is ahead
	c.Seen(at(2*time.Second), "hooli", "free", ver(9, 9, 0))
	step(2*time.Second, ver(1, 2, 0), ver(1, 2, 0), 1) // the plan
	step(2*time.Second, ver(1, 2, 0), ver(1, 2, 0), 0)

	// The replica has not got version 3 yet: it is asked at once and then once a second.
	step(2500*time.Millisecond, ver(1, 3, 0), ver(1, 2, 0), 1)
	for now := 2600 * time.Millisecond; now < 3500*time.Millisecond; now += 100 * time.Millisecond {
		step(now, ver(1, 3, 0), ver(1, 2, 0), 0)
	}
	s.put(3000, plan.Plan{Name: "pro"})
	step(3500*time.Millisecond, ver(1, 3, 0), ver(1, 3, 0), 1)

	// The tenant comes first: its plan may be another one by now.
	s.put(4000, plan.Plan{Name: "free"})
	s.put(4002, plan.Tenant{ID: "acme", Plan: "free"})
	step(5*time.Second, ver(2, 1, 0), ver(2, 1, 0), 2)
	step(7*time.Second, ver(1, 9, 0), ver(2, 1, 0), 0) // of before it moved
}
