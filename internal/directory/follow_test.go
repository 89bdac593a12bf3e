package directory

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"weir/internal/plan"
)

// followed returns a Cached that follows s, with acme looked up.
func followed(t *testing.T, s *fakeSource) *Cached {
	t.Helper()
	o := quiet()
	o.Feed = s
	c := NewCached(s, o)
	lookup(t, c, clock(), "k")
	s.took()
	return c
}

// clock is the time of a synctest bubble.
func clock() int64 { return time.Now().UnixNano() }

// suspend suspends acme, and says so in the feed. It returns the stamp.
func (s *fakeSource) suspend() int64 {
	stamp := clock() &^ 1
	s.put(stamp, plan.Tenant{ID: "acme", Plan: "pro", Suspended: true})
	s.tell(TenantChanged, "acme", stamp)
	return stamp
}

// asking looks acme up, and lets a look that this began come to its end if it can
// without time going by.
func asking(t *testing.T, c *Cached) (Entry, time.Duration) {
	t.Helper()
	began := time.Now()
	e := lookup(t, c, clock(), "k")
	took := time.Since(began)
	synctest.Wait()
	return e, took
}

// TestBusyProcessFollows: a process that has a request every 10 ms honours a change
// with the first that comes more than a second after it, looks once a second, and
// no request waits.
func TestBusyProcessFollows(t *testing.T) {
	const gap = 10 * time.Millisecond
	for at := time.Duration(0); at < 2500*time.Millisecond; at += 70 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			s := newFakeSource()
			c := followed(t, s)
			began, changed := time.Now(), time.Time{}
			for time.Since(began) < 4*time.Second {
				if changed.IsZero() && time.Since(began) >= at {
					s.suspend()
					changed = time.Now()
				}
				e, took := asking(t, c)
				if took != 0 {
					t.Errorf("a request waited %v", took)
				}
				if !changed.IsZero() && time.Since(changed) > time.Second+gap && !e.Tenant.Suspended {
					t.Fatalf("changed after %v, and not honoured %v later", at, time.Since(changed))
				}
				time.Sleep(gap)
			}
			if n := s.looked(); n != 3 {
				t.Errorf("%d looks in four seconds, want 3", n)
			}
			wantCalls(t, s, 1)
		})
	}
}

// TestAnyProcessFollows: whenever requests come, none that comes two seconds after a
// change or later is decided without it.
func TestAnyProcessFollows(t *testing.T) {
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			s := newFakeSource()
			s.beforeLook = func(context.Context) error { // of a table
				time.Sleep(time.Duration(clock()/int64(time.Millisecond)%20) * time.Millisecond)
				return nil
			}
			c := followed(t, s)
			defer time.Sleep(lookTime) // for a look to end
			type change struct {
				at    time.Time
				stamp int64
			}
			var changes []change
			for range 200 {
				gap := time.Duration(1+rnd.Int64N(3000)) * time.Millisecond
				if rnd.IntN(3) > 0 {
					gap /= 20
				}
				if rnd.IntN(4) == 0 {
					part := time.Duration(rnd.Int64N(int64(gap)))
					time.Sleep(part)
					gap -= part
					changes = append(changes, change{time.Now(), s.suspend()})
				}
				time.Sleep(gap)
				asked := time.Now()
				e, took := asking(t, c)
				if took > 25*time.Millisecond {
					t.Errorf("a request waited %v", took)
				}
				for _, ch := range changes {
					if asked.Sub(ch.at) >= 2*time.Second && e.Tenant.Stamp < ch.stamp {
						t.Fatalf("seed %d: a change is not honoured %v later", seed, asked.Sub(ch.at))
					}
				}
			}
		})
	}
}

// TestIdleProcessLooksFirst: the first request after a pause waits for the feed, and
// is decided by what has changed a moment ago.
func TestIdleProcessLooksFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeSource()
		c := followed(t, s)
		s.change(func() {
			s.beforeLook = func(context.Context) error { time.Sleep(10 * time.Millisecond); return nil }
		})
		for _, pause := range []time.Duration{2 * time.Second, time.Minute - 3*time.Second, 5 * time.Minute} {
			time.Sleep(pause)
			stamp := s.suspend()
			if e, took := asking(t, c); e.Tenant.Stamp != stamp || took != 10*time.Millisecond {
				t.Errorf("after %v: stamp %d after %v, want %d after the 10ms of a look", pause, e.Tenant.Stamp, took, stamp)
			}
		}
		if n := s.looked(); n != 3 {
			t.Errorf("%d looks, want 3", n)
		}
	})
}

