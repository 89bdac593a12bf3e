package telemetry

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// record makes n decisions by a tenant, apart, and waits for lines to be written.
func record(r *Recorder, now int64, n int, apart time.Duration, d Decision) int64 {
	for range n {
		now += int64(apart)
		d.Now = now
		r.Record(&d)
	}
	synctest.Wait()
	return now
}

var fine = Decision{Tenant: "acme", Plan: "pro", Limit: "api", Source: Memory}

// TestOncePerInterval: lines are written when an interval is over, not before, and
// bear the time of what they count.
func TestOncePerInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCloudWatch(t)
		r := New(Options{Out: c, Region: "eu-west-1"})
		now := record(r, t0, 599, 100*time.Millisecond, fine) // to 59.9 s
		if len(c.writes) != 0 {
			t.Fatalf("%d writes within an interval, want none", len(c.writes))
		}
		record(r, now, 600, 100*time.Millisecond, fine)
		if len(c.writes) != 1 {
			t.Fatalf("%d writes, want one for an interval", len(c.writes))
		}
		c.read()
		if got := c.sum("Decisions"); got != 599 {
			t.Errorf("%d decisions in the first interval, want 599", got)
		}
		want := []int64{(t0 + 59_900_000_000) / 1e6}
		if at := slices.Compact(c.at); !slices.Equal(at, want) {
			t.Errorf("lines of %v, want all of %v", at, want)
		}
		if got, want := c.sum("LeaseHits"), int64(599); got != want {
			t.Errorf("LeaseHits %d, want %d", got, want)
		}
	})
}

// TestFrozen: what was counted before a freeze bears its own time, and the first
// decision after it is not in it.
func TestFrozen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCloudWatch(t)
		r := New(Options{Out: c, Region: "eu-west-1"})
		record(r, t0+10*second, 1, 0, fine)
		thaw := record(r, t0+3600*second, 1, 0, fine)
		c.read()
		if at := slices.Compact(c.at); c.sum("Decisions") != 1 || !slices.Equal(at, []int64{(t0 + 10*second) / 1e6}) {
			t.Errorf("%d decisions at %v, want that from before the freeze, at its time", c.sum("Decisions"), at)
		}
		r.Flush(thaw + second)
		c.at = nil
		c.read()
		if at := slices.Compact(c.at); c.sum("Decisions") != 2 || !slices.Equal(at, []int64{(t0 + 3600*second) / 1e6}) {
			t.Errorf("%d decisions at %v, want the other too, at its time", c.sum("Decisions"), at)
		}
		c.at = nil
		r.Flush(thaw + 2*second)
		if c.read(); len(c.at) != 0 {
			t.Errorf("a flush with nothing to write wrote %d lines", len(c.at))
		}
	})
}

// TestClockSetBack: lines go on after the clock was set back by an hour.
func TestClockSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCloudWatch(t)
		r := New(Options{Out: c, Region: "eu-west-1"})
		record(r, t0+3600*second, 10, time.Second, fine)
		now := t0
		for range 130 {
			now = record(r, now, 1, time.Second, fine)
		}
		if got := c.read().sum("Decisions"); got < 10+119 {
			t.Errorf("%d decisions written two minutes later, want those of the first hour and of two intervals", got)
		}
	})
}

// TestMostDecisions: many decisions are not kept for a whole interval.
func TestMostDecisions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCloudWatch(t)
		r := New(Options{Out: c, Region: "eu-west-1", MostDecisions: 10_000})
		now := t0
		for range 300 {
			now = record(r, now, 100, time.Millisecond, fine)
		}
		r.Flush(now)
		if n := len(c.writes); n < 3 || n > 5 {
			t.Errorf("30,000 decisions in half an interval, of which 10,000 are the most: %d writes", n)
		}
		if got := c.read().sum("Decisions"); got != 30_000 {
			t.Errorf("%d decisions, want 30000", got)
		}
	})
}

