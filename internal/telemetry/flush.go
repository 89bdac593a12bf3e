package telemetry

import (
	"cmp"
	"io"
	"slices"
	"sync"

	"weir/internal/telemetry/metric"
)

// output is where lines go.
type output struct {
	mu        sync.Mutex // held while lines are made and written
	w         io.Writer
	region    string
	namespace string
	names     names
	total     *window // of what has been written, for Snapshot
	buf       []byte
}

// Flush writes everything that has been counted: before the process ends, and where
// there are no decisions that would bring it about. now is ns since the Unix
// epoch. It waits for lines that are being written.
func (r *Recorder) Flush(now int64) {
	r.out.mu.Lock()
	defer r.out.mu.Unlock()
	r.write(now, true)
}

// flush writes the intervals that are over, and the open one too if it is early. If
// lines are being written, it leaves that to the next.
func (r *Recorder) flush(now int64, early bool) {
	if !r.out.mu.TryLock() {
		if early {
			r.Hurry(now)
		}
		return
	}
	defer r.out.mu.Unlock()
	r.write(now, early)
}

// write writes lines; r.out.mu is held.
func (r *Recorder) write(now int64, early bool) {
	windows := r.take(now, early)
	at := now
	if n := len(windows); n > 0 {
		at = windows[n-1].last
	}
	readings := r.instruments.take(at)
	e := emf{namespace: r.out.namespace, region: r.out.region, buf: r.out.buf[:0]}
	for i, w := range windows {
		own := w.readings(i == len(windows)-1 && !r.mode.on.Load(), r.mode.on.Load())
		if i == len(windows)-1 {
			own = append(own, readings...)
			readings = nil
		}
		r.out.total.merge(w)
		r.out.names.choose(w)
		e.window(w)
		e.readings(w.last, own)
	}
	e.readings(at, readings)
	r.out.buf = e.buf
	if r.out.w != nil && len(e.buf) > 0 {
		_, _ = r.out.w.Write(e.buf) // there is nowhere to say that it failed
	}
}

// take returns the intervals that are over, and the open one too if it is early,
// each added up over all stripes, oldest first.
func (r *Recorder) take(now int64, early bool) []*window {
	byEnd := make(map[int64]*window)
	for i := range r.stripes {
		s := &r.stripes[i]
		s.mu.Lock()
		if early || s.end <= now {
			s.close()
		}
		closed := s.closed
		s.closed = nil
		s.mu.Unlock()
		for _, w := range closed {
			if have := byEnd[w.end]; have != nil {
				have.merge(w)
			} else {
				byEnd[w.end] = w
			}
		}
	}
	windows := make([]*window, 0, len(byEnd))
	for _, w := range byEnd {
		windows = append(windows, w)
	}
	slices.SortFunc(windows, func(a, b *window) int { return cmp.Compare(a.end, b.end) })
	return windows
}

// readings returns what a window says of the Region alone. ended says that the
// soft-limit mode is over, on that it is not.
func (w *window) readings(ended, on bool) []reading {
	var hits, misses uint64
	for _, t := range w.series {
		for r := range t.cells {
			if Reason(r).Allowed() { //nolint:gosec // an index
				hits += t.cells[r][Memory]
			}
			misses += t.cells[r][Store]
		}
	}
	soft := []int64{0}
	switch {
	case w.blind > 0 && ended:
		soft = []int64{1, 0}
	case w.blind > 0 || on:
		soft = []int64{1}
	}
	all := []reading{
		number(metric.SoftLimitMode, soft...),
		number(metric.LeaseHits, int64(hits)),             //nolint:gosec // a count
		number(metric.LeaseMisses, int64(misses)),         //nolint:gosec // a count
		number(metric.SoftLimitDecisions, int64(w.blind)), //nolint:gosec // a count
	}
	all = slices.DeleteFunc(all, func(r reading) bool { return r.metric.Type == metric.Counter && r.n[0] == 0 })
	if w.held.n > 0 {
		all = append(all, reading{metric: metric.HoldTime, values: &w.held})
	}
	return all
}

func number(m metric.Metric, n ...int64) reading { return reading{metric: m, n: n} }
