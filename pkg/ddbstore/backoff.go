package ddbstore

import (
	"context"
	"math"
	"math/rand/v2"
	"time"
)

const (
	// firstPause is about what a write in a strict table takes, and so how long
	// the one that was in the way needs to get out of it. The pause doubles with
	// every conflict, and is drawn from the whole of it: of those who collided,
	// no two should come back together.
	firstPause   = 10 * time.Millisecond
	longestPause = 100 * time.Millisecond

	// maxConflicts bounds the attempts of one charge where no deadline does.
	maxConflicts = 12
)

// backoff spaces the attempts of one charge that collide with those of other
// Regions. The zero value is ready to be used.
type backoff struct {
	n    int           // conflicts so far
	left time.Duration // until the deadline when the last attempt began
}

// begin notes that an attempt begins.
func (b *backoff) begin(ctx context.Context) { b.left = remaining(ctx) }

// pause waits before the next attempt. It reports false, at once, if there
// should be none: after too many, or if one that took as long as the last could
// not be answered before ctx ends, since a charge whose answer is not awaited
// may be done all the same.
func (b *backoff) pause(ctx context.Context) bool {
	if b.n == maxConflicts {
		return false
	}
	most := longestPause
	if left := remaining(ctx); left < math.MaxInt64 {
		took := b.left - left
		most = min(most, left-took)
	}
	if b.n < 4 {
		most = min(most, firstPause<<b.n)
	}
	b.n++
	if most <= 0 {
		return false
	}
	timer := time.NewTimer(rand.N(most)) //nolint:gosec // jitter, not a secret
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// remaining returns how long ctx goes on.
func remaining(ctx context.Context) time.Duration {
	if end, ok := ctx.Deadline(); ok {
		return time.Until(end)
	}
	return math.MaxInt64
}
