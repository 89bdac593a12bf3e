package telemetry

import (
	"cmp"
	"slices"
	"time"

	"weir/internal/telemetry/metric"
)

// Snapshot is everything that has been counted since the process started, whether
// or not it was written.
type Snapshot struct {
	Decisions []DecisionCount // by plan and limit, the most frequent first
	Tenants   []TenantCount   // the busiest first, metric.Other last
	Took      []Summary       // µs, by source
	Held      Summary         // ms
	Blind     int64           // decisions in which some limit could not be checked
	Counts    []Reading       // counters and gauges
	Summaries []Reading       // distributions
}

// DecisionCount is how often decisions under one limit came out in one way.
type DecisionCount struct {
	Plan, Limit string
	Reason      Reason
	Source      Source
	N           int64
}

// TenantCount is how a tenant's requests came out, since the process began to keep
// an eye on it.
type TenantCount struct {
	ID                             string
	Allowed, Refused, Unauthorized int64
}

func (t TenantCount) all() int64 { return t.Allowed + t.Refused + t.Unauthorized }

// Summary says of a distribution what people look at. Values are of the buckets of
// values.go.
type Summary struct {
	Key           string
	N             int64
	P50, P99, Max int64
}

// Reading is a metric for one value of its key, with a number or a Summary.
type Reading struct {
	Metric  metric.Metric
	Key     string
	N       int64
	Summary Summary
}

// Snapshot returns what has been counted until now, ns since the Unix epoch.
func (r *Recorder) Snapshot(now int64) Snapshot {
	r.out.mu.Lock()
	defer r.out.mu.Unlock()
	total := newWindow(0)
	total.merge(r.out.total)
	for i := range r.stripes {
		r.stripes[i].addTo(total)
	}
	s := Snapshot{Held: total.held.summary(""), Blind: int64(total.blind)} //nolint:gosec // a count
	for p, t := range total.series {
		s.Decisions = append(s.Decisions, t.decisions(p)...)
	}
	slices.SortFunc(s.Decisions, func(a, b DecisionCount) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Plan, b.Plan), cmp.Compare(a.Limit, b.Limit), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Source, b.Source))
	})
	for id, n := range total.tenants {
		s.Tenants = append(s.Tenants, TenantCount{id, int64(n[allowed]), int64(n[refused]), int64(n[unauthorized])}) //nolint:gosec // counts
	}
	slices.SortFunc(s.Tenants, func(a, b TenantCount) int {
		return cmp.Or(last(a.ID)-last(b.ID), cmp.Compare(b.all(), a.all()), cmp.Compare(a.ID, b.ID))
	})
	for i := range total.took {
		if total.took[i].n > 0 {
			s.Took = append(s.Took, total.took[i].summary(sourceNames[i]))
		}
	}
	r.instruments.snapshot(now, &s)
	return s
}

// last sorts metric.Other behind all others.
func last(id string) int {
	if id == metric.Other {
		return 1
	}
	return 0
}

// addTo adds what the stripe has counted and not handed over.
func (s *stripe) addTo(w *window) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.closed {
		w.merge(c)
	}
	w.add(s)
}

func (t *tally) decisions(p pair) (all []DecisionCount) {
	for r := range t.cells {
		for s, n := range t.cells[r] {
			if n > 0 {
				all = append(all, DecisionCount{p.plan, p.limit, Reason(r), Source(s), int64(n)}) //nolint:gosec // indexes, a count
			}
		}
	}
	return all
}

// snapshot adds what the instruments have counted since the start.
func (s *instruments) snapshot(now int64, to *Snapshot) {
	for _, x := range s.polled(now) {
		v := Reading{Metric: x.metric, Key: x.key}
		switch x.metric.Type {
		case metric.Counter:
			if v.N = x.n.Load(); v.N != 0 {
				to.Counts = append(to.Counts, v)
			}
		case metric.Gauge:
			if v.N = x.n.Load(); x.set.Load() {
				to.Counts = append(to.Counts, v)
			}
		default:
			x.mu.Lock()
			total := x.past
			total.merge(&x.values)
			x.mu.Unlock()
			v.Summary = total.summary(x.key)
			if v.Summary.N > 0 {
				to.Summaries = append(to.Summaries, v)
			}
		}
	}
}

func (v *values) summary(key string) Summary {
	return Summary{Key: key, N: int64(v.n), P50: v.quantile(0.5), P99: v.quantile(0.99), Max: v.max} //nolint:gosec // a count
}

// Total returns how many decisions there were.
func (s *Snapshot) Total() (n int64) {
	for _, d := range s.Decisions {
		n += d.N
	}
	return n
}

// sum returns how many decisions there were of a kind.
func (s *Snapshot) sum(of func(DecisionCount) bool) (n int64) {
	for _, d := range s.Decisions {
		if of(d) {
			n += d.N
		}
	}
	return n
}

// duration returns a number of a metric as a duration, false if it is none.
func duration(u metric.Unit, n int64) (time.Duration, bool) {
	switch u {
	case metric.Microseconds:
		return time.Duration(n) * time.Microsecond, true
	case metric.Milliseconds:
		return time.Duration(n) * time.Millisecond, true
	case metric.Seconds:
		return time.Duration(n) * time.Second, true
	}
	return 0, false
}
