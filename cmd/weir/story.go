package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// story is the demo: chapters that send requests and claim what came of them.
type story struct {
	out        io.Writer
	storeCalls func() int64

	hooli, acme, initech, stranger client
}

func newStory(out io.Writer, base string, storeCalls func() int64) *story {
	c := client{base: base, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: floodClients + 1}}}
	with := func(key, ip string) client { c := c; c.key, c.ip = key, ip; return c }
	return &story{
		out:        out,
		storeCalls: storeCalls,
		hooli:      with("hooli-demo-key", ""),
		acme:       with("acme-demo-key", ""),
		initech:    with("initech-demo-key", ""),
		stranger:   with("", ""),
	}
}

// The parts of demo.yaml that claims are about.
const (
	freeRate, freeBurst = 5, 10 // tokens a second, tokens
	followBurst         = 3
	anonymousBurst      = 3

	things = "/v1/things"
	follow = "/v1/users/7/follow"
)

func (s *story) tell(ctx context.Context) error {
	s.say("A local API Gateway on %s, Weir's authorizer behind it, buckets in memory.", s.hooli.base)
	chapters := []struct {
		title string
		tell  func(context.Context) error
	}{
		{"A burst is served, then no more", s.burst},
		{"A flood hurts nobody else, and costs next to nothing", s.flood},
		{"Two limits on one request, and a refusal charges neither", s.twoLimits},
		{"Who is nobody is not served", s.badKey},
		{"Who has no key is limited by address", s.byAddress},
		{"Who is suspended is told so", s.suspended},
	}
	for i, c := range chapters {
		s.say("\n%d. %s", i+1, c.title)
		if err := c.tell(ctx); err != nil {
			return fmt.Errorf("chapter %d, %q: %w", i+1, c.title, err)
		}
	}
	s.say("\nEverything above was observed. Try it by hand: go run ./cmd/weir dev")
	return nil
}

func (s *story) burst(ctx context.Context) error {
	s.say("   Tenant hooli is on plan free: %d requests a second, bursts of %d.", freeRate, freeBurst)
	start, served := time.Now(), 0
	var refused reply
	for {
		r, err := s.hooli.get(ctx, things)
		if err != nil {
			return err
		}
		if r.status != http.StatusOK {
			refused = r
			break
		}
		if served++; served == 1 {
			s.show(r, "X-RateLimit-Limit", "X-RateLimit-Remaining", "RateLimit", "RateLimit-Policy")
		}
		if err := withinBucket(served, time.Since(start)); err != nil {
			return err
		}
	}
	if served < freeBurst {
		return fmt.Errorf("only %d requests were served", served)
	}
	s.ok("%d requests in a row are served", served)

	if err := expect(refused, http.StatusTooManyRequests, "rate_limited"); err != nil {
		return err
	}
	wait, err := refused.retryAfter()
	if err != nil {
		return err
	}
	s.ok("the next one is refused: 429 Too Many Requests")
	s.show(refused, "Retry-After", "RateLimit", "RateLimit-Policy", "X-RateLimit-Limit", "X-RateLimit-Remaining",
		"X-RateLimit-Reset", "X-RateLimit-Scope", "X-RateLimit-Reason")
	s.say("        %s", refused.body)

	if err := sleep(ctx, wait); err != nil {
		return err
	}
	r, err := s.hooli.get(ctx, things)
	if err != nil {
		return err
	}
	if r.status != http.StatusOK {
		return fmt.Errorf("after waiting for the %v that Retry-After said, the answer is %d", wait, r.status)
	}
	s.ok("after the %v that Retry-After says, it is served again", wait)
	return nil
}

// floodClients send floodRequests each, all at once.
const floodClients, floodRequests = 4, 250

