package telemetry

import "weir/internal/telemetry/metric"

const (
	// maxClosed bounds the intervals of a stripe that wait to be written.
	maxClosed = 4

	// maxNames bounds the tenants that are kept apart in a window: enough for
	// those of all stripes, with some to spare.
	maxNames = 16 * maxTenants
)

// window is what was counted in an interval.
type window struct {
	end int64 // of the interval, ns since the Unix epoch
	sums
	series  map[pair]*tally
	tenants map[string][outcomes]uint64
}

// sums are what is counted of decisions whatever they are about.
type sums struct {
	last  int64 // time of the last one, ns since the Unix epoch; 0 if there is none
	n     uint64
	blind uint64          // in which some limit could not be checked
	took  [sources]values // µs
	held  values          // ms
}

// merge adds what o holds.
func (s *sums) merge(o *sums) {
	s.last = max(s.last, o.last)
	s.n += o.n
	s.blind += o.blind
	for i := range o.took {
		s.took[i].merge(&o.took[i])
	}
	s.held.merge(&o.held)
}

func newWindow(end int64) *window {
	return &window{end: end, series: make(map[pair]*tally), tenants: make(map[string][outcomes]uint64)}
}

// add adds the open interval of a stripe, whose mu is held.
func (w *window) add(s *stripe) {
	w.sums.merge(&s.sums)
	for p, x := range s.series {
		w.addSeries(p, &x.tally)
	}
	for _, x := range s.tenants.all {
		w.addTenant(x.id, x.counts)
	}
	w.addTenant(metric.Other, s.tenants.others)
}

// merge adds what o holds.
func (w *window) merge(o *window) {
	w.sums.merge(&o.sums)
	for p, t := range o.series {
		w.addSeries(p, t)
	}
	for id, counts := range o.tenants {
		w.addTenant(id, counts)
	}
}

func (w *window) addSeries(p pair, o *tally) {
	if *o == (tally{}) {
		return
	}
	t := w.series[p]
	if t == nil && len(w.series) >= maxSeries-1 {
		p = everythingElse
		t = w.series[p]
	}
	if t == nil {
		t = &tally{}
		w.series[p] = t
	}
	for r := range o.cells {
		for s, n := range o.cells[r] {
			t.cells[r][s] += n
		}
	}
	t.shadows += o.shadows
}

func (w *window) addTenant(id string, counts [outcomes]uint64) {
	if counts == ([outcomes]uint64{}) {
		return
	}
	have, known := w.tenants[id]
	if !known && len(w.tenants) >= maxNames-1 && id != metric.Other {
		w.addTenant(metric.Other, counts)
		return
	}
	for o, n := range counts {
		have[o] += n
	}
	w.tenants[id] = have
}
