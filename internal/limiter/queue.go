package limiter

import "context"

// waiter is a request that waits for the store call in flight on its bucket.
type waiter struct {
	now  int64
	c    *Check
	r    *Result
	most int64 // see Limiter.longest
	done chan struct{}

	decided bool // r is filled; else the waiter makes the next call
}

// settle decides one check, with a store call of its own or from what the call
// in flight brings. Requests are served in the order in which they came.
func (l *Limiter) settle(ctx context.Context, now int64, c *Check, r *Result, most int64) {
	e := l.table.lock(c.Key, now)
	if e.local(now, c, r, most) != ask {
		e.mu.Unlock()
		return
	}
	r.FromMemory = false
	if e.busy {
		w := &waiter{now: now, c: c, r: r, most: most, done: make(chan struct{})}
		e.queue = append(e.queue, w)
		e.mu.Unlock()
		switch e.await(ctx, w) {
		case served:
			return
		case timedOut:
			l.unknown(now, e, c, r)
			return
		}
		e.mu.Lock()
	}
	e.busy, e.strict = true, c.Consistency == Strict
	need := c.Cost - e.spendable(now)
	for _, w := range e.queue {
		need += w.c.Cost
	}
	e.mu.Unlock()

	err := l.charge(ctx, now, e, c, r, need, most)
	if err != nil {
		l.unknown(now, e, c, r)
	}
	l.pass(e, err)
}

// turn is what waiting came to.
type turn int

const (
	served   turn = iota
	timedOut      // the request's time is up; it has left the queue
	leads         // it makes the next call
)

func (e *entry) await(ctx context.Context, w *waiter) turn {
	select {
	case <-w.done:
	case <-ctx.Done():
		e.mu.Lock()
		for i, q := range e.queue {
			if q == w {
				e.queue = append(e.queue[:i], e.queue[i+1:]...)
				e.mu.Unlock()
				return timedOut
			}
		}
		e.mu.Unlock()
		<-w.done // it was taken from the queue just before
	}
	if w.decided {
		return served
	}
	return leads
}

// pass serves those who waited for a call that has ended, in their order, and
// makes the first who cannot be served from memory the next to call the store.
func (l *Limiter) pass(e *entry, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.queue) > 0 {
		w := e.queue[0]
		e.queue[0] = nil
		e.queue = e.queue[1:]
		if err != nil {
			l.unknownLocked(w.now, e, w.c, w.r)
			w.decided = true
		} else {
			w.decided = e.local(w.now, w.c, w.r, w.most) != ask
			w.r.FromMemory = false
		}
		close(w.done)
		if !w.decided {
			return // e stays busy: w goes on
		}
	}
	e.queue = nil
	e.busy = false
}
