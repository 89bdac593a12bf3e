package breaker

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Change is a change of state.
type Change struct {
	Name     string // of Options
	From, To State
	Cause    error         // the last failure, if To is Open
	Lasted   time.Duration // how long the outage lasted, if To is Closed
}

// reporter tells of changes, in order and outside the circuit's lock, which is
// held while it learns of them: whoever made the call that brought a change about
// reports it afterwards.
type reporter struct {
	name, mode string
	log        *slog.Logger
	onChange   func(Change)

	waiting atomic.Bool // changes is not empty

	mu      sync.Mutex // guards what follows; never held while anybody is told
	changes []Change
	cause   error
	began   int64 // of the outage, ns since the Unix epoch

	telling sync.Mutex // keeps the order
}

// because notes a failure, which may be the cause of a change.
func (r *reporter) because(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cause = err
}

// add notes a change.
func (r *reporter) add(now int64, from, to State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := Change{Name: r.name, From: from, To: to}
	switch {
	case to == Open:
		c.Cause = r.cause
		if from == Closed {
			r.began = now
		}
	case to == Closed:
		c.Lasted = time.Duration(now - r.began)
		r.cause = nil
	}
	r.changes = append(r.changes, c)
	r.waiting.Store(true)
}

// report tells of the changes that wait.
func (r *reporter) report() {
	if !r.waiting.Load() {
		return
	}
	r.telling.Lock()
	defer r.telling.Unlock()
	r.mu.Lock()
	changes := r.changes
	r.changes = nil
	r.waiting.Store(false)
	r.mu.Unlock()
	for _, c := range changes {
		r.tell(c)
	}
}

// tell logs the beginning of an outage and its end; probes are not worth a line.
func (r *reporter) tell(c Change) {
	switch {
	case c.From == Closed:
		r.log.Warn("store does not answer", "store", c.Name, "mode", r.mode, "error", c.Cause.Error())
	case c.To == Closed:
		r.log.Info("store answers again", "store", c.Name, "lasted", c.Lasted.String())
	}
	if r.onChange != nil {
		r.onChange(c)
	}
}
