package directory

import (
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"weir/internal/limiter"
)

var errGone = errors.Join(errDown, limiter.ErrUnavailable)

// hang is what a source does whose Region has gone silent.
func hang(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// regions returns three replicas, and the Replicas of them.
func regions() (here, near, far *fakeSource, all *Replicas) {
	here, near, far = newFakeSource(), newFakeSource(), newFakeSource()
	return here, near, far, NewReplicas(slog.New(slog.DiscardHandler),
		replica("here", here), replica("near", near), replica("far", far))
}

func replica(region string, s *fakeSource) Replica { return Replica{region, s, s} }

func wantTenant(t *testing.T, s Source, within, after time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	began := time.Now()
	got, err := s.Tenant(ctx, "acme")
	if took := time.Since(began); err != nil || got.ID != "acme" || took != after {
		t.Errorf("got %+v, %v after %v; want acme after %v", got, err, took, after)
	}
}

// TestReplicasStayHome: no other Region is asked while this one answers, whatever
// it says.
func TestReplicasStayHome(t *testing.T) {
	here, near, far, all := regions()
	if c, err := all.Credential(t.Context(), HashOf("k")); err != nil || c.Tenant != "acme" {
		t.Errorf("Credential: %+v, %v", c, err)
	}
	if p, err := all.Plan(t.Context(), "pro"); err != nil || p.Name != "pro" {
		t.Errorf("Plan: %+v, %v", p, err)
	}
	if _, err := all.Tenant(t.Context(), "nobody"); !errors.Is(err, ErrNotFound) {
		t.Errorf("Tenant: %v, want ErrNotFound", err)
	}
	here.fail(ErrInvalid)
	if _, err := all.Tenant(t.Context(), "acme"); !errors.Is(err, ErrInvalid) {
		t.Errorf("Tenant: %v, want ErrInvalid", err)
	}
	wantCalls(t, here, 4)
	wantCalls(t, near, 0)
	wantCalls(t, far, 0)
}

func TestReplicasInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, near, far, all := regions()
		here.fail(errGone)
		wantTenant(t, all, time.Second, 0)
		wantTenant(t, all, time.Second, 0)
		wantCalls(t, here, 1) // then it is left alone
		wantCalls(t, near, 2)
		wantCalls(t, far, 0)

		if _, err := all.Tenant(t.Context(), "nobody"); !errors.Is(err, ErrNotFound) {
			t.Errorf("what the other Region does not know: %v, want ErrNotFound", err)
		}
		near.fail(errGone)
		wantTenant(t, all, time.Second, 0)
		wantCalls(t, far, 1)

		here.fail(nil)
		time.Sleep(replicaPause)
		wantTenant(t, all, time.Second, 0)
		wantTenant(t, all, time.Second, 0)
		wantCalls(t, here, 2)
		wantCalls(t, far, 0)
	})
}

// TestReplicasThrottled: a Region that throttles is not left alone, but another is
// asked at once.
func TestReplicasThrottled(t *testing.T) {
	here, near, _, all := regions()
	here.fail(limiter.ErrThrottled)
	for range 5 {
		if _, err := all.Tenant(t.Context(), "acme"); err != nil {
			t.Error(err)
		}
	}
	wantCalls(t, here, 5)
	wantCalls(t, near, 5)
}

// TestReplicasShareTheTime: a Region that hangs gets half of the time that is left,
// the last one all of it.
func TestReplicasShareTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, near, far, all := regions()
		here.change(func() { here.before = hang })
		near.change(func() { near.before = hang })
		wantTenant(t, all, time.Second, 750*time.Millisecond)
		wantTenant(t, all, time.Second, 0) // both are left alone

		time.Sleep(replicaPause)
		far.change(func() { far.before = hang })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := all.Tenant(ctx, "acme")
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != time.Second {
			t.Errorf("got %v after %v, want DeadlineExceeded after 1s", err, took)
		}
	})
}

// TestReplicasInHaste: a refresh asks this Region alone, and its haste is not held
// against the Region.
func TestReplicasInHaste(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, near, _, all := regions()
		here.change(func() { here.before = hang })
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), haste-1)
			if _, err := all.Tenant(ctx, "acme"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v, want DeadlineExceeded", err)
			}
			cancel()
		}
		wantCalls(t, here, 3)
		wantCalls(t, near, 0)
	})
}

func TestReplicasUnreadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, near, far, all := regions()
		here.change(func() { here.before = hang })
		near.fail(errGone)
		far.fail(limiter.ErrThrottled)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := all.Tenant(ctx, "acme")
		var unreadable *UnreadableError
		if !errors.As(err, &unreadable) || len(unreadable.Regions) != 3 || unreadable.Regions[1].Region != "near" {
			t.Fatalf("got %v, want an UnreadableError of three Regions", err)
		}
		if !errors.Is(err, limiter.ErrUnavailable) || !errors.Is(err, limiter.ErrThrottled) {
			t.Errorf("%v does not wrap what the Regions said", err)
		}
		// Who waits for this lookup has time left: it is not the caller's deadline.
		if errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v is taken for the caller's deadline", err)
		}
		for _, part := range []string{"here: store unavailable: no answer within 500ms", "far: store throttles"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q does not say %q", err, part)
			}
		}
	})
}