// TestFeedThatHangs: the first request after a pause waits as long as it may, the
// others not at all, and what it costs is that changes are seen late.
func TestFeedThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeSource()
		var log bytes.Buffer
		o := quiet()
		o.Feed, o.Log = s, slog.New(slog.NewTextHandler(&log, nil))
		c := NewCached(s, o)
		defer time.Sleep(lookTime) // for a look to end
		asking(t, c)
		s.change(func() { s.beforeLook = hang })
		time.Sleep(10 * time.Second)
		s.suspend()
		waited := 0
		for range 600 { // a minute
			if _, took := asking(t, c); took == 25*time.Millisecond {
				waited++
			} else if took != 0 {
				t.Errorf("a request waited %v", took)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if waited < 1 || waited > breakAfter {
			t.Errorf("%d requests of 600 waited for a feed that hangs, want those before it is known to", waited)
		}
		if n := s.looked(); n < 25 || n > 61 {
			t.Errorf("%d looks in a minute", n)
		}
		if n := strings.Count(log.String(), "are not followed"); n != 1 || !strings.Contains(log.String(), "no answer within 1s") {
			t.Errorf("the log says so %d times, want once a minute, with the reason:\n%s", n, log.String())
		}
		if e, _ := asking(t, c); !e.Tenant.Suspended {
			t.Error("the change is not seen although what was known has expired")
		}
		s.change(func() { s.beforeLook = nil })
		time.Sleep(6 * time.Second)
		stamp := s.suspend()
		if e, took := asking(t, c); e.Tenant.Stamp != stamp || took != 0 {
			t.Errorf("once the feed is back: stamp %d after %v, want %d", e.Tenant.Stamp, took, stamp)
		}
	})
}

// TestFeedThatFails costs nothing.
func TestFeedThatFails(t *testing.T) {
	for name, fail := range map[string]func(context.Context) error{
		"error": func(context.Context) error { return errDown },
		"panic": func(context.Context) error { panic("feed") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFakeSource()
				c := followed(t, s)
				s.change(func() { s.beforeLook = fail })
				time.Sleep(5 * time.Second)
				s.suspend()
				for range 100 {
					if e, took := asking(t, c); took != 0 || e.Tenant.Suspended || e.Stale {
						t.Fatalf("%+v after %v; want what is known, at once", e, took)
					}
					time.Sleep(100 * time.Millisecond)
				}
				if n := s.looked(); n < 9 || n > 11 {
					t.Errorf("%d looks in ten seconds, want one a second", n)
				}
				wantCalls(t, s, 0)
				s.change(func() { s.beforeLook = nil })
				time.Sleep(time.Second)
				asking(t, c)
				if e, _ := asking(t, c); !e.Tenant.Suspended {
					t.Error("the feed answers again, and the change is not honoured")
				}
			})
		})
	}
}

// TestLookThatWasFrozen: a look that was asked for before Lambda froze the process
// is no news after it.
func TestLookThatWasFrozen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeSource()
		c := followed(t, s)
		thaw := make(chan struct{})
		frozen := true
		c.feed.feed = feedFunc(func(ctx context.Context, since int64, most int) ([]Change, bool, error) {
			changes, more, err := s.Changes(ctx, since, most)
			if frozen {
				frozen = false
				<-thaw
			}
			return changes, more, err
		})
		time.Sleep(1500 * time.Millisecond)
		asking(t, c) // begins a look
		time.Sleep(20 * time.Second)
		stamp := s.suspend()
		go func() { close(thaw) }()
		if e, took := asking(t, c); e.Tenant.Stamp != stamp || took != 0 {
			t.Errorf("stamp %d after %v, want %d", e.Tenant.Stamp, took, stamp)
		}
		if n := s.looked(); n != 2 {
			t.Errorf("%d looks, want 2", n)
		}
	})
}

type feedFunc func(context.Context, int64, int) ([]Change, bool, error)

func (f feedFunc) Changes(ctx context.Context, since int64, most int) ([]Change, bool, error) {
	return f(ctx, since, most)
}

// TestFeedAheadOfTheItem: the feed tells of a change that the source does not show
// yet. What it is of is loaded at once and then once a second, until it is there.
func TestFeedAheadOfTheItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeSource()
		c := followed(t, s)
		time.Sleep(3 * time.Second)
		stamp := clock() &^ 1
		s.tell(PlanChanged, "pro", stamp)
		asking(t, c)
		wantCalls(t, s, 1)
		for range 50 {
			time.Sleep(100 * time.Millisecond)
			asking(t, c)
		}
		if n := s.took(); n < 4 || n > 6 {
			t.Errorf("%d loads in five seconds, want one a second", n)
		}
		s.put(stamp, plan.Plan{Name: "pro", Ver: 2})
		time.Sleep(2 * time.Second)
		if e, _ := asking(t, c); e.Plan.Ver != 2 || e.Plan.Stamp != stamp {
			t.Errorf("%+v, want the new version", e)
		}
		s.took()
		for range 20 { // the change is in the window for two minutes
			time.Sleep(time.Second)
			asking(t, c)
		}
		wantCalls(t, s, 0)
	})
}