func (s *story) flood(ctx context.Context) error {
	before, start := s.storeCalls(), time.Now()
	var wg sync.WaitGroup
	tallies := make([]tally, floodClients)
	for i := range tallies {
		wg.Go(func() { tallies[i] = s.hooli.flood(ctx, floodRequests) })
	}
	neighbour := s.acme.flood(ctx, 20)
	wg.Wait()
	elapsed, calls := time.Since(start), s.storeCalls()-before

	var all tally
	for _, t := range tallies {
		all.add(t)
	}
	if err := errors.Join(all.err, neighbour.err); err != nil {
		return err
	}
	if all.refused == 0 {
		return errors.New("the flood was not refused")
	}
	if err := withinBucket(all.served, elapsed); err != nil {
		return err
	}
	s.ok("hooli sends %d requests at once: %d served, %d refused, each with Retry-After", all.served+all.refused, all.served, all.refused)
	if neighbour.refused > 0 {
		return fmt.Errorf("%d requests of acme were refused", neighbour.refused)
	}
	s.ok("acme sends %d meanwhile: all served", neighbour.served)
	requests := all.served + all.refused + neighbour.served
	if calls > int64(2*(all.served+neighbour.served)+all.refused/10) {
		return fmt.Errorf("%d requests took %d store calls", requests, calls)
	}
	s.ok("the store was asked %d times for %d decisions; the rest came from memory", calls, requests)
	return nil
}

func (s *story) twoLimits(ctx context.Context) error {
	s.say("   Tenant acme may follow %d users at once, and that counts as API use too.", followBurst)
	for i := range followBurst {
		r, err := s.acme.send(ctx, http.MethodPost, follow)
		if err != nil {
			return err
		}
		if r.status != http.StatusOK {
			return fmt.Errorf("follow %d got %d", i+1, r.status)
		}
	}
	s.ok("POST %s: %d served", follow, followBurst)
	before, err := s.acme.get(ctx, things)
	if err != nil {
		return err
	}
	const tries = 20
	for range tries {
		r, err := s.acme.send(ctx, http.MethodPost, follow)
		if err != nil {
			return err
		}
		if err := errors.Join(expect(r, http.StatusTooManyRequests, "rate_limited"), r.because("follow")); err != nil {
			return err
		}
	}
	s.ok("the next %d are refused, X-RateLimit-Reason: follow", tries)
	after, err := s.acme.get(ctx, things)
	if err != nil {
		return err
	}
	was, is, err := remaining(before, after)
	if err != nil {
		return err
	}
	// The bucket refills meanwhile, so it may hold more; one is the request that asks.
	if is < was-1 {
		return fmt.Errorf("the bucket of api held %d before and %d after: refused requests were charged", was, is)
	}
	s.ok("of api, %d were left before those %d and %d after: nothing was charged", was, tries, is)
	return nil
}

func (s *story) badKey(ctx context.Context) error {
	c := s.stranger
	c.key = "not-a-key"
	r, err := c.get(ctx, things)
	if err != nil {
		return err
	}
	if err := expect(r, http.StatusUnauthorized, "unauthorized"); err != nil {
		return err
	}
	s.ok("a key that nobody has: 401 Unauthorized")
	s.say("        %s", r.body)
	return nil
}

func (s *story) byAddress(ctx context.Context) error {
	here, there := s.stranger, s.stranger
	here.ip, there.ip = "198.51.100.7", "198.51.100.8"
	t := here.flood(ctx, 20)
	if t.err != nil {
		return t.err
	}
	if t.served < anonymousBurst || t.refused == 0 {
		return fmt.Errorf("of requests without a key %d were served, %d refused; want %d and the rest", t.served, t.refused, anonymousBurst)
	}
	s.ok("%s sends %d requests without a key: %d served, %d refused", here.ip, t.served+t.refused, t.served, t.refused)
	r, err := there.get(ctx, things)
	if err != nil {
		return err
	}
	if r.status != http.StatusOK {
		return fmt.Errorf("another address got %d", r.status)
	}
	s.ok("%s has a bucket of its own: served", there.ip)
	return nil
}

func (s *story) suspended(ctx context.Context) error {
	r, err := s.initech.get(ctx, things)
	if err != nil {
		return err
	}
	if err := errors.Join(expect(r, http.StatusTooManyRequests, "tenant_suspended"), r.because("suspended")); err != nil {
		return err
	}
	s.ok("initech's key is right, its account is not: 429, code tenant_suspended")
	s.say("        %s", r.body)
	return nil
}

func (s *story) say(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }

// ok says what has been observed.
func (s *story) ok(format string, args ...any) { s.say("   ok   "+format, args...) }

// show prints some headers of a reply.
func (s *story) show(r reply, names ...string) {
	for _, name := range names {
		if v := r.header.Get(name); v != "" {
			s.say("        %s: %s", name, v)
		}
	}
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
