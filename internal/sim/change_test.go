package sim_test

import (
	"strings"
	"testing"
	"time"

	"weir/internal/sim"
	"weir/pkg/bucket"
)

var carries = []bucket.Carry{bucket.Proportional, bucket.AsIs, bucket.Additive, bucket.Reset}

const changeAt = 20 * time.Second

// changes is a run in which the limit changes from 100/s after 20 s.
func changes(regions int, offered float64, to bucket.Rate, burst int64, carry bucket.Carry) sim.Scenario {
	s := global(offered)
	s.Regions, s.For = regions, 45*time.Second
	s.Changes = []sim.Change{{At: changeAt, Rate: to, Burst: burst, Carry: carry}}
	return s
}

func perSecond(n int64) bucket.Rate { return bucket.Rate{Count: n, Period: time.Second} }

// In one Region a limit changes for everybody at once, and the bucket is the ideal
// one before and after: nothing is reset, by any mode.
func TestChangeInOneRegion(t *testing.T) {
	for _, carry := range carries {
		for _, offered := range []float64{0.95, 3} {
			for _, to := range []struct {
				rate  bucket.Rate
				burst int64
			}{
				{perSecond(200), 200}, {perSecond(10), 10}, {perSecond(100), 1000}, {perSecond(100), 10},
				{bucket.Rate{Count: 100, Period: time.Minute}, 100}, {perSecond(7), 3},
			} {
				s := changes(1, offered, to.rate, to.burst, carry)
				if r := run(t, s); r.Admitted != r.Ideal || r.FalseRefusals != 0 || r.OvershootMax > 0 {
					t.Errorf("admitted %d, ideal %d, %d false, overshoot %d; want the ideal bucket\n%s", r.Admitted, r.Ideal, r.FalseRefusals, r.OvershootMax, r.Command)
				}
				// With leases: what processes hold is spent after the change too.
				s.Processes = 5
				r := run(t, s)
				_, admitted, ideal := r.Between(changeAt, s.For)
				held := 5 * (100/12 + 1)
				if off := admitted - ideal; off > held || off < -held-ideal/50 {
					t.Errorf("%d admitted after the change, ideal %d, at most %d in leases\n%s", admitted, ideal, held, r.Command)
				}
			}
		}
	}
}

// A tenant that stays below its limits is never refused, whichever way they change.
func TestChangeBelowTheLimits(t *testing.T) {
	for _, regions := range []int{1, 2, 3} {
		for _, carry := range carries {
			for _, spread := range []time.Duration{0, 3 * time.Second} {
				s := changes(regions, 0.45, perSecond(200), 200, carry)
				s.Spread = spread
				s.Changes = append(s.Changes, sim.Change{At: 40 * time.Second, Rate: perSecond(80), Burst: 80, Carry: carry})
				falseRefusals(t, run(t, s), 0)
				s.Processes = 3
				falseRefusals(t, run(t, s), 0)
			}
		}
	}
}

// While a change spreads, Regions merge rows of two limits. What is admitted too
// much is what a Region that has not heard yet admits, and what any change of load
// costs in several Regions; ten seconds later they are one bucket of the new limit.
func TestChangeInSeveralRegions(t *testing.T) {
	for _, regions := range []int{2, 3} {
		for seed := range seeds {
			for _, tt := range []struct {
				offered float64
				rate    int64
			}{{3, 200}, {3, 10}, {0.9, 50}, {8, 400}} {
				for _, spread := range []time.Duration{0, 3 * time.Second} {
					for _, processes := range []int{0, 4} {
						s := changes(regions, tt.offered, perSecond(tt.rate), tt.rate, bucket.Proportional)
						s.Seed, s.Spread, s.Processes = uint64(seed+1), spread, processes
						r := run(t, s)
						_, admitted, ideal := r.Between(changeAt, changeAt+10*time.Second)
						most := ideal + (regions-1)*int(max(100, tt.rate)) + int(spread.Seconds())*100
						if admitted > most || admitted < ideal/2 {
							t.Errorf("%d admitted in the 10 s after the change, ideal %d, want at most %d\n%s", admitted, ideal, most, r.Command)
						}
						_, admitted, ideal = r.Between(changeAt+10*time.Second, s.For)
						if x := float64(admitted) / float64(ideal); x < 0.92 || x > 1.08 {
							t.Errorf("%d admitted after that, ideal %d: %.3f\n%s", admitted, ideal, x, r.Command)
						}
					}
				}
			}
		}
	}
}

func TestChangesAreValidated(t *testing.T) {
	s := changes(2, 1, perSecond(10), 10, bucket.Proportional)
	s.Changes = append(s.Changes, sim.Change{At: 10 * time.Second, Rate: perSecond(1)})
	s.Policy, s.Spread = sim.Prealloc, -time.Second
	err := s.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"change at 10s", "burst", "prealloc", "spread"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not among\n%v", want, err)
		}
	}
}

func TestCommandHasTheChanges(t *testing.T) {
	s := changes(2, 1, bucket.Rate{Count: 10, Period: time.Minute}, 40, bucket.AsIs)
	s.Spread = 2 * time.Second
	for _, want := range []string{"--change 20s,10/m,40,as-is", "--spread 2s"} {
		if got := s.Command(); !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}