// TestChangeDuringALoad: what was read before the feed told of a change is not taken
// for what it is after it.
func TestChangeDuringALoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeSource()
		c := followed(t, s)
		time.Sleep(2500 * time.Millisecond)
		asking(t, c)
		old := s.suspend()
		asking(t, c)
		time.Sleep(time.Second)
		loading := make(chan struct{})
		var before plan.Tenant
		c.tenants.load = func(ctx context.Context, id string) (*holder, error) {
			before, _ = s.Tenant(ctx, id)
			close(loading)
			time.Sleep(20 * time.Millisecond)
			return &holder{tenant: before}, nil
		}
		asking(t, c)                                         // begins a look, which finds the first change
		go c.ByCredential(t.Context(), clock(), HashOf("k")) // loads it
		<-loading
		c.tenants.load = holders(s)
		stamp := s.suspend()
		c.apply(clock(), []Change{{TenantChanged, "acme", stamp}}, false)
		time.Sleep(20 * time.Millisecond)
		synctest.Wait()
		if before.Stamp != old {
			t.Fatalf("stamp %d was loaded, want %d", before.Stamp, old)
		}
		if e, _ := asking(t, c); e.Tenant.Stamp != stamp {
			t.Errorf("stamp %d, want %d", e.Tenant.Stamp, stamp)
		}
	})
}

// TestFeedOutOfOrder: a change comes into sight after newer ones.
func TestFeedOutOfOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeSource()
		c := followed(t, s)
		time.Sleep(3 * time.Second)
		late := s.suspend()
		s.change(func() { s.hidden = map[int64]bool{late: true} })
		time.Sleep(30 * time.Second)
		newer := clock() &^ 1
		s.tell(PlanChanged, "other", newer)
		if e, _ := asking(t, c); e.Tenant.Suspended {
			t.Fatal("the change is honoured although it is not in sight")
		}
		s.change(func() { s.hidden = nil })
		time.Sleep(2 * time.Second)
		if e, _ := asking(t, c); e.Tenant.Stamp != late {
			t.Errorf("stamp %d, want %d", e.Tenant.Stamp, late)
		}
	})
}

// TestManyChangesAtOnce: ten thousand tenants change at once. None is loaded until
// it is asked for, each is honoured, and when that is done it is done.
func TestManyChangesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 10_000
		s := newFakeSource()
		id := func(i int) string { return fmt.Sprint("t", i) }
		for i := range n {
			s.credentials[HashOf(id(i))] = Credential{Tenant: id(i)}
			s.tenants[id(i)] = plan.Tenant{ID: id(i), Plan: "pro"}
		}
		o := quiet()
		o.Feed = s
		c := NewCached(s, o)
		for i := range n {
			lookup(t, c, clock(), id(i))
		}
		time.Sleep(3 * time.Second)
		stamp := clock() &^ 1
		for i := range n {
			s.put(stamp+2*int64(i), plan.Tenant{ID: id(i), Plan: "pro", Suspended: true})
			s.tell(TenantChanged, id(i), stamp+2*int64(i))
		}
		s.took()
		lookup(t, c, clock(), id(0))
		synctest.Wait()
		wantCalls(t, s, 3) // itself, its credential and the plan
		for _, i := range []int{1, n / 2, n - 1} {
			if e := lookup(t, c, clock(), id(i)); !e.Tenant.Suspended {
				t.Errorf("the change of tenant %d is not honoured", i)
			}
		}
		wantCalls(t, s, 6)
		time.Sleep(10 * time.Second)
		lookup(t, c, clock(), id(1))
		synctest.Wait()
		s.took()
		for range 30 { // the flood is in sight for two minutes
			time.Sleep(time.Second)
			lookup(t, c, clock(), id(1))
			synctest.Wait()
		}
		wantCalls(t, s, 0)
		for i := range n {
			if e := lookup(t, c, clock(), id(i)); !e.Tenant.Suspended {
				t.Fatalf("the change of tenant %d is not honoured", i)
			}
		}
	})
}

