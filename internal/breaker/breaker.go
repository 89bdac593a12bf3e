// Package breaker keeps a store that does not answer from costing every request
// its time. After repeated failures it opens: calls fail at once, with ErrOpen,
// without being made. After a pause one call is let through as a probe, others
// still failing at once; if the store answers, all calls are made again, if not,
// the next pause begins. So an outage costs each process a few slow requests at
// its beginning and one for every pause, and is over for it a pause after the
// store is back, at most.
//
// What counts as a failure is that no usable answer came. A store that throttles,
// refuses or reports a conflict has answered; a caller who gave up, or left hardly
// any time, says nothing of the store.
//
// A Breaker guards one table of one Region, for one process. It is safe for
// concurrent use and has no goroutine. Counting, and letting one probe through at
// a time, is github.com/sony/gobreaker's. The pause is not: it would be measured
// on the monotonic clock, which may stand still while Lambda has a process frozen,
// and a function that seldom runs would hardly ever probe.
package breaker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"weir/internal/limiter"
)

// ErrOpen is the error of a call that was not made. It wraps ErrUnavailable; but
// unlike after any other of those, nothing has been sent.
var ErrOpen = fmt.Errorf("not asked, after repeated failures: %w", limiter.ErrUnavailable)

// Options of a Breaker. The zero value is a working configuration.
type Options struct {
	Name string // of what is guarded, for the log
	Mode string // what happens while it does not answer, for the log

	// Failures in a row that open it; DefaultFailures if 0. More than half of the
	// calls of the last ten seconds, if those are twenty or more, open it as well.
	Failures int

	Pause time.Duration // from a failure to the next probe; DefaultPause if 0

	// Patience is the least time a call must have had for the end of that time to
	// be a failure of the store; DefaultPatience if 0.
	Patience time.Duration

	Log      *slog.Logger // told when an outage begins and when it ends; slog.Default() if nil
	OnChange func(Change) // told of every change of state, in order; it must not block
	Now      func() int64 // ns since the Unix epoch; the system's wall clock if nil
}

// Defaults of Options.
const (
	// DefaultFailures is more than the limits of most requests, which are charged
	// side by side and fail together if a connection does.
	DefaultFailures = 5

	// DefaultPause leaves room for more probes within two seconds of the store's
	// return, should the first have been under way when it came back.
	DefaultPause = 500 * time.Millisecond

	DefaultPatience = 10 * time.Millisecond
)

// The second rule, for failures with answers in between.
const (
	window     = 10 * time.Second
	windowStep = time.Second
	minCalls   = 20
)

// State is what a Breaker does with calls.
type State string

// The states.
const (
	Closed   State = "closed"    // makes them
	Open     State = "open"      // makes none
	HalfOpen State = "half-open" // makes one, to see
)

// Stats are counts since the Breaker was made.
type Stats struct {
	Failed    int64 // calls without a usable answer
	Throttled int64 // calls that were answered so
	Refused   int64 // calls that were not made
	Outages   int64 // times it opened after it had been closed
}

// Breaker decides which calls are made.
type Breaker struct {
	circuit         *gobreaker.TwoStepCircuitBreaker[struct{}]
	pause, patience time.Duration
	now             func() int64
	openedAt        atomic.Int64 // start of the current pause; 0 if closed
	reporter        reporter

	failed, throttled, refused, outages atomic.Int64
}

// New returns a closed Breaker.
func New(o Options) *Breaker {
	b := &Breaker{
		pause:    orDefault(o.Pause, DefaultPause),
		patience: orDefault(o.Patience, DefaultPatience),
		now:      o.Now,
		reporter: reporter{name: o.Name, mode: o.Mode, log: o.Log, onChange: o.OnChange},
	}
	if b.now == nil {
		b.now = func() int64 { return time.Now().UnixNano() } //nolint:forbidigo // the pause is real time
	}
	if b.reporter.log == nil {
		b.reporter.log = slog.Default()
	}
	inRow := uint32(min(orDefault(o.Failures, DefaultFailures), 1000)) //nolint:gosec // in range
	b.circuit = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		MaxRequests:  1,
		Interval:     window,
		BucketPeriod: windowStep,
		Timeout:      time.Nanosecond, // the pause is measured here
		ReadyToTrip: func(c gobreaker.Counts) bool {
			told := c.TotalFailures + c.TotalSuccesses
			return c.ConsecutiveFailures >= inRow || told >= minCalls && 2*c.TotalFailures > told
		},
		IsSuccessful:  func(err error) bool { return err == nil },
		IsExcluded:    func(err error) bool { return errors.Is(err, errSaysNothing) },
		OnStateChange: b.changed,
	})
	return b
}

func orDefault[T ~int | ~int64](v, unset T) T {
	if v <= 0 {
		return unset
	}
	return v
}

// Do makes the call and returns its error, or returns ErrOpen.
func (b *Breaker) Do(ctx context.Context, call func() error) error {
	if b.pauses() {
		b.refused.Add(1)
		return ErrOpen
	}
	done, err := b.circuit.Allow()
	if err != nil {
		b.refused.Add(1)
		return ErrOpen
	}
	hurried := b.hurried(ctx)
	shown := errSaysNothing // if the call panics
	defer func() {
		done(shown)
		b.reporter.report()
	}()
	err = call()
	shown = b.judge(err, hurried)
	return err
}

// State returns what the Breaker would do with a call now.
func (b *Breaker) State() State {
	switch {
	case b.pauses():
		return Open
	case b.circuit.State() == gobreaker.StateClosed:
		return Closed
	default:
		return HalfOpen
	}
}

// Stats returns the counts.
func (b *Breaker) Stats() Stats {
	return Stats{
		Failed:    b.failed.Load(),
		Throttled: b.throttled.Load(),
		Refused:   b.refused.Load(),
		Outages:   b.outages.Load(),
	}
}

// pauses reports whether it is too early for a probe. A clock that was set back
// does not prolong the pause by more than its length.
func (b *Breaker) pauses() bool {
	at := b.openedAt.Load()
	if at == 0 {
		return false
	}
	since := b.now() - at
	return since < int64(b.pause) && since > -int64(b.pause)
}

// hurried reports whether a call has hardly any time.
func (b *Breaker) hurried(ctx context.Context) bool {
	t, ok := ctx.Deadline()
	return ok && time.Until(t) < b.patience
}

// What a call has shown, for the circuit; nil is that the store answers.
var (
	errNoAnswer    = errors.New("no answer")
	errSaysNothing = errors.New("says nothing of the store")
)

// judge returns what err shows.
func (b *Breaker) judge(err error, hurried bool) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), hurried && errors.Is(err, context.DeadlineExceeded):
		return errSaysNothing
	case errors.Is(err, limiter.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		b.failed.Add(1)
		b.reporter.because(err)
		return errNoAnswer
	case errors.Is(err, limiter.ErrThrottled):
		b.throttled.Add(1)
	}
	return nil
}

// changed is called under the circuit's lock.
func (b *Breaker) changed(_ string, from, to gobreaker.State) {
	now := b.now()
	switch to {
	case gobreaker.StateOpen:
		b.openedAt.Store(now)
		if from == gobreaker.StateClosed {
			b.outages.Add(1)
		}
	case gobreaker.StateClosed:
		b.openedAt.Store(0)
	}
	b.reporter.add(now, stateOf(from), stateOf(to))
}

func stateOf(s gobreaker.State) State {
	switch s {
	case gobreaker.StateOpen:
		return Open
	case gobreaker.StateHalfOpen:
		return HalfOpen
	default:
		return Closed
	}
}
