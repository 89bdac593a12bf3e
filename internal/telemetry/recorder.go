package telemetry

import (
	"cmp"
	"io"
	"math/bits"
	"runtime"
	"sync/atomic"
	"time"

	"weir/internal/telemetry/metric"
)

// Defaults of Options, and a bound.
const (
	// DefaultInterval is CloudWatch's own: a shorter one costs more log and shows
	// no more.
	DefaultInterval = time.Minute

	// MinInterval is how far apart lines are at least, whatever happens.
	MinInterval = time.Second

	// DefaultMostDecisions bounds what is lost with a process that crashes.
	DefaultMostDecisions = 20_000

	// DefaultTenants is how many tenants are listed by name.
	DefaultTenants = 10
)

// Options of a Recorder. The zero value counts and writes nothing.
type Options struct {
	Out           io.Writer     // of the lines, one Write for all that are due; nil for none
	Region        string        // this one
	Namespace     string        // of CloudWatch; metric.Namespace if ""
	Interval      time.Duration // between lines; DefaultInterval if 0, MinInterval at least
	MostDecisions int           // after which lines are written before the interval is over; DefaultMostDecisions if 0
	Tenants       int           // that are listed by name; DefaultTenants if 0, none if negative
}

// Recorder counts decisions and whatever else is to be measured, and writes it as
// metrics. It is safe for concurrent use.
type Recorder struct {
	interval int64
	stripes  []stripe     // a power of two of them
	due      atomic.Int64 // when lines are to be written; 0 before the first decision
	written  atomic.Int64 // when they were last
	early    atomic.Bool  // what is due is not to wait for the end of the interval
	mode     softMode

	instruments instruments
	out         output
}

// New returns a Recorder.
func New(o Options) *Recorder {
	n := stripesFor(runtime.GOMAXPROCS(0))
	r := &Recorder{
		interval: int64(max(cmp.Or(o.Interval, DefaultInterval), MinInterval)),
		stripes:  make([]stripe, n),
		out: output{
			w:         o.Out,
			region:    clean(cmp.Or(o.Region, metric.NoName)),
			namespace: cmp.Or(o.Namespace, metric.Namespace),
			names:     newNames(max(0, cmp.Or(o.Tenants, DefaultTenants))),
			total:     newWindow(0),
		},
	}
	for i := range r.stripes {
		r.stripes[i].init(uint64(max(1, cmp.Or(o.MostDecisions, DefaultMostDecisions)/n))) //nolint:gosec // 1 at least
	}
	return r
}

// stripesFor returns how many stripes p processors need: so many that two seldom
// want the same. More than sixteen only make for more to add up.
func stripesFor(p int) int {
	return 2 << bits.Len(uint(min(max(p, 1), 8)-1)) //nolint:gosec // 0 to 7
}

// Record counts a decision. It reports whether the decision is the first refusal
// of its tenant in an interval, more or less: those are worth a line in the log.
func (r *Recorder) Record(d *Decision) (first bool) {
	s := r.lock(d.Now)
	if r.reached(s.end, d.Now) {
		s.close()
		s.end = r.endOf(d.Now)
	}
	first = s.count(d)
	full := s.n == s.full
	if full {
		s.full += s.most
	}
	s.mu.Unlock()

	if r.mode.changes(d) || full {
		r.Hurry(d.Now)
	}
	if due := r.due.Load(); r.reached(due, d.Now) {
		r.flushDue(d.Now, due)
	}
	return first
}

// lock returns a stripe with its mu held. Which one is as good as random: requests
// that come at the same time do not come in the same microsecond.
func (r *Recorder) lock(now int64) *stripe {
	s := &r.stripes[now>>10&int64(len(r.stripes)-1)]
	s.mu.Lock()
	return s
}

// reached reports whether now is at t, or so long before it that the clock must have
// been set back.
func (r *Recorder) reached(t, now int64) bool { return now >= t || t-now > 2*r.interval }

// endOf returns when the interval that now is in ends.
func (r *Recorder) endOf(now int64) int64 { return now - now%r.interval + r.interval }

// Hurry has what is counted written soon, as with the next decision: something has
// happened that should not wait for the end of the interval.
func (r *Recorder) Hurry(now int64) {
	soonest := r.soonest(now)
	r.early.Store(true)
	for {
		due := r.due.Load()
		if due != 0 && due <= soonest && !r.reached(due, now) || r.due.CompareAndSwap(due, soonest) {
			return
		}
	}
}

// flushDue has a goroutine write lines, unless another request does, or lines were
// written just now, or this is the first decision of all.
func (r *Recorder) flushDue(now, due int64) {
	next, soonest := r.endOf(now), r.soonest(now)
	if now < soonest && due != 0 {
		next = soonest
	}
	if !r.due.CompareAndSwap(due, next) || due == 0 || now < soonest {
		return
	}
	r.written.Store(now)
	go r.flush(now, r.early.Swap(false))
}

// soonest returns when lines may be written next.
func (r *Recorder) soonest(now int64) int64 {
	t := r.written.Load() + int64(MinInterval)
	if r.reached(t, now) {
		return now
	}
	return t
}
