package main

import (
	"bytes"
	"fmt"

	"weir/internal/sim"
)

// simulations is how many runs the simulator's counts are the mean of: lags are
// drawn at random there as they are here.
const simulations = 15

// simulate gives the simulator the same requests at the same times, with the
// same cut, and the lag that was asked for and what this machine has added to
// it. It returns what the simulator admits
// in each chapter.
func (r *result) simulate() ([]float64, error) {
	var log bytes.Buffer
	if err := r.log(&log); err != nil {
		return nil, err
	}
	entries, err := sim.ReadLog(&log)
	if err != nil {
		return nil, err
	}
	first := r.requests[0].at // is the simulator's 0
	s := sim.Defaults()
	s.Regions, s.Processes, s.Log = len(regionNames), r.o.processes, entries
	s.Rate, s.Burst = r.limit.Rate(), r.limit.Burst()
	s.Lag = r.o.lag + r.behind
	s.For = r.chapters[len(r.chapters)-1].to
	for _, c := range r.chapters {
		if c.what == cut {
			s.Cuts = []sim.Cut{{From: c.from - first, To: c.to - first, Region: len(regionNames)}}
		}
	}
	means := make([]float64, len(r.chapters))
	for s.Seed = 1; s.Seed <= simulations; s.Seed++ {
		report, err := sim.Run(s)
		if err != nil {
			return nil, fmt.Errorf("simulate: %w", err)
		}
		for i, c := range r.chapters {
			_, admitted, _ := report.Between(max(0, c.from-first), c.to-first)
			means[i] += float64(admitted) / simulations
		}
	}
	return means, nil
}

// agreement bounds how far the lab and the simulator may be apart.
const agreement = 0.05

func sum(xs []float64) float64 {
	total := 0.0
	for _, x := range xs {
		total += x
	}
	return total
}