// TestReplicasBehindACache: callers are found out about while this Region is
// silent, those known are served without delay, and what has changed elsewhere is
// noticed in the end.
func TestReplicasBehindACache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, near, _, all := regions()
		c := NewCached(all, quiet())
		ask := func(now time.Duration, key string) (Entry, time.Duration, error) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			e, err := c.ByCredential(ctx, at(now), HashOf(key))
			return e, time.Since(began), err
		}
		if _, _, err := ask(0, "k"); err != nil {
			t.Fatal(err)
		}
		here.change(func() { here.before = hang })
		near.change(func() {
			delete(near.credentials, HashOf("k")) // revoked
			near.credentials[HashOf("new")] = Credential{Tenant: "acme"}
		})
		if e, took, err := ask(2*time.Minute, "k"); err != nil || !e.Stale || took != 25*time.Millisecond {
			t.Errorf("known: %+v, %v after %v; want it stale after 25ms", e, err, took)
		}
		if e, took, err := ask(3*time.Minute, "new"); err != nil || e.Tenant.ID != "acme" || took > 600*time.Millisecond {
			t.Errorf("unknown: %+v, %v after %v; want it from the other Region", e, err, took)
		}
		if _, _, err := ask(10*time.Minute, "k"); !errors.Is(err, ErrUnknown) {
			t.Errorf("revoked: %v, want ErrUnknown", err)
		}
	})
}

// TestReplicasFeed: changes are read in this Region, and in others while it fails.
func TestReplicasFeed(t *testing.T) {
	here, near, far, all := regions()
	here.tell(PlanChanged, "here", 10)
	near.tell(PlanChanged, "near", 10)
	wantChange := func(id string) {
		t.Helper()
		if got, more, err := all.Changes(t.Context(), 9, 5); err != nil || more || len(got) != 1 || got[0] != (Change{PlanChanged, id, 10}) {
			t.Errorf("changes %+v, %v, %v, want that of %s", got, more, err, id)
		}
	}
	wantChange("here")
	if near.looked() != 0 {
		t.Error("another Region was asked although this one answers")
	}
	here.change(func() { here.beforeLook = func(context.Context) error { return errGone } })
	wantChange("near")
	if c, err := all.Credential(t.Context(), HashOf("k")); err != nil || c.Tenant != "acme" || here.took() != 1 {
		t.Errorf("a feed that fails keeps this Region's configuration from being read: %+v, %v", c, err)
	}
	near.fail(errGone)
	far.fail(errGone)
	if _, _, err := all.Changes(t.Context(), 9, 5); err == nil {
		t.Error("no Region answers, and no error")
	}
	none := NewReplicas(nil, Replica{Region: "here", Source: here})
	if _, _, err := none.Changes(t.Context(), 9, 5); err == nil {
		t.Error("there is no feed, and no error")
	}
}

// TestReplicasFollowWhileThisRegionFails: a key that is revoked elsewhere while this
// Region's table is silent is honoured all the same, and what has not changed is
// served without delay.
func TestReplicasFollowWhileThisRegionFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, near, _, all := regions()
		o := quiet()
		o.Feed = all
		c := NewCached(all, o)
		defer time.Sleep(lookTime) // for a look to end
		near.change(func() { near.credentials[HashOf("other")] = Credential{Tenant: "acme"} })
		here.change(func() { here.credentials[HashOf("other")] = Credential{Tenant: "acme"} })
		lookup(t, c, clock(), "other")
		lookup(t, c, clock(), "k")
		here.change(func() { here.before, here.beforeLook = hang, hang })
		time.Sleep(3 * time.Second)
		near.put(clock()&^1, Credential{Tenant: "acme", Revoked: true})
		h := HashOf("k")
		near.tell(CredentialChanged, hex.EncodeToString(h[:]), clock()&^1)
		changed, longest := time.Now(), time.Duration(0)
		for {
			began := time.Now()
			_, err := c.ByCredential(t.Context(), clock(), h)
			longest = max(longest, time.Since(began))
			if errors.Is(err, ErrUnknown) {
				break
			}
			if err != nil || time.Since(changed) > 3*time.Second {
				t.Fatalf("%v later: %v, want ErrUnknown", time.Since(changed), err)
			}
			began = time.Now()
			if e := lookup(t, c, clock(), "other"); e.Tenant.ID != "acme" || time.Since(began) > 25*time.Millisecond {
				t.Errorf("the other key: %+v after %v", e, time.Since(began))
			}
			time.Sleep(100 * time.Millisecond)
		}
		if longest > 250*time.Millisecond {
			t.Errorf("a request waited %v", longest)
		}
	})
}