// TestAtMostOnceASecond, whatever happens.
func TestAtMostOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCloudWatch(t)
		r := New(Options{Out: c, Region: "eu-west-1", Interval: time.Second, MostDecisions: 10})
		var at []int64
		now := t0 + 3
		for i := range 20_000 {
			d := fine
			d.Blind = i%2 == 0
			d.Source = Store
			now = record(r, now, 1, time.Millisecond, d)
			if i%7 == 0 {
				r.Hurry(now)
			}
			if n := len(c.writes); n > len(at) {
				at = append(at, now)
			}
		}
		for i := 1; i < len(at); i++ {
			if apart := at[i] - at[i-1]; apart < second {
				t.Fatalf("writes %v apart", time.Duration(apart))
			}
		}
		if len(at) < 18 {
			t.Errorf("%d writes in 20 s, want about one a second", len(at))
		}
	})
}

// TestSoftLimitMode: lines say within a second that limits follow their failure
// policy, and that they no longer do.
func TestSoftLimitMode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCloudWatch(t)
		r := New(Options{Out: c, Region: "eu-west-1"})
		mode := func() datum {
			t.Helper()
			delete(c.data, "SoftLimitMode")
			return c.read().get("SoftLimitMode")
		}
		stored := fine
		stored.Source = Store
		blind := Decision{Tenant: "acme", Plan: "pro", Limit: "api", Source: Policy, Reason: Unchecked, Blind: true}

		now := record(r, t0+5*second, 100, time.Millisecond, stored)
		now = record(r, now, 1, time.Millisecond, blind)
		if m := mode(); m.max != 1 || m.min != 1 {
			t.Fatalf("after the first decision without a bucket: %+v, want 1", m)
		}
		now = record(r, now, 500, 10*time.Millisecond, blind)
		now = record(r, now, 3, 100*time.Millisecond, stored) // now and then one succeeds
		now = record(r, now, 1, 100*time.Millisecond, blind)
		if m := mode(); m.samples != 0 {
			t.Fatalf("while it lasts, within an interval: %+v, want nothing new", m)
		}
		now = record(r, now, 11, 100*time.Millisecond, stored)
		if m := mode(); m.samples == 0 || m.min != 0 {
			t.Fatalf("a second after the last decision without a bucket: %+v, want it to end", m)
		}
		record(r, now+minute, 2, time.Minute, stored)
		if m := mode(); m.samples == 0 || m.max != 0 {
			t.Errorf("an interval later: %+v, want 0", m)
		}
	})
}

// blocked never takes anything.
type blocked struct{ until chan struct{} }

func (b blocked) Write(p []byte) (int, error) {
	<-b.until
	return len(p), nil
}

// TestBlockedOutput: a standard output that takes nothing holds up no decision, and
// what is counted meanwhile takes no more memory.
func TestBlockedOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := blocked{make(chan struct{})}
		r := New(Options{Out: b, Region: "eu-west-1"})
		now := t0
		for i := range 12_000 {
			d := fine
			d.Now, d.Tenant = now, fmt.Sprint("t-", i)
			r.Record(&d)
			if i%40 == 39 {
				now += minute
				synctest.Wait() // returns while the writer is blocked
			}
		}
		for i := range r.stripes {
			s := &r.stripes[i]
			names := 0
			for _, w := range s.closed {
				names += len(w.tenants)
			}
			if len(s.closed) > maxClosed || names > maxClosed*maxNames {
				t.Errorf("%d intervals with %d names wait", len(s.closed), names)
			}
		}
		close(b.until)
		synctest.Wait()
		r.Flush(now)
		if s := r.Snapshot(now); s.Total() != 12_000 {
			t.Errorf("%d decisions, want 12000", s.Total())
		}
	})
}

// TestNoAllocation: a decision from memory is counted without.
func TestNoAllocation(t *testing.T) {
	r := New(Options{Out: newCloudWatch(t), Region: "eu-west-1"})
	d := fine
	d.Now = t0
	if n := testing.AllocsPerRun(1000, func() { r.Record(&d); d.Now += 1000 }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
