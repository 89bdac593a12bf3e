package sim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"weir/internal/sim"
)

// With one Region there is nothing to merge: the limiter is the ideal bucket.
func TestOneRegionIsThePlainBucket(t *testing.T) {
	for _, offered := range []float64{0.5, 1, 3} {
		s := global(offered)
		s.Regions = 1
		r := run(t, s)
		if r.Admitted != r.Ideal || r.FalseRefusals != 0 || r.OvershootMax > 0 {
			t.Errorf("admitted %d, ideal %d, %d false, overshoot %d; want the ideal bucket\n%s", r.Admitted, r.Ideal, r.FalseRefusals, r.OvershootMax, r.Command)
		}
		if r.Regions[0].Queries != 0 {
			t.Errorf("%d queries by a single Region, want none", r.Regions[0].Queries)
		}
	}
}

// One active Region of three is the plain bucket too.
func TestOneActiveRegionIsThePlainBucket(t *testing.T) {
	s := global(3)
	s.Split = []float64{0, 1, 0}
	r := run(t, s)
	if r.Admitted != r.Ideal || r.FalseRefusals != 0 {
		t.Errorf("admitted %d, ideal %d, %d false\n%s", r.Admitted, r.Ideal, r.FalseRefusals, r.Command)
	}
}

func TestMovingTrafficIsNeverRefusedFalsely(t *testing.T) {
	for seed := range seeds {
		s := global(0.95)
		s.Shape, s.Seed = sim.Moving, uint64(seed+1)
		r := run(t, s)
		within(t, r, 0.999, 1.001)
		falseRefusals(t, r, 0)
	}
}

func TestBurstsBesideASaturatedRegion(t *testing.T) {
	for _, every := range []time.Duration{3 * time.Second, 7 * time.Second, 20 * time.Second} {
		s := global(1.2)
		s.Shape, s.Every = sim.Bursts, every
		within(t, run(t, s), 0.99, 1.012)
	}
}

// A Region that was silent for long and comes back neither starves nor floods.
func TestSilentRegion(t *testing.T) {
	for _, offered := range []float64{0.9, 1.5, 3} {
		s := global(offered)
		s.Shape = sim.Silent
		within(t, run(t, s), 0.995, 1.01)
	}
	for seed := range seeds {
		s := global(3)
		s.Shape, s.Seed = sim.Silent, uint64(seed+1)
		s.For, s.Back = 2*time.Hour+2*time.Minute, 2*time.Hour
		s.Rate.Count, s.Burst = 5, 5 // two hours of 100/s would be long
		r := run(t, s)
		_, admitted, ideal := r.Between(s.Back, s.For)
		if ratio := float64(admitted) / float64(ideal); ratio > 1.02 || ratio < 0.98 {
			t.Errorf("after hours of silence: %.3f\n%s", ratio, r.Command)
		}
	}
}

func TestCuts(t *testing.T) {
	for _, length := range []time.Duration{3 * time.Second, 6 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute} {
		for seed := range seeds {
			for _, offered := range []float64{0.6, 0.9} {
				s := global(offered)
				s.Seed, s.Cuts = uint64(seed+1), []sim.Cut{{From: 40 * time.Second, To: 40*time.Second + length}}
				falseRefusals(t, run(t, s), 0.003)
			}
		}
	}
}

// While nothing can be known, three saturated Regions admit three times the
// rate; ten seconds after healing they are one bucket again.
func TestSaturatedCutHeals(t *testing.T) {
	s := global(3)
	s.For, s.Cuts = 3*time.Minute, []sim.Cut{{From: 40 * time.Second, To: 100 * time.Second}}
	r := run(t, s)
	_, during, ideal := r.Between(40*time.Second, 100*time.Second)
	if x := float64(during) / float64(ideal); x < 2 {
		t.Errorf("during the cut %.2f: the scenario cuts nothing", x)
	}
	for from := 110 * time.Second; from < s.For; from += 10 * time.Second {
		if _, n, _ := r.Between(from, from+10*time.Second); n > 1050+100 {
			t.Errorf("%d admitted in the 10 s from %v, want at most 1.05 of the rate and a burst\n%s", n, from, r.Command)
		}
	}
	if _, n, ideal := r.Between(110*time.Second, s.For); float64(n) > 1.05*float64(ideal) {
		t.Errorf("%d admitted after healing, ideal %d\n%s", n, ideal, r.Command)
	}
}

