package directory

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"weir/internal/plan"
)

// TestAge: of the last look that succeeded.
func TestAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeSource()
		o := quiet()
		if _, ok := NewCached(s, o).Age(clock()); ok {
			t.Error("without a feed there is an age")
		}
		o.Feed = s
		c := NewCached(s, o)
		if _, ok := c.Age(clock()); ok {
			t.Error("before the first request there is an age")
		}
		age := func(want time.Duration) {
			t.Helper()
			if got, ok := c.Age(clock()); !ok || got != want {
				t.Errorf("age %v, %t; want %v", got, ok, want)
			}
		}
		asking(t, c)
		age(0)
		time.Sleep(700 * time.Millisecond)
		asking(t, c)
		age(700 * time.Millisecond) // not looked at again yet
		time.Sleep(400 * time.Millisecond)
		asking(t, c)
		age(0)
		s.change(func() { s.beforeLook = func(context.Context) error { return errors.New("down") } })
		for range 30 {
			time.Sleep(time.Second)
			asking(t, c)
		}
		age(30 * time.Second)
	})
}

// TestReplaced: for how long what had been changed was served on. What nobody asked
// for in the meantime was not.
func TestReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeSource()
		o := quiet()
		o.Feed = s
		var told []time.Duration
		o.Replaced = func(late time.Duration) { told = append(told, late) }
		c := NewCached(s, o)
		asking(t, c)

		s.suspend()
		for range 30 {
			time.Sleep(100 * time.Millisecond)
			asking(t, c)
		}
		if len(told) != 1 || told[0] < 500*time.Millisecond || told[0] > 1200*time.Millisecond {
			t.Errorf("a busy process: told %v, want about a second", told)
		}

		told = nil
		s.suspend()
		time.Sleep(10 * time.Minute) // frozen
		asking(t, c)
		if len(told) != 1 || told[0] != 0 {
			t.Errorf("a process that was frozen: told %v, want 0", told)
		}

		told = nil
		s.change(func() { s.tenants["acme"] = plan.Tenant{ID: "acme", Plan: "pro"} }) // without a stamp
		time.Sleep(10 * time.Minute)
		asking(t, c)
		if len(told) != 0 {
			t.Errorf("what has no stamp: told %v", told)
		}
	})
}
