package telemetry

import (
	"sync"
	"sync/atomic"

	"weir/internal/telemetry/metric"
)

// maxInstruments bounds what is measured beside decisions. What is beyond it is
// counted and never written: no code makes so many.
const maxInstruments = 128

// instrument is one metric for one value of its key, metric.Metric.Key.
type instrument struct {
	metric metric.Metric
	key    string

	n       atomic.Int64 // of a counter: since the start. Of a gauge: what it is
	written int64        // of n, if it is a counter; guarded by output.mu
	set     atomic.Bool  // of a gauge

	mu     sync.Mutex // guards what follows
	values values     // not written yet
	past   values     // written
	upto   int64
}

// instruments are all that there are.
type instruments struct {
	mu    sync.Mutex
	all   []*instrument
	polls []func(now int64)
}

// of returns the instrument of a metric and key, made on first use.
func (s *instruments) of(m metric.Metric, key string) *instrument {
	key = clean(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.all {
		if x.metric.Name == m.Name && x.key == key {
			return x
		}
	}
	x := &instrument{metric: m, key: key}
	if len(s.all) < maxInstruments {
		s.all = append(s.all, x)
	}
	return x
}

// Counter counts. It is safe for concurrent use.
type Counter struct{ x *instrument }

// Counter returns the counter of a metric; key is the value of its Key, "" if it
// has none. The same arguments return the same counter.
func (r *Recorder) Counter(m metric.Metric, key string) Counter {
	return Counter{r.instruments.of(m, key)}
}

// Add counts n.
func (c Counter) Add(n int64) {
	if n != 0 {
		c.x.n.Add(n)
	}
}

// UpTo counts what total is above what it was last time: for counts that are kept
// elsewhere.
func (c Counter) UpTo(total int64) {
	c.x.mu.Lock()
	n := total - c.x.upto
	c.x.upto = total
	c.x.mu.Unlock()
	c.Add(max(n, 0))
}

// Gauge is a state. It is written once it has been set.
type Gauge struct{ x *instrument }

// Gauge returns the gauge of a metric, as Counter does.
func (r *Recorder) Gauge(m metric.Metric, key string) Gauge { return Gauge{r.instruments.of(m, key)} }

// Set sets it.
func (g Gauge) Set(v int64) {
	g.x.n.Store(v)
	g.x.set.Store(true)
}

// Clear forgets it: it is not written until it is set again.
func (g Gauge) Clear() { g.x.set.Store(false) }

// SetBool sets it to 1 or 0.
func (g Gauge) SetBool(v bool) {
	if v {
		g.Set(1)
	} else {
		g.Set(0)
	}
}

// Distribution is a metric of which every value counts, for percentiles.
type Distribution struct{ x *instrument }

// Distribution returns the distribution of a metric, as Counter does.
func (r *Recorder) Distribution(m metric.Metric, key string) Distribution {
	return Distribution{r.instruments.of(m, key)}
}

// Observe takes note of a value, in the metric's unit. One below 0 counts as 0.
func (d Distribution) Observe(v int64) {
	d.x.mu.Lock()
	defer d.x.mu.Unlock()
	d.x.values.add(v)
}

// Poll has f called each time before lines are written, and for a Snapshot, to set
// gauges and counters from what is kept elsewhere. It must not block.
func (r *Recorder) Poll(f func(now int64)) {
	r.instruments.mu.Lock()
	defer r.instruments.mu.Unlock()
	r.instruments.polls = append(r.instruments.polls, f)
}

// polled returns all instruments, after those have been set that are polled.
func (s *instruments) polled(now int64) []*instrument {
	s.mu.Lock()
	polls := s.polls
	s.mu.Unlock()
	for _, f := range polls {
		f(now)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

// take returns what there is to write of every instrument; output.mu is held.
func (s *instruments) take(now int64) []reading {
	var due []reading
	for _, x := range s.polled(now) {
		if v, ok := x.take(); ok {
			due = append(due, v)
		}
	}
	return due
}

// reading is a value of a metric, or several.
type reading struct {
	metric metric.Metric
	key    string
	n      []int64 // one, or of a gauge that changed meanwhile more
	values *values // instead of n
}

func (x *instrument) take() (reading, bool) {
	v := reading{metric: x.metric, key: x.key}
	switch x.metric.Type {
	case metric.Counter:
		n := x.n.Load()
		v.n = []int64{n - x.written}
		x.written = n
		return v, v.n[0] != 0
	case metric.Gauge:
		v.n = []int64{x.n.Load()}
		return v, x.set.Load()
	default:
		x.mu.Lock()
		defer x.mu.Unlock()
		taken := x.values
		x.past.merge(&taken)
		x.values = values{}
		v.values = &taken
		return v, taken.n > 0
	}
}
