package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"weir/internal/testworld"
)

// request is one request on its way, and in the end what became of it.
type request struct {
	at       time.Duration // when it was sent to the authorizer that decided, since the start of the story
	region   int           // where it was decided
	verdict  verdict
	attempts int   // 1, unless a Region was dead
	err      error // of the last attempt; nil if it was decided
	late     time.Duration

	due  time.Time
	done *sync.WaitGroup
}

// maxAttempts is how many Regions a client tries.
const maxAttempts = 3

// noticed is how long it takes after a Region has died until its name leads
// elsewhere. Until then clients find out for themselves.
const noticed = 2 * time.Second

// coldStarts calls every authorizer once, all at the same time.
func (l *lab) coldStarts(ctx context.Context, epoch time.Time) ([]*request, error) {
	var wg sync.WaitGroup
	var all []*request
	for _, r := range l.regions {
		for _, f := range r.Authorizers {
			q := &request{at: time.Since(epoch), region: r.Index, attempts: 1}
			all = append(all, q)
			wg.Go(func() {
				if q.verdict, q.err = call(ctx, f); q.err != nil {
					q.err = fmt.Errorf("start an authorizer of %s: %w\n%s", r.Name, q.err, f.Log())
				}
			})
		}
	}
	wg.Wait()
	for _, q := range all {
		if q.err != nil {
			return nil, q.err
		}
	}
	return all, nil
}

// serve runs the authorizers of all Regions until ctx is over. Each takes the
// next request of its Region when it is free.
func (l *lab) serve(ctx context.Context, epoch time.Time) {
	var wg sync.WaitGroup
	for _, r := range l.regions {
		for _, f := range r.Authorizers {
			wg.Go(func() {
				for {
					select {
					case <-ctx.Done():
						return
					case q := <-r.queue:
						now := time.Now()
						q.attempts++
						q.at, q.region, q.late = now.Sub(epoch), r.Index, now.Sub(q.due)
						if q.verdict, q.err = call(ctx, f); q.err != nil && q.attempts < maxAttempts {
							l.send(q, (r.Index+1)%len(l.regions)) // as a client does
							continue
						}
						q.done.Done()
					}
				}
			})
		}
	}
	wg.Wait()
}

// send puts a request into the queue of a Region, or of the next that is up.
func (l *lab) send(q *request, region int) {
	for l.regions[region].down.Load() {
		region = (region + 1) % len(l.regions)
	}
	l.regions[region].queue <- q
}

// load offers requests at random times, at perSecond in all Regions together,
// for a while, and returns when all have been answered.
func (l *lab) load(ctx context.Context, rng *rand.Rand, perSecond float64, d time.Duration) ([]*request, error) {
	var done sync.WaitGroup
	var all []*request
	begin := time.Now()
	mean := float64(time.Second) / perSecond
	for t := mean * rng.ExpFloat64(); t < float64(d); t += mean * rng.ExpFloat64() {
		q := &request{due: begin.Add(time.Duration(t)), done: &done}
		if err := testworld.Sleep(ctx, time.Until(q.due)); err != nil {
			return nil, err
		}
		done.Add(1)
		all = append(all, q)
		l.send(q, rng.IntN(len(l.regions)))
	}
	if err := testworld.Sleep(ctx, time.Until(begin.Add(d))); err != nil {
		return nil, err
	}
	answered := make(chan struct{})
	go func() {
		done.Wait()
		close(answered)
	}()
	select {
	case <-answered:
		return all, nil
	case <-ctx.Done(): // nobody serves any more
		return nil, ctx.Err()
	}
}