// TestCredentialsFollow: one that was unknown is known, and one that is revoked is
// nobody's, within the same two seconds.
func TestCredentialsFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeSource()
		c := followed(t, s)
		h := HashOf("new")
		if _, err := c.ByCredential(t.Context(), clock(), h); !errors.Is(err, ErrUnknown) {
			t.Fatal(err)
		}
		set := func(cr Credential) {
			cr.Stamp = clock() &^ 1
			s.change(func() { s.credentials[h] = cr })
			s.tell(CredentialChanged, hex.EncodeToString(h[:]), cr.Stamp)
			s.tell(CredentialChanged, "no hash", cr.Stamp)
			s.tell("home", "eu-west-1", cr.Stamp)
			time.Sleep(2 * time.Second)
		}
		set(Credential{Tenant: "acme"})
		if e, err := c.ByCredential(t.Context(), clock(), h); err != nil || e.Tenant.ID != "acme" {
			t.Errorf("created: %+v, %v", e, err)
		}
		set(Credential{Tenant: "acme", Revoked: true})
		if e, err := c.ByCredential(t.Context(), clock(), h); !errors.Is(err, ErrUnknown) || c.Remembers(clock(), h) {
			t.Errorf("revoked: %+v, %v", e, err)
		}
	})
}

// TestAnonymousFollows: the plan of requests without a credential is live as well.
func TestAnonymousFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeSource()
		o := quiet()
		o.Feed, o.Anonymous = s, "pro"
		c := NewCached(s, o)
		if _, err := c.Anonymous(t.Context(), clock()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		stamp := clock() &^ 1
		s.put(stamp, plan.Plan{Name: "pro", Ver: 2})
		s.tell(PlanChanged, "pro", stamp)
		if e, err := c.Anonymous(t.Context(), clock()); err != nil || e.Plan.Stamp != stamp || e.Plan.Ver != 2 {
			t.Errorf("%+v, %v", e, err)
		}
	})
}

// TestClockSetBack: a clock that jumps costs a look, and stops none.
func TestFollowClockSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeSource()
		c := followed(t, s)
		hour := int64(time.Hour)
		time.Sleep(3 * time.Second)
		asking(t, c)
		s.change(func() { s.changes = make([]Change, 2*mostChanges) })
		for i := range s.changes {
			s.changes[i] = Change{TenantChanged, fmt.Sprint("t", i), clock() + int64(2*i)}
		}
		time.Sleep(3 * time.Second)
		asking(t, c) // after which everything is to be loaded anew
		s.took()
		s.looked()
		for range 100 {
			lookup(t, c, clock()-hour, "k")
			synctest.Wait()
			time.Sleep(10 * time.Millisecond)
		}
		if n := s.looked(); n < 1 || n > 2 {
			t.Errorf("%d looks in a second", n)
		}
		wantCalls(t, s, 3)
		stamp := s.suspend()
		time.Sleep(2 * time.Second)
		if e := lookup(t, c, clock()-hour, "k"); e.Tenant.Stamp != stamp {
			t.Errorf("stamp %d, want %d", e.Tenant.Stamp, stamp)
		}
	})
}

// TestFollowedByMany has requests, looks, changes and rows that show them all at the
// same time, for the race detector.
func TestFollowedByMany(t *testing.T) {
	s := newFakeSource()
	o := quiet()
	o.Feed = s
	c := NewCached(s, o)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 500 {
				now := at(time.Duration(i) * 20 * time.Millisecond)
				if g == 0 && i%10 == 0 {
					s.put(now&^1, plan.Tenant{ID: "acme", Plan: "pro", Overrides: plan.Overrides{Mode: plan.Mode(i / 10 % 3)}})
					s.put(now&^1+2, plan.Plan{Name: "pro"})
					s.tell(TenantChanged, "acme", now&^1)
					s.tell(PlanChanged, "pro", now&^1+2)
				}
				e, err := c.ByCredential(t.Context(), now, HashOf("k"))
				if err != nil || e.Plan.Name != "pro" || e.Ver == 0 {
					t.Errorf("%+v, %v", e, err)
				}
				c.Seen(now, "acme", "pro", e.Ver+2)
				c.Remembers(now, HashOf("k"))
			}
		})
	}
	wg.Wait()
}

func TestFollowingAllocatesNothing(t *testing.T) {
	s := newFakeSource()
	s.put(40, plan.Plan{Name: "pro", Limits: []plan.Limit{{Name: "api"}}, Next: &plan.Rollout{Plan: &plan.Plan{}, From: 7}})
	s.put(40, plan.Tenant{ID: "acme", Plan: "pro", Overrides: plan.Overrides{Mode: plan.Shadow}})
	o := quiet()
	o.Feed = s
	c := NewCached(s, o)
	ctx, h := t.Context(), HashOf("k")
	if e := lookup(t, c, t0, "k"); e.Plan == s.plans["pro"] {
		t.Fatal("the plan is not a tenant's own")
	}
	if n := testing.AllocsPerRun(100, func() { c.ByCredential(ctx, t0, h) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
