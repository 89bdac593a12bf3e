package directory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"weir/internal/plan"
)

func TestCachedSpreadsReloads(t *testing.T) {
	s := newFakeSource()
	o := quiet()
	o.Rand = func() float64 { return 0.5 }
	c := NewCached(s, o)
	lookup(t, c, at(0), "k")
	wantCalls(t, s, 3)
	lookup(t, c, at(54*time.Second-1), "k")
	wantCalls(t, s, 0)
	lookup(t, c, at(54*time.Second), "k")
	wantCalls(t, s, 3)
}

func TestCachedServesStaleWhileTheSourceFails(t *testing.T) {
	s := newFakeSource()
	s.credentials[HashOf("other")] = Credential{Tenant: "acme"}
	var log bytes.Buffer
	o := quiet()
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	c := NewCached(s, o)
	lookup(t, c, at(0), "k")
	lookup(t, c, at(0), "other")
	wantCalls(t, s, 4)

	s.fail(errDown)
	if e := lookup(t, c, at(59*time.Second), "k"); e.Stale {
		t.Error("stale before the TTL")
	}
	for _, key := range []string{"k", "k", "other"} {
		if e := lookup(t, c, at(time.Hour), key); !e.Stale || e.Tenant.ID != "acme" || e.Plan == nil {
			t.Errorf("while the source fails: %+v, want the old entry, stale", e)
		}
	}
	wantCalls(t, s, 1) // one request tries, all others go on
	if n := strings.Count(log.String(), "configuration not loaded"); n != 1 || !strings.Contains(log.String(), errDown.Error()) {
		t.Errorf("log has %d reports, want one with the reason:\n%s", n, log.String())
	}
	lookup(t, c, at(time.Hour+5*time.Second), "k")
	wantCalls(t, s, 1)

	s.fail(nil)
	if e := lookup(t, c, at(time.Hour+10*time.Second), "k"); e.Stale {
		t.Error("still stale although the source is back")
	}
}

func TestCachedOneBadPlanDoesNotStopTheRest(t *testing.T) {
	s := newFakeSource()
	c := NewCached(s, quiet())
	lookup(t, c, at(0), "k")
	s.took()
	bad := errors.Join(ErrInvalid, errors.New("hold is not supported"))
	s.change(func() {
		s.before = func(context.Context) error {
			if s.calls == 3 { // credential, tenant, plan
				return bad
			}
			return nil
		}
	})
	if e := lookup(t, c, at(time.Hour), "k"); !e.Stale || e.Plan.Ver != 1 {
		t.Errorf("plan that cannot be read: %+v, want the old one, stale", e)
	}
	wantCalls(t, s, 3)
	s.change(func() { s.before = nil })
	s.credentials[HashOf("other")] = Credential{Tenant: "hooli"}
	s.tenants["hooli"] = plan.Tenant{ID: "hooli", Plan: "free"}
	s.plans["free"] = &plan.Plan{Name: "free"}
	if e := lookup(t, c, at(time.Hour), "other"); e.Stale {
		t.Error("another tenant is stale too")
	}
	wantCalls(t, s, 3)
}

func TestCachedGivesUpOnASourceThatKeepsFailing(t *testing.T) {
	s := newFakeSource()
	s.fail(errDown)
	var log bytes.Buffer
	o := quiet()
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	c := NewCached(s, o)
	ask := func(now int64) error {
		_, err := c.ByCredential(t.Context(), now, HashOf("k"))
		return err
	}
	for range 3 {
		if err := ask(at(0)); !errors.Is(err, errDown) || errors.Is(err, ErrUnknown) {
			t.Errorf("source is down: %v, want its error", err)
		}
	}
	wantCalls(t, s, 3)
	if n := strings.Count(log.String(), "configuration not loaded"); n != 1 {
		t.Errorf("log has %d reports, want one", n)
	}
	if err := ask(at(time.Second)); err == nil || errors.Is(err, ErrUnknown) {
		t.Errorf("source is left alone: %v, want an error other than ErrUnknown", err)
	}
	wantCalls(t, s, 0)
	s.fail(nil)
	if err := ask(at(1250 * time.Millisecond)); err != nil {
		t.Errorf("source is back: %v", err)
	}
	s.fail(errDown)
	c.ByCredential(t.Context(), at(5*time.Second), HashOf("new"))
	if n := strings.Count(log.String(), "configuration not loaded"); n != 2 {
		t.Errorf("log has %d reports after five seconds, want another", n)
	}
}

// An entry is stale if any of its three parts is.
func TestCachedStaleInPart(t *testing.T) {
	for part := range 3 {
		s := newFakeSource()
		c := NewCached(s, quiet())
		lookup(t, c, at(0), "k")
		s.took()
		s.change(func() {
			s.before = func(context.Context) error {
				if s.calls == part+1 {
					return ErrInvalid
				}
				return nil
			}
		})
		if e := lookup(t, c, at(time.Hour), "k"); !e.Stale {
			t.Errorf("call %d of 3 failed, but the entry is not stale", part+1)
		}
		wantCalls(t, s, 3)
	}
}

