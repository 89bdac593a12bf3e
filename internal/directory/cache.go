package directory

import (
	"context"
	"errors"
	"sync"
	"time"
)

// cache keeps what load returned, for a while and for the keys last used.
//
//   - One key is loaded by one caller at a time; the others wait for its answer.
//   - What was not found is kept apart and for a shorter time, so that a flood of
//     keys that do not exist pushes out none that do.
//   - When load fails, the value last known is served on, however old: while the
//     source is away nobody can have changed it there.
type cache[K comparable, V any] struct {
	load   func(context.Context, K) (V, error)
	policy *policy

	mu      sync.Mutex
	found   *lru[K, cached[V]]
	missing *lru[K, span]
	flights map[K]*flight[V]
}

// cached is a value and the time for which it is as good as new.
type cached[V any] struct {
	value V
	span
	stale  bool  // the last load failed
	waited int64 // the last load that was given all of a request's time, or succeeded
}

// span is a time from loaded to until, in ns since the Unix epoch.
type span struct{ loaded, until int64 }

// has reports whether now lies in the span. A clock that was set back does not
// prolong it by more than its length.
func (s span) has(now int64) bool {
	return now < s.until && s.loaded-now < s.until-s.loaded
}

// flight is a load under way.
type flight[V any] struct {
	done  chan struct{}
	value V
	stale bool
	err   error
}

func newCache[K comparable, V any](p *policy, most int, load func(context.Context, K) (V, error)) *cache[K, V] {
	return &cache[K, V]{
		load:    load,
		policy:  p,
		found:   newLRU[K, cached[V]](most),
		missing: newLRU[K, span](p.maxMissing),
		flights: make(map[K]*flight[V]),
	}
}

// get returns the value of k, and whether it is served although it should have
// been loaded anew. The error is ErrNotFound or that of a load.
func (c *cache[K, V]) get(ctx context.Context, now int64, k K) (v V, stale bool, err error) {
	for {
		c.mu.Lock()
		old := c.found.get(k)
		if old != nil && (old.has(now) || c.policy.pauses(now)) {
			v, stale = old.value, old.stale || !old.has(now)
			c.mu.Unlock()
			return v, stale, nil
		}
		if m := c.missing.get(k); m != nil && m.has(now) {
			c.mu.Unlock()
			return v, false, ErrNotFound
		}
		f := c.flights[k]
		if f == nil && old == nil && c.policy.refuses(now) {
			c.mu.Unlock()
			return v, false, errPaused
		}
		if f == nil {
			f = &flight[V]{done: make(chan struct{}), err: errPanicked}
			c.flights[k] = f
			hasty := old != nil && now-old.waited < int64(c.policy.patience)
			c.mu.Unlock()
			c.fly(ctx, now, k, f, hasty)
			return f.value, f.stale, f.err
		}
		c.mu.Unlock()
		select {
		case <-f.done:
		case <-ctx.Done():
			return v, false, ctx.Err()
		}
		if !ofContext(f.err) || ctx.Err() != nil {
			return f.value, f.stale, f.err
		}
		// Whoever loaded ran out of time, which we may have.
	}
}

var (
	errPanicked = errors.New("directory: load panicked")
	errPaused   = errors.New("directory: the source has failed repeatedly and is not asked for a moment")
)

// fly loads k and ends f. A hasty load may not use up the time of the request,
// since there is an old value that is not very old.
func (c *cache[K, V]) fly(ctx context.Context, now int64, k K, f *flight[V], hasty bool) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.flights, k)
		c.settle(now, k, f, hasty)
		close(f.done)
	}()
	if hasty {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.policy.refresh)
		defer cancel()
	}
	f.value, f.err = c.load(ctx, k)
}

// settle keeps the outcome of f, and turns a failure into the old value if there
// is one; c.mu is held.
func (c *cache[K, V]) settle(now int64, k K, f *flight[V], hasty bool) {
	switch {
	case f.err == nil:
		c.policy.succeeded()
		c.missing.remove(k)
		c.found.put(k, cached[V]{value: f.value, span: c.policy.span(now, c.policy.ttl), waited: now})
	case errors.Is(f.err, ErrNotFound):
		c.policy.succeeded()
		c.found.remove(k)
		c.missing.put(k, c.policy.span(now, c.policy.missingTTL))
	case errors.Is(f.err, context.Canceled): // says nothing of the source
	default:
		c.policy.failed(now, f.err)
		if old := c.found.get(k); old != nil {
			old.span = c.policy.span(now, c.policy.retry)
			old.stale = true
			if !hasty {
				old.waited = now
			}
			f.value, f.stale, f.err = old.value, true, nil
		}
	}
}

// holds reports whether c has a value of k for which ok is true, however old. It
// does not count as a use.
func (c *cache[K, V]) holds(k K, ok func(V) bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.found.peek(k)
	return v != nil && ok(v.value)
}

// outdated makes the next get load k anew if its value is one for which old is
// true. A value that has just been loaded is left, since loading it again would
// bring no other.
func (c *cache[K, V]) outdated(now int64, k K, old func(V) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v := c.found.peek(k); v != nil && old(v.value) && now-v.loaded >= int64(time.Second) {
		v.until = now
	}
}

func ofContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
