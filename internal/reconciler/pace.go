package reconciler

import (
	"context"
	"errors"
	"sync"
	"time"

	"weir/pkg/ddbstore"
)

// pace is how fast the reconciler works: so many calls at a time, and fewer a
// second while DynamoDB throttles. It is shared by everything a process does.
type pace struct {
	parallel int
	jitter   func() float64 // in [0, 1)
	sleep    func(ctx context.Context, d time.Duration) error

	mu  sync.Mutex
	gap time.Duration // that each worker leaves before a call
}

const (
	firstGap   = 25 * time.Millisecond
	longestGap = 2 * time.Second

	// maxFailures is how often a call is made that fails for other reasons than
	// throttling, which lasts as long as it lasts: over about two seconds.
	maxFailures = 7
)

// each calls f(0) to f(n-1), as many at a time as the pace allows, and returns when
// all that were begun have ended. Once ctx is over it begins no more and returns
// its error. f says whether it is done with i; done is the number of those before
// the first that is not.
func (p *pace) each(ctx context.Context, n int, f func(i int) bool) (done int, err error) {
	ended := make([]bool, n)
	slots := make(chan struct{}, p.parallel)
	var wg sync.WaitGroup
	for i := 0; i < n && err == nil; i++ {
		select {
		case <-ctx.Done():
		case slots <- struct{}{}:
		}
		if err = ctx.Err(); err != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			ended[i] = f(i)
		})
	}
	wg.Wait()
	for done < n && ended[done] {
		done++
	}
	return done, err
}

// try makes a call that may be repeated. A throttled one is made again, more
// slowly, until it succeeds or ctx is over; one that could not be made, or failed
// with one of the errors in also, a few times.
func (p *pace) try(ctx context.Context, call func() error, also ...error) error {
	for failures := 0; ; {
		gap, err := p.wait(ctx)
		if err != nil {
			return err
		}
		err = call()
		switch {
		case errors.Is(err, ddbstore.ErrThrottled):
			p.slower(gap)
			continue
		case !isOneOf(err, also...) && !errors.Is(err, ddbstore.ErrUnavailable):
			p.faster()
			return err
		}
		if failures++; failures == maxFailures || p.sleep(ctx, p.some(firstGap<<failures)) != nil {
			return err
		}
	}
}

func isOneOf(err error, targets ...error) bool {
	for _, t := range targets {
		if errors.Is(err, t) {
			return true
		}
	}
	return false
}

// wait keeps the gap, and returns it.
func (p *pace) wait(ctx context.Context) (gap time.Duration, err error) {
	p.mu.Lock()
	gap = p.gap
	p.mu.Unlock()
	if gap == 0 {
		return 0, ctx.Err()
	}
	return gap, p.sleep(ctx, p.some(gap))
}

// some returns a part of d, between half and all of it: those who were throttled
// together should not come back together.
func (p *pace) some(d time.Duration) time.Duration {
	return d/2 + time.Duration(p.jitter()*float64(d/2))
}

// slower widens the gap after a call that had kept one of was. Calls that were
// under way together widen it once: all of them say the same.
func (p *pace) slower(was time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gap <= was {
		p.gap = min(max(firstGap, 2*was), longestGap)
	}
}

// faster closes the gap again, over some tens of calls.
func (p *pace) faster() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gap -= p.gap / 8; p.gap < time.Millisecond {
		p.gap = 0
	}
}

// sleep waits for d, or until ctx is over.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