func TestCachedWithoutOptions(t *testing.T) {
	s := newFakeSource()
	old := slog.Default()
	defer slog.SetDefault(old)
	slog.SetDefault(slog.New(slog.DiscardHandler))
	c := NewCached(s, Options{})
	lookup(t, c, at(0), "k")
	s.fail(errDown)
	if e := lookup(t, c, at(time.Minute), "k"); !e.Stale {
		t.Error("not stale after a minute")
	}
}

func TestCachedForgivesFailuresOnceTheSourceAnswers(t *testing.T) {
	for _, answer := range []string{"k", "nobody's"} {
		s := newFakeSource()
		c := NewCached(s, quiet())
		ask := func(key string, err error) {
			s.fail(err)
			c.ByCredential(t.Context(), t0, HashOf(key))
		}
		ask("a", errDown)
		ask("a", errDown)
		ask(answer, nil)
		ask("a", errDown)
		s.took()
		ask("a", errDown)
		wantCalls(t, s, 1)
	}
}

func TestCachedClockSetBack(t *testing.T) {
	s := newFakeSource()
	c := NewCached(s, quiet())
	lookup(t, c, at(24*time.Hour), "k")
	s.took()
	lookup(t, c, at(0), "k")
	wantCalls(t, s, 3) // rather than for a day not at all
}

func TestCachedIsBounded(t *testing.T) {
	s := newFakeSource()
	for i := range 100 {
		id := fmt.Sprint("t", i)
		s.credentials[HashOf(id)] = Credential{Tenant: id}
		s.tenants[id] = plan.Tenant{ID: id, Plan: "pro"}
	}
	o := quiet()
	o.MaxEntries, o.MaxMissing = 10, 20
	c := NewCached(s, o)
	lookup(t, c, t0, "k")
	for i := range 1000 {
		c.ByCredential(t.Context(), t0, HashOf(fmt.Sprint("guess", i)))
	}
	s.took()
	lookup(t, c, t0, "k")
	wantCalls(t, s, 0) // guesses push out none that exist
	for i := range 100 {
		lookup(t, c, t0, fmt.Sprint("t", i))
		lookup(t, c, t0, "k") // in use all the time
	}
	wantCalls(t, s, 200)
	if found, missing := len(c.credentials.found.entries), len(c.credentials.missing.entries); found != 10 || missing != 20 {
		t.Errorf("%d credentials and %d that do not exist are kept, want 10 and 20", found, missing)
	}
	if n := len(c.tenants.found.entries); n != 10 {
		t.Errorf("%d tenants are kept, want 10", n)
	}
	if n := c.credentials.found.order.Len(); n != 10 {
		t.Errorf("order has %d entries, want 10", n)
	}
}

func TestCachedLooksUpOnceForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeSource()
		s.before = func(context.Context) error { time.Sleep(10 * time.Millisecond); return nil }
		c := NewCached(s, quiet())
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if _, err := c.ByCredential(t.Context(), t0, HashOf("k")); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		wantCalls(t, s, 3)

		s.fail(errDown)
		for range 50 {
			wg.Go(func() {
				if _, err := c.ByCredential(t.Context(), t0, HashOf("other")); !errors.Is(err, errDown) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		wantCalls(t, s, 1)
	})
}

// Whoever waits for another's lookup must not fail because the other gave up.
func TestCachedOutlivesTheFirstCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeSource()
		s.before = func(ctx context.Context) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(10 * time.Millisecond):
				return nil
			}
		}
		c := NewCached(s, quiet())
		first, cancel := context.WithCancel(t.Context())
		go func() {
			if _, err := c.ByCredential(first, t0, HashOf("k")); !errors.Is(err, context.Canceled) {
				t.Errorf("the caller who gave up got %v", err)
			}
		}()
		synctest.Wait()
		go func() {
			if _, err := c.ByCredential(t.Context(), t0, HashOf("k")); err != nil {
				t.Errorf("the caller who waited got %v", err)
			}
		}()
		synctest.Wait()
		cancel()
		synctest.Wait()
		time.Sleep(time.Second)
	})
}

// A reload must leave the request time for the rest of its work.
func TestCachedReloadIsShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeSource()
		c := NewCached(s, quiet())
		lookup(t, c, at(0), "k")
		s.change(func() { s.before = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() } })
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		start := time.Now()
		e, err := c.ByCredential(ctx, at(time.Minute), HashOf("k"))
		if took := time.Since(start); err != nil || !e.Stale || took != 25*time.Millisecond {
			t.Errorf("got %+v, %v after %v; want a stale entry after 25ms", e, err, took)
		}
	})
}

func TestCachedSurvivesAPanic(t *testing.T) {
	s := newFakeSource()
	s.before = func(context.Context) error { panic("source") }
	c := NewCached(s, quiet())
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		c.ByCredential(t.Context(), t0, HashOf("k"))
	}()
	s.change(func() { s.before = nil })
	lookup(t, c, t0, "k") // would wait for ever
}

func TestCachedFromMemoryAllocatesNothing(t *testing.T) {
	c := NewCached(newFakeSource(), quiet())
	ctx, h := t.Context(), HashOf("k")
	lookup(t, c, t0, "k")
	if n := testing.AllocsPerRun(100, func() { c.ByCredential(ctx, t0, h) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
