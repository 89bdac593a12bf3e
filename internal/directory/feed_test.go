package directory

import (
	"testing"
	"time"
)

func changesOf(stamps ...int64) []Change {
	all := make([]Change, len(stamps))
	for i, s := range stamps {
		all[i] = Change{TenantChanged, "t", s}
	}
	return all
}

// TestLedgerLooksBack: from the newest entry, whatever the time of who made it, and
// while older ones may still come into sight.
func TestLedgerLooksBack(t *testing.T) {
	for name, stamp := range map[string]int64{"now": t0, "by a slow clock": t0 - int64(time.Hour), "by a fast clock": t0 + int64(time.Hour)} {
		var l ledger
		if got := l.since(t0); got != 0 {
			t.Errorf("%s: first look since %d, want 0", name, got)
		}
		if l.read(t0, changesOf(stamp-7, stamp), false) {
			t.Errorf("%s: a look that names everything is said not to", name)
		}
		for _, tt := range []struct {
			at   time.Duration
			want int64
		}{{time.Second, stamp - window}, {2 * time.Minute, stamp - window}, {2*time.Minute + 1, stamp}, {time.Hour, stamp}, {-time.Hour, stamp - window}} {
			if got := l.since(at(tt.at)); got != tt.want {
				t.Errorf("%s: after %v it looks since %d, want %d", name, tt.at, got-stamp, tt.want-stamp)
			}
		}
		l.read(at(time.Hour), nil, false)
		if got := l.since(at(time.Hour)); got != stamp {
			t.Errorf("%s: an empty look changes where it looks: %d", name, got)
		}
	}
}

// TestLedgerOfAFlood: where entries are left out, everything is to be read anew;
// but not for what was read anew before.
func TestLedgerOfAFlood(t *testing.T) {
	var l ledger
	step := func(at time.Duration, want bool, more bool, stamps ...int64) {
		t.Helper()
		if got := l.read(t0+int64(at), changesOf(stamps...), more); got != want {
			t.Errorf("at %v: everything anew is %v, want %v", at, got, want)
		}
	}
	old := t0 - int64(time.Hour)
	step(0, false, true, old, old-2)                      // a long history is none of ours
	step(time.Second, false, false, old+4)                // all of it
	step(2*time.Second, false, true, old+8, old+6, old+4) // what is left out was read before
	step(3*time.Second, true, true, old+20, old+18)       // between 8 and 18 there may be others
	step(4*time.Second, true, true, old+20, old+18)       // they may not have replicated yet
	step(6*time.Second, true, true, old+20, old+18)
	step(7*time.Second, false, true, old+20, old+18)
	step(8*time.Second, false, true, old+22, old+20)
	step(9*time.Second, true, true, old+40, old+38)
	step(10*time.Second, false, false, old+40) // nothing is left out

	var fresh ledger // of a process that starts in the middle of one
	if !fresh.read(t0, changesOf(t0, t0-2), true) {
		t.Error("the first look finds a flood, and nothing is read anew")
	}
}
