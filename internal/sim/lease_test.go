package sim_test

import (
	"testing"
	"time"

	"weir/internal/sim"
	"weir/pkg/bucket"
)

// busy is ten processes a Region on 1000/s, burst 1000.
func busy(regions int, offered float64) sim.Scenario {
	s := global(offered)
	s.Regions, s.Processes = regions, 10
	s.Rate, s.Burst = bucket.Rate{Count: 1000, Period: time.Second}, 1000
	s.For = 2 * time.Minute
	return s
}

func TestCallsInOneRegion(t *testing.T) {
	for _, zipf := range []bool{false, true} {
		for _, tt := range []struct{ offered, calls, refused float64 }{
			{0.5, 20, 0}, {0.9, 15, 0}, {1.2, 60, 0}, {3, 28, 0}, {10, 9, 10},
		} {
			s := busy(1, tt.offered)
			s.Zipf = zipf
			r := run(t, s)
			within(t, r, 0.995, 1)
			if r.WorstWindow > 1 {
				t.Errorf("worst window %.3f\n%s", r.WorstWindow, r.Command)
			}
			if tt.calls > 0 && r.StoreCallsPer1000 > tt.calls {
				t.Errorf("%.1f calls per 1000, want at most %v\n%s", r.StoreCallsPer1000, tt.calls, r.Command)
			}
			if tt.refused > 0 && r.StoreCallsPer1000Refused > tt.refused {
				t.Errorf("%.1f calls per 1000 refused, want at most %v\n%s", r.StoreCallsPer1000Refused, tt.refused, r.Command)
			}
		}
	}
}

func TestCallsInThreeRegions(t *testing.T) {
	for _, tt := range []struct{ offered, calls float64 }{{0.5, 48}, {0.9, 31}, {1.2, 104}, {3, 38}, {10, 12}} {
		r := run(t, busy(3, tt.offered))
		within(t, r, 0.995, 1.03)
		if r.WorstWindow > 1.08 {
			t.Errorf("worst window %.3f\n%s", r.WorstWindow, r.Command)
		}
		if r.StoreCallsPer1000 > tt.calls {
			t.Errorf("%.1f calls per 1000, want at most %v\n%s", r.StoreCallsPer1000, tt.calls, r.Command)
		}
	}
}

// A row takes a thousand writes a second; a tenant of 10,000/s on fifty processes
// must not come near that.
func TestHotRow(t *testing.T) {
	for _, offered := range []float64{0.9, 3} {
		s := busy(1, offered)
		s.Rate.Count, s.Burst, s.Processes, s.For = 10_000, 10_000, 50, 30*time.Second
		r := run(t, s)
		if perSecond := r.WriteUnits / s.For.Seconds(); perSecond > 300 {
			t.Errorf("%.0f writes a second\n%s", perSecond, r.Command)
		}
		within(t, r, 0.985, 1) // what is left in leases at the end is 1 % of 30 s
	}
}

// Twenty cold processes, that serve a request or two and then nothing:
// pre-allocation takes tokens away that nobody spends, leases by demand next to none.
func TestColdProcessesStrandNothing(t *testing.T) {
	s := busy(1, 1)
	s.Rate.Count, s.Burst, s.Processes, s.For = 200, 200, 20, 2*time.Second
	for i := range 20 {
		s.Log = append(s.Log, sim.LogEntry{At: time.Duration(i) * 10 * time.Millisecond})
	}
	// A process that is asked a second time at once takes one token for a third.
	if r := run(t, s); r.Stranded > 10 || r.FalseRefusals != 0 {
		t.Errorf("%d tokens stranded, %d refused falsely\n%s", r.Stranded, r.FalseRefusals, r.Command)
	}
	s.Policy = sim.Prealloc
	if r := run(t, s); r.Stranded < 150 {
		t.Errorf("pre-allocation strands %d of 200; its failure is not visible", r.Stranded)
	}
}
