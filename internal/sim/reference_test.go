package sim_test

import (
	"fmt"
	"testing"
	"time"

	"weir/internal/sim"
)

// reference is what the discrete-event prototype of the merge rule came to:
// ratio and worst window at four lags, for 100/s with a burst of 100 over 120 s,
// the highest of three seeds.
var reference = []struct {
	regions int
	split   []float64
	offered float64
	cells   [4][2]float64
}{
	{2, nil, 0.9, [4][2]float64{{1, 0.88}, {1, 0.88}, {1, 0.88}, {1, 0.88}}},
	{3, nil, 0.9, [4][2]float64{{1, 0.88}, {1, 0.88}, {1, 0.88}, {1, 0.88}}},
	{5, nil, 0.9, [4][2]float64{{1, 0.88}, {1, 0.88}, {1, 0.88}, {1, 0.88}}},
	{3, []float64{80, 15, 5}, 0.9, [4][2]float64{{1, 0.88}, {1, 0.88}, {1, 0.88}, {1, 0.88}}},
	{2, nil, 3, [4][2]float64{{1.001, 1.01}, {1.005, 1.04}, {1.006, 1.09}, {1.010, 1.07}}},
	{3, nil, 1.5, [4][2]float64{{1.001, 1.01}, {1.000, 1.03}, {1.005, 1.06}, {1.007, 1.11}}},
	{3, nil, 3, [4][2]float64{{1.001, 1.03}, {1.006, 1.06}, {1.015, 1.10}, {1.008, 1.38}}},
	{3, []float64{80, 15, 5}, 3, [4][2]float64{{1.001, 1.01}, {1.003, 1.04}, {1.007, 1.07}, {1.012, 1.12}}},
	{5, nil, 3, [4][2]float64{{1.002, 1.02}, {1.012, 1.07}, {1.012, 1.18}, {1.039, 1.30}}},
}

var referenceLags = [4]time.Duration{300 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second}

// A cell may be better than its reference, but not worse than this.
const (
	ratioTolerance  = 0.02
	windowTolerance = 0.10
)

func TestReferenceTable(t *testing.T) {
	for _, row := range reference {
		for i, cell := range row.cells {
			t.Run(fmt.Sprintf("%d Regions %v at %v with lag %v", row.regions, row.split, row.offered, referenceLags[i]), func(t *testing.T) {
				for seed := range seeds {
					s := sim.Defaults()
					s.Regions, s.Split, s.Offered, s.Lag, s.Seed = row.regions, row.split, row.offered, referenceLags[i], uint64(seed+1)
					r := run(t, s)
					if r.Ratio > cell[0]+ratioTolerance || r.Ratio < 1-ratioTolerance {
						t.Errorf("ratio %.3f, reference %.3f\n%s", r.Ratio, cell[0], r.Command)
					}
					if r.WorstWindow > cell[1]+windowTolerance {
						t.Errorf("worst window %.2f, reference %.2f\n%s", r.WorstWindow, cell[1], r.Command)
					}
				}
			})
		}
	}
}

func run(t *testing.T, s sim.Scenario) *sim.Report {
	t.Helper()
	r, err := sim.Run(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// global is three Regions with even traffic.
func global(offered float64) sim.Scenario {
	s := sim.Defaults()
	s.Regions, s.Offered = 3, offered
	return s
}

// within checks a report's ratio.
func within(t *testing.T, r *sim.Report, low, high float64) {
	t.Helper()
	if r.Ratio < low || r.Ratio > high {
		t.Errorf("ratio %.3f, want %.3f to %.3f\n%s", r.Ratio, low, high, r.Command)
	}
}

// falseRefusals checks the share of requests that were refused falsely.
func falseRefusals(t *testing.T, r *sim.Report, most float64) {
	t.Helper()
	if part := float64(r.FalseRefusals) / float64(r.Offered); part > most {
		t.Errorf("%d of %d refused falsely, want at most %.2f%%\n%s", r.FalseRefusals, r.Offered, 100*most, r.Command)
	}
}
