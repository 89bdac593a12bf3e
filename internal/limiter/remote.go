package limiter

import (
	"context"
	"sync"

	"weir/pkg/bucket"
)

// maxTries bounds the round trips of one request: the first guess, one after a
// fold conflict or for the tokens that are left, and one spare.
const maxTries = 3

// remote settles with the store every check that memory could not.
func (l *Limiter) remote(ctx context.Context, now int64, checks []Check, results []Result) {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	first := -1
	var wg sync.WaitGroup
	for i := range results {
		if results[i].Allowed {
			continue
		}
		if first < 0 { // the first is settled on this goroutine: most requests have one
			first = i
			continue
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			l.settle(ctx, now, &checks[i], &results[i])
		}()
	}
	l.settle(ctx, now, &checks[first], &results[first])
	wg.Wait()
}

// settle decides one check, with a store call of its own or from what the call
// in flight brings.
func (l *Limiter) settle(ctx context.Context, now int64, c *Check, r *Result) {
	e := l.table.get(c.Key)
	for {
		e.mu.Lock()
		if e.local(now, c, r) != ask {
			e.mu.Unlock()
			return
		}
		r.FromMemory = false
		inFlight := e.call
		if inFlight == nil {
			break
		}
		e.waiting += c.Cost
		e.mu.Unlock()
		err := wait(ctx, inFlight)
		e.mu.Lock()
		e.waiting -= c.Cost
		e.mu.Unlock()
		if err != nil {
			unknown(c, r)
			return
		}
	}
	mine := &call{done: make(chan struct{})}
	e.call = mine
	want := c.Cost - e.spendable(now) + e.waiting
	e.mu.Unlock()

	mine.err = l.charge(ctx, now, e, c, r, want)
	e.mu.Lock()
	e.call = nil
	e.mu.Unlock()
	close(mine.done)
	if mine.err != nil {
		unknown(c, r)
	}
}

// wait returns when the call is over, with its error, or when ctx is.
func wait(ctx context.Context, c *call) error {
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unknown answers a check that the store could not decide.
func unknown(c *Check, r *Result) {
	*r = Result{Name: c.Name, Limit: c.Limit, Allowed: true, Unknown: true, Remaining: -1}
}

// charge asks the store for want tokens, or for what is left if that covers c,
// and fills r. Only the goroutine that owns e.call calls it.
func (l *Limiter) charge(ctx context.Context, now int64, e *entry, c *Check, r *Result, want int64) error {
	for range maxTries {
		want = min(want, c.Limit.Burst())
		ch := e.prepare(now, c, want)
		out, err := l.store.Charge(ctx, c.Key, ch)
		if err != nil {
			return err
		}
		left, done := e.absorb(now, c, r, ch, out)
		if done {
			return nil
		}
		want = left
	}
	return ErrConflict
}

// prepare builds the charge for n tokens.
func (e *entry) prepare(now int64, c *Check, n int64) bucket.Charge {
	e.mu.Lock()
	defer e.mu.Unlock()
	ch := bucket.Charge{Limit: c.Limit, Now: max(now, e.row.At), Tokens: n, Ver: c.Ver}
	ch.Inc, _ = c.Limit.Charge(n, e.paid)
	if e.known {
		known := e.row
		ch.Known = &known
	}
	return ch
}

// absorb learns from an outcome. It reports whether c is decided; if not, how
// many tokens to ask for next.
func (e *entry) absorb(now int64, c *Check, r *Result, ch bucket.Charge, out bucket.Outcome) (int64, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.row, e.known, e.tat = out.Row, true, out.Row.TAT
	switch out.Status {
	case bucket.Charged:
		_, e.paid = c.Limit.Charge(ch.Tokens, e.paid)
		e.denyUntil = 0
		e.lend(now, ch.Tokens)
		if e.credit < c.Cost { // others spent from the lease meanwhile
			return c.Cost - e.credit, false
		}
		e.credit -= c.Cost
		e.describe(now, c, r, true)
		return 0, true
	case bucket.Conflict:
		return ch.Tokens, false
	}
	left := c.Limit.Remaining(e.tat, ch.Now)
	if left >= c.Cost-e.spendable(now) && left < ch.Tokens {
		return left, false
	}
	e.denyUntil = ch.Now + min(probeAfter, int64(c.Limit.Wait(e.tat, ch.Now, c.Cost)))
	e.describe(ch.Now, c, r, false)
	return 0, true
}
