package authorizer

import (
	"context"
	"errors"
	"sync"
	"time"

	"weir/internal/directory"
	"weir/internal/identity"
	"weir/internal/limiter"
	"weir/internal/plan"
	"weir/internal/request"
	"weir/pkg/bucket"
)

// Failed credentials are limited by the address they come from, so that guessing
// keys buys neither lookups nor lines in the log: up to the limit they are 401,
// beyond it 429, and while an address is beyond it this process does not look up
// credentials from there at all, except those it knows to be good. Behind one
// address a guesser can thus delay others' keys until the process has seen them.

// errGuessing is returned for a credential that was not looked up because its
// address has failed too often.
var errGuessing = errors.New("authorizer: too many failed credentials from this address")

// rememberer is a Directory that can say at no cost whether it knows a credential
// to be good. Lookups in one that cannot are taken to cost nothing themselves.
type rememberer interface {
	Remembers(now int64, h directory.Hash) bool
}

func (h *Handler) remembers(now int64, hash directory.Hash) bool {
	r, ok := h.directory.(rememberer)
	return !ok || r.Remembers(now, hash)
}

// unauthorized charges a failed credential to its address and answers 401, or 429
// if there were too many. Without an address it is always 401: a bucket for all
// of them would be one that anybody could empty.
func (h *Handler) unauthorized(ctx context.Context, now int64, req *request.Request) (verdict, error) {
	if !req.IP.IsValid() {
		return verdict{}, ErrUnauthorized
	}
	if h.blocked(now, req) { // what needs no lookup to be known as bad is refused too
		return h.guessing(now, req), nil
	}
	c := h.check(h.bad, plan.Subject{IP: req.IP}, version{})
	c.Name = reasonBadCredentials
	d := h.limiter.Decide(ctx, now, []limiter.Check{c})
	if d.Tightest < 0 {
		return verdict{decision: d}, ErrUnauthorized
	}
	r := &d.Results[d.Tightest]
	switch ip := identity.IPKey(req.IP); {
	case !d.Allowed:
		// At least as long as a token takes: the limiter may call a try worthwhile
		// sooner, but here each costs a lookup before it is charged.
		r.Wait = max(r.Wait, time.Duration(h.bad.Bucket.Time(1)))
		h.guesses.block(ip, now, *r)
		return h.tooMany(d), nil
	case r.Remaining == 0: // the next would be refused, and need not be looked up to know
		next := *r
		next.Allowed = false
		next.Wait = max(1, r.Full-h.bad.Bucket.Depth()+time.Duration(h.bad.Bucket.Time(1)))
		h.guesses.block(ip, now, next)
	}
	return verdict{decision: d}, ErrUnauthorized
}

func (h *Handler) blocked(now int64, req *request.Request) bool {
	if !req.IP.IsValid() || h.guesses.empty() {
		return false
	}
	_, ok := h.guesses.blocked(identity.IPKey(req.IP), now)
	return ok
}

// guessing is the answer while an address is blocked.
func (h *Handler) guessing(now int64, req *request.Request) verdict {
	r, ok := h.guesses.blocked(identity.IPKey(req.IP), now)
	if !ok { // until a moment ago
		r = limiter.Result{Name: reasonBadCredentials, Limit: h.bad.Bucket, Wait: 1}
	}
	r.FromMemory = true
	return h.tooMany(limiter.Decision{Results: []limiter.Result{r}})
}

// tooMany is the verdict of a decision that refuses failed credentials. They are
// nobody's, so it is never one that lets a request pass for a backend to answer.
func (h *Handler) tooMany(d limiter.Decision) verdict {
	shown := &plan.Limit{Name: reasonBadCredentials, Key: h.bad.Key}
	return verdict{fields: decided(nobody, []*plan.Limit{shown}, d), decision: d}
}

// Bounds of what is remembered about addresses.
const (
	maxBlocked   = 10_000
	maxBlockTime = time.Minute
)

// guesses remembers which addresses are over the limit of failed credentials,
// and until when. It may only refuse, never admit. The zero value is empty.
type guesses struct {
	mu    sync.Mutex
	until map[string]block // by identity.IPKey
}

type block struct {
	until  int64 // ns since the Unix epoch; another try is pointless before
	at     int64
	result limiter.Result // at that time
}

func (g *guesses) empty() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.until) == 0
}

// blocked returns the refusal of an address, brought up to now.
func (g *guesses) blocked(ip string, now int64) (limiter.Result, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	b, ok := g.until[ip]
	if !ok {
		return limiter.Result{}, false
	}
	if now >= b.until {
		delete(g.until, ip)
		return limiter.Result{}, false
	}
	r, passed := b.result, time.Duration(max(0, now-b.at))
	if r.Wait != bucket.Never {
		r.Wait -= passed
	}
	r.Full = max(0, r.Full-passed)
	return r, true
}

func (g *guesses) block(ip string, now int64, r limiter.Result) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.until) >= maxBlocked {
		g.forget(now)
	}
	if g.until == nil {
		g.until = make(map[string]block)
	}
	g.until[ip] = block{until: now + int64(min(r.Wait, maxBlockTime)), at: now, result: r}
}

// forget makes room for many, so that it is seldom needed: it drops what has
// passed and, if that is not half, any others. What is forgotten is asked for again.
func (g *guesses) forget(now int64) {
	for ip, b := range g.until {
		if now >= b.until {
			delete(g.until, ip)
		}
	}
	for ip := range g.until {
		if len(g.until) <= maxBlocked/2 {
			return
		}
		delete(g.until, ip)
	}
}
