package telemetry

import (
	"sync"
	"time"
)

// stripe is a part of a Recorder: requests that are served at the same time count
// in different ones. Stripes are added up when lines are written.
type stripe struct {
	mu sync.Mutex

	// The open interval.
	end  int64  // ns since the Unix epoch; 0 before the first decision
	full uint64 // after how many decisions it is to be written
	most uint64 // how many more each time
	sums
	series  map[pair]*series
	tenants tenants

	closed []*window // not written yet

	_ [64]byte // the next stripe's lock is in another cache line
}

func (s *stripe) init(most uint64) {
	s.full, s.most = most, most
	s.series = make(map[pair]*series)
	s.tenants = newTenants()
}

// count counts d; s.mu is held. It reports whether d is the first refusal of its
// tenant in this interval.
func (s *stripe) count(d *Decision) (first bool) {
	o := d.Reason.outcome()
	t := s.tenants.of(d.Tenant)
	t.rank++
	t.counts[o]++
	x := t.recent[0]
	if x == nil || x.limit != d.Limit || x.plan != d.Plan {
		x = s.other(t, d)
	}
	x.cells[d.Reason][d.Source]++
	s.took[d.Source].add(int64(d.Took / time.Microsecond))
	s.n++
	s.last = max(s.last, d.Now)
	if d.Blind {
		s.blind++
	}
	if d.Held > 0 {
		s.held.add(int64(d.Held / time.Millisecond))
	}
	for _, limit := range d.Shadows {
		s.seriesOf(pair{d.Plan, limit}).shadows++
	}
	return o == refused && t.counts[refused] == 1
}

// other returns the series of d, which is not the one that its tenant was counted
// in last. Tenants have few limits, and many tenants the same.
func (s *stripe) other(t *tenant, d *Decision) *series {
	t.recent[0], t.recent[1] = t.recent[1], t.recent[0]
	if x := t.recent[0]; x != nil && x.limit == d.Limit && x.plan == d.Plan {
		return x
	}
	t.recent[0] = s.seriesOf(pair{d.Plan, d.Limit})
	return t.recent[0]
}

// close ends the open interval, if anything was counted in it; s.mu is held.
func (s *stripe) close() {
	if s.n == 0 {
		return
	}
	w := newWindow(s.end)
	w.add(s)
	if n := len(s.closed); n >= maxClosed { // nobody takes them: add them up
		w.merge(s.closed[n-1])
		s.closed[n-1] = w
	} else {
		s.closed = append(s.closed, w)
	}
	for _, x := range s.series {
		x.tally = tally{}
	}
	s.tenants.age()
	s.full, s.sums = s.most, sums{}
}
