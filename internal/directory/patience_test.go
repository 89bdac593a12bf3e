package directory

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestCachedPatience: what is not very old is served without much waiting; for
// what is, one request waits as long as for an unknown caller, and then again not
// for a while.
func TestCachedPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeSource()
		c := NewCached(s, quiet())
		lookup(t, c, at(0), "k")
		slow := func(context.Context) error { return nil }
		s.change(func() {
			s.before = func(ctx context.Context) error { return slow(ctx) }
		})
		asked := func(now time.Duration, wantStale bool, wantWait time.Duration) {
			t.Helper()
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			e, err := c.ByCredential(ctx, at(now), HashOf("k"))
			if err != nil {
				t.Fatalf("at %v: %v", now, err)
			}
			if wait := time.Since(began); e.Stale != wantStale || wait != wantWait {
				t.Errorf("at %v: stale %t after %v, want %t after %v", now, e.Stale, wait, wantStale, wantWait)
			}
		}
		hangs := func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}
		answersLate := func(ctx context.Context) error {
			select {
			case <-time.After(200 * time.Millisecond):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		const hasty = 25 * time.Millisecond
		slow = hangs
		asked(9*time.Minute, true, hasty)
		asked(10*time.Minute, true, time.Second)
		asked(19*time.Minute, true, hasty)
		slow = answersLate
		asked(20*time.Minute-1, true, hasty)
		asked(20*time.Minute+5*time.Second, false, 600*time.Millisecond)
		asked(21*time.Minute+5*time.Second, true, hasty)
	})
}
