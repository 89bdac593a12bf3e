package sim_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"weir/internal/sim"
)

// random returns a scenario of Regions that switch on and off, over all
// dimensions of replication, clocks and processes.
func random(seed uint64) sim.Scenario {
	rng := rand.New(rand.NewPCG(seed, 3))
	pick := func(xs ...time.Duration) time.Duration { return xs[rng.IntN(len(xs))] }
	s := sim.Defaults()
	s.Seed, s.Shape, s.For = seed, sim.OnOff, 90*time.Second
	s.Regions = []int{2, 3, 5}[rng.IntN(3)]
	s.Lag = pick(300*time.Millisecond, time.Second, 2*time.Second)
	s.Coalesce = pick(0, 0, 100*time.Millisecond, 500*time.Millisecond)
	if rng.IntN(3) == 0 {
		s.Processes = 1 + rng.IntN(4)
		s.Zipf = rng.IntN(2) == 0
		s.Churn = pick(0, 0, 20*time.Second)
	}
	if rng.IntN(4) == 0 {
		s.Skew = make([]time.Duration, s.Regions)
		s.Skew[rng.IntN(s.Regions)] = pick(-time.Second, -100*time.Millisecond, 100*time.Millisecond, time.Second)
	}
	if rng.IntN(5) == 0 {
		from := time.Duration(10+rng.IntN(40)) * time.Second
		s.Cuts = []sim.Cut{{From: from, To: from + time.Duration(1+rng.IntN(20))*time.Second, Region: rng.IntN(s.Regions + 1)}}
	}
	return s
}

// bound returns what a random scenario's ratio must lie between. Without leases,
// cuts and skew that is the design's; a process that restarts forgets its lease,
// a Region whose clock is ahead is read too late by each of the others, and while
// Regions are cut off from each other each may admit all of the limit.
func bound(s *sim.Scenario) (low, high float64) {
	low, high = 0.97, 1.10
	if s.Processes > 0 {
		low = 0.93
	}
	if s.Skew != nil {
		low, high = low-0.04, 1.15+0.05*float64(s.Regions-1)
	}
	for _, c := range s.Cuts {
		high += float64(s.Regions-1) * float64(c.To-c.From) / float64(s.For)
	}
	return low, high
}

// A thousand of them stay within the bound, and none loses a charge.
func TestRandomScenarios(t *testing.T) {
	for seed := range uint64(randomSeeds) {
		s := random(seed)
		r := run(t, s)
		low, high := bound(&s)
		within(t, r, low, high)
		spent := int64(0)
		for _, x := range r.Regions {
			spent += x.Spent
		}
		if spent < int64(r.Admitted) || s.Processes == 0 && spent != int64(r.Admitted) {
			t.Errorf("%d charged, %d admitted\n%s", spent, r.Admitted, r.Command)
		}
	}
}
