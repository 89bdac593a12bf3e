package telemetry

import "weir/internal/telemetry/metric"

// maxSeries bounds the pairs of plan and limit that are counted by themselves. The
// configuration bounds them too, usually.
const maxSeries = 256

// pair is a limit of a plan.
type pair struct{ plan, limit string }

// everythingElse stands for the pairs beyond maxSeries.
var everythingElse = pair{metric.Other, metric.Other}

// cells counts decisions by why and how.
type cells [reasons][sources]uint64

// tally is what was counted of a pair.
type tally struct {
	cells   cells
	shadows uint64 // refusals that were not, since the limit is in shadow
}

// series is what is counted for one pair in the open interval.
type series struct {
	pair
	tally
}

// seriesOf returns the series of a pair, made on first use.
func (s *stripe) seriesOf(p pair) *series {
	if x := s.series[p]; x != nil {
		return x
	}
	if len(s.series) >= maxSeries-1 && p != everythingElse {
		return s.seriesOf(everythingElse)
	}
	x := &series{pair: p}
	s.series[p] = x
	return x
}
