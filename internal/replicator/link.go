package replicator

import (
	"context"
	"math"
	"time"
)

// inFlight bounds the writes that one link applies at the same time.
const inFlight = 8

// link carries writes in one direction.
type link struct {
	r     *Replicator
	name  Link
	queue *queue // guarded by r.mu
}

func (r *Replicator) newLink(name Link) *link {
	return &link{r: r, name: name, queue: newQueue(int64(r.o.Coalesce), r.lag)}
}

// run applies what is due until ctx is over.
func (l *link) run(ctx context.Context) error {
	to := l.r.regions[l.name.To]
	slots := make(chan struct{}, inFlight)
	failed := make(chan error, inFlight)
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer func() { // everything that was started has ended
		for range inFlight {
			slots <- struct{}{}
		}
	}()
	for {
		l.r.mu.Lock()
		d, ok, at := l.queue.next(time.Now().UnixNano())
		moved := l.r.moved
		l.r.mu.Unlock()
		if ok {
			slots <- struct{}{}
			go func() {
				defer func() { <-slots }()
				if err := l.deliver(ctx, to, d); err != nil {
					failed <- err
				}
			}()
			continue
		}
		if at < math.MaxInt64 {
			timer.Reset(time.Duration(at - time.Now().UnixNano()))
		} else {
			timer.Stop()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-failed:
			return err
		case <-moved:
		case <-timer.C:
		}
	}
}

// deliver applies d, and counts it.
func (l *link) deliver(ctx context.Context, to *region, d delivery) error {
	applied, err := l.r.apply(ctx, to, d.write)
	l.r.mu.Lock()
	defer l.r.mu.Unlock()
	switch {
	case err != nil:
		return err
	case applied:
		now := time.Now().UnixNano()
		l.r.stats.applied(time.Duration(now-d.at), time.Duration(now-d.due))
	default:
		l.r.stats.Older++
	}
	l.queue.done(d.item)
	l.r.wake()
	return nil
}