func TestSharesDuringACut(t *testing.T) {
	s := global(3)
	s.OnPartition, s.Cuts = "share", []sim.Cut{{From: 40 * time.Second, To: 100 * time.Second}}
	r := run(t, s)
	_, during, ideal := r.Between(50*time.Second, 100*time.Second)
	if x := float64(during) / float64(ideal); x > 1.05 || x < 0.95 {
		t.Errorf("during the cut %.3f of the rate, want 0.95 to 1.05\n%s", x, r.Command)
	}
	s.OnPartition = "serve"
	_, during, ideal = run(t, s).Between(50*time.Second, 100*time.Second)
	if x := float64(during) / float64(ideal); x < 2.5 {
		t.Errorf("without share %.3f of the rate: the difference is not visible", x)
	}
}

func TestSkew(t *testing.T) {
	for _, skew := range []time.Duration{3 * time.Second, -3 * time.Second, 10 * time.Second, -10 * time.Second} {
		s := global(0.9)
		s.Skew = []time.Duration{skew, 0, 0}
		r := run(t, s)
		within(t, r, 0.96, 1.001)
		for _, x := range r.Regions[1:] {
			if float64(x.Admitted) < 0.999*float64(x.Offered) {
				t.Errorf("skew %v: %s served %d of %d, want all\n%s", skew, x.Name, x.Admitted, x.Offered, r.Command)
			}
		}
		// The lag hides a part of it.
		if seen := time.Duration(r.SkewSeenMs) * time.Millisecond; seen < skew.Abs()-2*s.Lag || seen > skew.Abs() {
			t.Errorf("skew %v reported as %v", skew, seen)
		}
		s.Offered = 3
		within(t, run(t, s), 0.97, 1.20)
	}
}

// The ways of sharing that do not work, so that the difference is visible.
func TestBaselines(t *testing.T) {
	s := global(3)
	s.Policy = sim.Alone
	within(t, run(t, s), 2.8, 3.1)
	s.Policy = sim.LWW
	r := run(t, s)
	within(t, r, 1.5, 3.1)
	if lost := int64(r.Admitted) - r.Regions[0].Spent; lost < int64(r.Admitted)/4 {
		t.Errorf("last writer wins lost %d of %d charges; its loss is not visible", lost, r.Admitted)
	}
	s.Policy, s.Split = sim.Share, []float64{80, 15, 5}
	s.Offered = 1
	if r := run(t, s); float64(r.FalseRefusals) < 0.2*float64(r.Offered) {
		t.Errorf("static shares refused only %d of %d falsely", r.FalseRefusals, r.Offered)
	}
}

// What Regions charge is what they admit: nothing is lost, however it replicates.
func TestNothingIsLost(t *testing.T) {
	s := global(3)
	s.Lag, s.Coalesce = 2*time.Second, 500*time.Millisecond
	s.Cuts = []sim.Cut{{From: 20 * time.Second, To: 40 * time.Second, Region: 2}}
	r := run(t, s)
	spent := int64(0)
	for _, x := range r.Regions {
		spent += x.Spent
	}
	if spent != int64(r.Admitted) {
		t.Errorf("%d spent by the rows, %d admitted\n%s", spent, r.Admitted, r.Command)
	}
}

func TestSameSeedSameRun(t *testing.T) {
	s := global(1.5)
	s.Processes, s.Churn, s.Zipf = 5, 20*time.Second, true
	a, b := run(t, s), run(t, s)
	if fmt.Sprint(a.Regions, a.Ratio, a.StoreCalls) != fmt.Sprint(b.Regions, b.Ratio, b.StoreCalls) {
		t.Errorf("two runs differ:\n%+v\n%+v", a.Regions, b.Regions)
	}
	s.Seed++
	if c := run(t, s); c.Offered == a.Offered && c.Admitted == a.Admitted {
		t.Error("another seed gave the same run")
	}
}

func TestValidateNamesEverything(t *testing.T) {
	s := sim.Defaults()
	s.Policy, s.Regions, s.Offered, s.Processes, s.Lag = "best", 0, -1, -1, -time.Second
	s.Split, s.Skew, s.Cuts = []float64{1}, []time.Duration{1}, []sim.Cut{{From: 2, To: 1}}
	err := s.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"policy", "regions", "offered", "processes", "lag", "split", "skew", "cut"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not among\n%v", want, err)
		}
	}
}
