package sim_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"weir/internal/sim"
)

// random returns a scenario of Regions that switch on and off, over all
// dimensions of replication and processes.
func random(seed uint64) sim.Scenario {
	rng := rand.New(rand.NewPCG(seed, 3))
	pick := func(xs ...time.Duration) time.Duration { return xs[rng.IntN(len(xs))] }
	s := sim.Defaults()
	s.Seed, s.Shape, s.For = seed, sim.OnOff, 90*time.Second
	s.Regions = []int{2, 3, 5}[rng.IntN(3)]
	s.Lag = pick(300*time.Millisecond, time.Second, 2*time.Second)
	s.Coalesce = pick(0, 0, 100*time.Millisecond, 500*time.Millisecond)
	return s
}

// A thousand of them stay within the bound.
func TestRandomScenarios(t *testing.T) {
	for seed := range uint64(randomSeeds) {
		r := run(t, random(seed))
		within(t, r, 0.97, 1.10)
	}
}
