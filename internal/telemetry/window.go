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
	end     int64 // of the interval, ns since the Unix epoch
	last    int64 // time of the last decision, ns since the Unix epoch
	n       uint64
	blind   uint64
	took    [sources]values // µs
	held    values          // ms
	series  map[pair]*tally
	tenants map[string][outcomes]uint64
}

// tally is what was counted of a pair.
type tally struct {
	cells   cells
	shadows uint64
}

func newWindow(end int64) *window {
	return &window{end: end, series: make(map[pair]*tally), tenants: make(map[string][outcomes]uint64)}
}

// add adds the open interval of a stripe, whose mu is held.
func (w *window) add(s *stripe) {
	w.last = max(w.last, s.last)
	w.n += uint64(s.n) //nolint:gosec // a count
	w.blind += s.blind
	for i := range s.took {
		w.took[i].merge(&s.took[i])
	}
	w.held.merge(&s.held)
	for p, x := range s.series {
		w.addSeries(p, &x.cells, x.shadows)
	}
	for _, x := range s.tenants.all {
		w.addTenant(x.id, x.counts)
	}
	w.addTenant(metric.Other, s.tenants.others)
}

// merge adds what o holds.
func (w *window) merge(o *window) {
	w.last = max(w.last, o.last)
	w.n += o.n
	w.blind += o.blind
	for i := range o.took {
		w.took[i].merge(&o.took[i])
	}
	w.held.merge(&o.held)
	for p, x := range o.series {
		w.addSeries(p, &x.cells, x.shadows)
	}
	for id, counts := range o.tenants {
		w.addTenant(id, counts)
	}
}

func (w *window) addSeries(p pair, c *cells, shadows uint64) {
	if *c == (cells{}) && shadows == 0 {
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
	for r := range c {
		for s, n := range c[r] {
			t.cells[r][s] += n
		}
	}
	t.shadows += shadows
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
