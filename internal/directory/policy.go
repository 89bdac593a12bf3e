package directory

import (
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"
)

// Options of a Cached. The zero value is a working configuration.
type Options struct {
	Anonymous string // plan of requests without a credential; "" refuses them

	// Feed tells what changes in the source: then a change is seen within about two
	// seconds instead of TTL and MissingTTL. Nil for none.
	Feed Feed

	TTL        time.Duration // of what was found; 1 min if 0. Up to a fifth less, at random
	MissingTTL time.Duration // of what was not found; 10 s if 0
	Retry      time.Duration // pause after a failed load; 5 s if 0
	Refresh    time.Duration // time for a load where an old value could be served, ten times that if it is known to be outdated; and for the Feed. 25 ms if 0
	Patience   time.Duration // how old a value must be for a request to wait longer than that; 10 min if 0
	MaxEntries int           // credentials, and as many tenants; 10,000 if 0
	MaxMissing int           // as many that do not exist; 10,000 if 0

	// Replaced, if not nil, is told when something newer takes the place of what was
	// known: how long that was still served after the change. It must not block.
	Replaced func(late time.Duration)

	Log  *slog.Logger   // where failed loads are reported; slog.Default() if nil
	Rand func() float64 // in [0, 1); math/rand if nil
}

const (
	maxPlans   = 1000 // kept
	breakAfter = 3    // failures in a row, before the source is left alone
)

// policy says how long a Cached's caches keep what, and when they may ask its
// source again.
type policy struct {
	ttl, missingTTL, retry, refresh, patience time.Duration
	maxMissing                                int
	rand                                      func() float64
	replaced                                  func(late time.Duration) // nil for nobody
	log                                       *slog.Logger

	mu         sync.Mutex
	failures   int   // of the source, in a row
	failedAt   int64 // the last of them, ns since the Unix epoch
	reportedAt int64
}

func newPolicy(o Options) *policy {
	p := &policy{
		ttl:        orDefault(o.TTL, time.Minute),
		missingTTL: orDefault(o.MissingTTL, 10*time.Second),
		retry:      orDefault(o.Retry, 5*time.Second),
		refresh:    orDefault(o.Refresh, 25*time.Millisecond),
		patience:   orDefault(o.Patience, 10*time.Minute),
		maxMissing: orDefault(o.MaxMissing, 10_000),
		rand:       o.Rand,
		replaced:   o.Replaced,
		log:        o.Log,
	}
	if p.rand == nil {
		p.rand = rand.Float64
	}
	if p.log == nil {
		p.log = slog.Default()
	}
	return p
}

func orDefault[T ~int | ~int64](v, unset T) T {
	if v <= 0 {
		return unset
	}
	return v
}

// span returns the span from now of about d, up to a fifth shorter, so that
// processes that started together do not ask together.
func (p *policy) span(now int64, d time.Duration) span {
	return span{loaded: now, until: now + int64(d) - int64(p.rand()*float64(d)/5)}
}

// pauses reports whether the source failed so recently that it should not be
// asked for what can be served without.
func (p *policy) pauses(now int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.within(now, p.retry)
}

// refuses reports whether the source failed so often and so recently that it
// should not be asked at all: each attempt would cost a request its time.
func (p *policy) refuses(now int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failures >= breakAfter && p.within(now, p.retry/4)
}

// within reports whether the last failure is less than d ago; p.mu is held.
func (p *policy) within(now int64, d time.Duration) bool {
	return p.failures > 0 && span{p.failedAt, p.failedAt + int64(d)}.has(now)
}

func (p *policy) succeeded() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failures = 0
}

// failed counts a failed load, and reports it unless one was reported within the
// last pause.
func (p *policy) failed(now int64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !errors.Is(err, ErrInvalid) {
		p.failures++
		p.failedAt = now
	}
	if (span{p.reportedAt, p.reportedAt + int64(p.retry)}).has(now) {
		return
	}
	p.reportedAt = now
	p.log.Warn("configuration not loaded", "error", err.Error())
}
