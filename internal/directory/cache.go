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
//   - What is known to be outdated is loaded anew by the next to ask, at most once a
//     second until the source shows what is known of it.
type cache[K comparable, V any] struct {
	load   func(context.Context, K) (V, error)
	has    func(V) edition
	policy *policy

	mu      sync.Mutex
	found   *lru[K, cached[V]]
	missing *lru[K, absence]
	flights map[K]*flight[V]
	mark    int64 // what was loaded before is to be loaded anew
}

// cached is a value and the time for which it is as good as new.
type cached[V any] struct {
	value V
	span
	stale  bool    // the last load failed
	waited int64   // the last load that was given all of a request's time, or succeeded
	used   int64   // when it was served last
	wanted edition // what the source is known to have
}

// absence is for how long something is taken not to exist.
type absence struct {
	span
	wanted edition // what the source is known to have all the same
}

// edition says how new something is, by its stamp or its version; what is not known
// of it is 0.
type edition struct{ stamp, ver int64 }

// behind reports whether e is known to be older than f.
func (e edition) behind(f edition) bool { return e.stamp < f.stamp || e.ver < f.ver }

func (e edition) and(f edition) edition { return edition{max(e.stamp, f.stamp), max(e.ver, f.ver)} }

// span is a time from loaded to until, in ns since the Unix epoch.
type span struct{ loaded, until int64 }

// has reports whether now lies in the span. A clock that was set back does not
// prolong it by more than its length.
func (s span) has(now int64) bool {
	return now < s.until && s.loaded-now < s.until-s.loaded
}

// flight is a load under way.
type flight[V any] struct {
	done   chan struct{}
	wanted edition // what the source was known to have when the load began
	value  V
	stale  bool
	err    error
}

func newCache[K comparable, V any](p *policy, most int, load func(context.Context, K) (V, error), has func(V) edition) *cache[K, V] {
	return &cache[K, V]{
		load:    load,
		has:     has,
		policy:  p,
		found:   newLRU[K, cached[V]](most),
		missing: newLRU[K, absence](p.maxMissing),
		flights: make(map[K]*flight[V]),
	}
}

// get returns the value of k, and whether it is served although it should have
// been loaded anew. The error is ErrNotFound or that of a load.
func (c *cache[K, V]) get(ctx context.Context, now int64, k K) (v V, stale bool, err error) {
	for {
		c.mu.Lock()
		old := c.found.get(k)
		if old != nil && (c.fresh(old.span, now) || c.policy.pauses(now)) {
			v, stale = old.value, old.stale || !c.fresh(old.span, now)
			old.used = now
			c.mu.Unlock()
			return v, stale, nil
		}
		if m := c.missing.get(k); m != nil && c.fresh(m.span, now) {
			c.mu.Unlock()
			return v, false, ErrNotFound
		}
		f := c.flights[k]
		if f == nil && old == nil && c.policy.refuses(now) {
			c.mu.Unlock()
			return v, false, errPaused
		}
		if f == nil {
			f = &flight[V]{done: make(chan struct{}), wanted: c.wanted(k), err: errPanicked}
			c.flights[k] = f
			haste := c.haste(now, old)
			c.mu.Unlock()
			c.fly(ctx, now, k, f, haste)
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

// haste returns how long a load may take, 0 for all of the request's time. It may
// not use that up where there is an old value that is not very old. One that is
// known to be outdated is worth more, among other things an answer of another
// Region.
func (c *cache[K, V]) haste(now int64, old *cached[V]) time.Duration {
	switch {
	case old == nil || now-old.waited >= int64(c.policy.patience):
		return 0
	case c.has(old.value).behind(old.wanted):
		return 10 * c.policy.refresh
	}
	return c.policy.refresh
}

// fly loads k and ends f, within haste if that is not 0.
func (c *cache[K, V]) fly(ctx context.Context, now int64, k K, f *flight[V], haste time.Duration) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.flights, k)
		c.settle(now, k, f, haste != 0)
		close(f.done)
	}()
	if haste != 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, haste)
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
		v := cached[V]{value: f.value, span: c.policy.span(now, c.policy.ttl), waited: now, wanted: c.wanted(k)}
		if f.wanted.behind(v.wanted) && c.has(v.value).behind(v.wanted) { // it changed meanwhile
			v.expire(now, 0, true)
		}
		c.replace(k, &v)
	case errors.Is(f.err, ErrNotFound):
		c.policy.succeeded()
		m := absence{span: c.policy.span(now, c.policy.missingTTL), wanted: c.wanted(k)}
		c.found.remove(k)
		c.missing.put(k, m)
	case errors.Is(f.err, context.Canceled): // says nothing of the source
	default:
		c.policy.failed(now, f.err)
		if old := c.found.get(k); old != nil {
			old.span = c.policy.span(now, c.policy.retry)
			old.stale = true
			if !hasty {
				old.waited = now
			}
			old.used = now
			f.value, f.stale, f.err = old.value, true, nil
		}
	}
}

// replace puts v in the place of what was known of k, and says how long that was
// served on after it had been changed; c.mu is held.
func (c *cache[K, V]) replace(k K, v *cached[V]) {
	if old := c.found.peek(k); old != nil {
		if is := c.has(v.value); is.stamp > 0 && c.has(old.value).behind(is) && c.policy.replaced != nil {
			c.policy.replaced(time.Duration(max(0, old.used-is.stamp)))
		}
	}
	c.missing.remove(k)
	c.found.put(k, *v)
}

// holds reports whether c has a value of k for which ok is true, however old. It
// does not count as a use.
func (c *cache[K, V]) holds(k K, ok func(V) bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.found.peek(k)
	return v != nil && ok(v.value)
}

// wanted returns what the source is known to have of k; c.mu is held.
func (c *cache[K, V]) wanted(k K) edition {
	if v := c.found.peek(k); v != nil {
		return v.wanted
	}
	if m := c.missing.peek(k); m != nil {
		return m.wanted
	}
	return edition{}
}

// outdated says what the source has of k by now. If that here is older, or taken
// not to exist, the next get loads it anew; but what was loaded less than pause ago
// only if this is news, since to load it once more would hardly bring another.
func (c *cache[K, V]) outdated(now int64, k K, is edition, pause time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v := c.found.peek(k); v != nil && c.has(v.value).behind(is) {
		v.expire(now, pause, v.wanted.behind(is))
		v.wanted = v.wanted.and(is)
	}
	if m := c.missing.peek(k); m != nil {
		m.expire(now, pause, m.wanted.behind(is))
		m.wanted = m.wanted.and(is)
	}
}

// expire ends the span, unless it is younger than pause and there is no news.
func (s *span) expire(now int64, pause time.Duration, news bool) {
	if news || !isNew(s.loaded, now, int64(pause)) {
		s.until = min(s.until, s.loaded)
	}
}

// outdatedAll makes the next get of each key load it anew, if it was loaded before
// now.
func (c *cache[K, V]) outdatedAll(now int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mark = now
}

// fresh reports whether what has span s need not be loaded anew; c.mu is held. A
// mark in the future is of before the clock was set back.
func (c *cache[K, V]) fresh(s span, now int64) bool {
	return s.has(now) && (s.loaded >= c.mark || c.mark-now >= int64(time.Second))
}

func ofContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
