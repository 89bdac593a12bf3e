package limiter

import (
	"context"
	"time"
)

// holdMargin is kept free between the end of a hold and the caller's deadline.
const holdMargin = int64(250 * time.Millisecond)

// longest returns how long a request may be held at most, whatever its limits
// say: until shortly before ctx's deadline.
func (l *Limiter) longest(ctx context.Context, now int64) int64 {
	deadline, ok := ctx.Deadline()
	if !ok {
		return int64(time.Hour)
	}
	return max(0, deadline.UnixNano()-now-holdMargin)
}

// hold waits until the tokens that an admitted request took from the future are
// there. An error means that ctx ended first and the request should be refused.
func (l *Limiter) hold(ctx context.Context, results []Result) error {
	longest := time.Duration(0)
	for i := range results {
		if r := &results[i]; r.Allowed && r.Mode == Enforce {
			longest = max(longest, r.Hold)
		}
	}
	if longest == 0 {
		return nil
	}
	return l.sleep(ctx, longest)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ripeIn returns how long after now the next n tokens of the lease may be spent.
// Tokens of a lease were there when they were charged, unless requests may be
// held: then they may come from the future, and ripen one after the other, the
// last at ripe. e.mu is held.
func (e *entry) ripeIn(now, n int64) int64 {
	if e.ripe <= now {
		return 0
	}
	return e.unripe(now, n)
}

func (e *entry) unripe(now, n int64) int64 {
	return max(0, e.ripe-e.limit.Time(e.credit-n)-now)
}

// ripeBy returns the tokens of the lease that may be spent at now without a hold.
func (e *entry) ripeBy(now int64) int64 {
	n := e.spendable(now)
	if e.ripe <= now {
		return n
	}
	return e.ripeOf(now, n)
}

func (e *entry) ripeOf(now, n int64) int64 {
	return max(0, n-e.limit.Level(e.ripe, now))
}

// patienceOf returns how far into the future a request may reach for its token.
func patienceOf(c *Check, most int64) int64 { return max(0, min(int64(c.Hold), most)) }
