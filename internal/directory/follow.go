package directory

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// How often the feed is looked at. A change is honoured by the first request that
// comes lookBy after it is in sight, or sooner: by the first that comes lookEvery
// and the time of a look after it, while requests come all the time.
const (
	lookEvery  = int64(time.Second)     // of a process that is busy: beside its requests, which do not wait
	lookBy     = int64(2 * time.Second) // of one that is not: a request that finds the last look so old waits for the next
	lookTime   = time.Second            // for a look
	logFailure = int64(time.Minute)     // between reports that looks fail
)

// follower looks at a feed now and then, and says what it has brought. It has no
// goroutine but for a look; one look is under way at a time.
//
// A look may outlive the request that began it, and Lambda may freeze it with the
// process. So it counts from when it began: whoever comes after a freeze does not
// take what was asked before it for news.
type follower struct {
	feed    Feed
	refresh time.Duration // for which a request waits, at most
	retry   time.Duration // pause between such waits while looks fail
	log     *slog.Logger

	// apply honours changes that were asked for at now. With all there may be others.
	apply func(now int64, changes []Change, all bool)

	seen atomic.Int64 // when the last look that succeeded began; 0 before the first request

	mu       sync.Mutex
	ledger   ledger
	flight   chan struct{} // closed when the look under way has ended; nil if there is none
	began    int64         // the last look
	hurry    span          // for which no request waits, because the last that did waited in vain
	failures int           // of looks, in a row
	logged   int64         // when that was last reported
}

// follow makes sure that the feed has been looked at, as of now: see lookEvery.
// It costs nothing while the last look is new.
func (f *follower) follow(ctx context.Context, now int64) {
	seen := f.seen.Load()
	if seen == 0 && f.seen.CompareAndSwap(0, now) {
		return // nothing was loaded before, so nothing is old
	}
	if !isNew(f.seen.Load(), now, lookEvery) {
		f.catchUp(ctx, now)
	}
}

// isNew reports whether at is less than d from now; in either direction, so that a
// clock that was set back delays nothing.
func isNew(at, now, d int64) bool { return now-at < d && at-now < d }

func (f *follower) catchUp(ctx context.Context, now int64) {
	var timeout <-chan time.Time
	for {
		flight := f.look(now)
		if flight == nil {
			return
		}
		if timeout == nil {
			t := time.NewTimer(f.refresh)
			defer t.Stop()
			timeout = t.C
		}
		select {
		case <-flight: // which may have begun before a freeze
		case <-ctx.Done():
			return
		case <-timeout:
			f.mu.Lock()
			f.rest(now)
			f.mu.Unlock()
			return
		}
	}
}

// look begins a look if it is time. It returns what to wait for, nil if nothing.
func (f *follower) look(now int64) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if isNew(f.seen.Load(), now, lookEvery) {
		return nil
	}
	if f.flight == nil && !isNew(f.began, now, lookEvery) {
		f.flight, f.began = make(chan struct{}), now
		go f.fly(now, f.ledger.since(now), f.flight)
	}
	if f.flight == nil || isNew(f.seen.Load(), now, lookBy) || f.hurry.has(now) {
		return nil
	}
	return f.flight
}

// fly is a look that begins at now.
func (f *follower) fly(now, since int64, flight chan struct{}) {
	changes, more, err := f.ask(since)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.failed(now, err)
	} else {
		f.apply(now, changes, f.ledger.read(now, changes, more))
		f.failures, f.hurry = 0, span{}
		f.seen.Store(now)
	}
	f.flight = nil
	close(flight)
}

// ask asks the feed. A panic would end the process, since no request is there to
// recover from it.
func (f *follower) ask(since int64) (changes []Change, more bool, err error) {
	defer func() {
		if recover() != nil {
			err = errFeedPanicked
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	changes, more, err = f.feed.Changes(ctx, since, mostChanges)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %v: %w", lookTime, err)
	}
	return changes, more, err
}

var errFeedPanicked = errors.New("directory: the feed panicked")

// failed counts a look that failed; f.mu is held.
func (f *follower) failed(now int64, err error) {
	f.failures++
	f.rest(now)
	if f.logged != 0 && isNew(f.logged, now, logFailure) {
		return
	}
	f.logged = now
	f.log.Warn("changes of the configuration are not followed: they are seen when what is known is loaded anew", "error", err.Error())
}

// rest lets no request wait for a while; f.mu is held.
func (f *follower) rest(now int64) {
	pause := lookEvery
	if f.failures >= breakAfter {
		pause = int64(f.retry)
	}
	f.hurry = span{loaded: now, until: now + pause}
}
