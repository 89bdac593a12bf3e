package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"weir/internal/testbootstrap"
)

//go:embed event.json
var eventText string

// event is what API Gateway sends for a tenant's request.
func event(tenant, resource string) []byte {
	return []byte(strings.NewReplacer("KEY", keyOf(tenant), "RESOURCE", resource).Replace(eventText))
}

// reply is what an authorizer answered.
type reply struct {
	sent    int64  // ns since the Unix epoch
	code    string // "unauthorized" for the error
	limit   int64  // quoted
	allowed bool
	err     error
}

// call asks an authorizer.
func call(ctx context.Context, f *testbootstrap.Function, event []byte) reply {
	r := reply{sent: time.Now().UnixNano()}
	answer, err := f.Invoke(ctx, event)
	switch {
	case err != nil:
		r.err = fmt.Errorf("%w\n%s", err, f.Log())
		return r
	case answer.Err == "Unauthorized":
		r.code = "unauthorized"
		return r
	case answer.Err != "":
		r.err = fmt.Errorf("the authorizer says %q", answer.Err)
		return r
	}
	var a struct {
		PolicyDocument struct{ Statement []struct{ Effect string } }
		Context        struct{ Code, Limit string }
	}
	if r.err = json.Unmarshal(answer.Payload, &a); r.err != nil {
		return r
	}
	r.allowed = len(a.PolicyDocument.Statement) == 1 && a.PolicyDocument.Statement[0].Effect == "Allow"
	r.code = a.Context.Code
	r.limit, r.err = strconv.ParseInt(a.Context.Limit, 10, 64)
	return r
}

// prober asks one authorizer about a tenant again and again.
type prober struct {
	f     *testbootstrap.Function
	event []byte

	mu      sync.Mutex
	replies []reply
}

// probers returns one for every authorizer of every Region.
func (s *stage) probers(tenant string) []*prober {
	var all []*prober
	for _, r := range s.world.Regions {
		for _, f := range r.Authorizers {
			all = append(all, &prober{f: f, event: event(tenant, "/v1/things")})
		}
	}
	return all
}

// probe runs all probers, each with one request every pause, until the returned
// function is called.
func probe(ctx context.Context, all []*prober, pause time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for _, p := range all {
		wg.Go(func() {
			tick := time.NewTicker(pause)
			defer tick.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
				r := call(context.WithoutCancel(ctx), p.f, p.event) // a request under way is answered
				p.mu.Lock()
				p.replies = append(p.replies, r)
				p.mu.Unlock()
			}
		})
	}
	return func() {
		cancel()
		wg.Wait()
	}
}

// since returns the replies to requests sent at or after a time.
func (p *prober) since(at int64) []reply {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, r := range p.replies {
		if r.sent >= at {
			return p.replies[i:len(p.replies):len(p.replies)]
		}
	}
	return nil
}

// honoured returns when p sent the first request after at whose reply is as is
// says; 0 if there is none yet.
func (p *prober) honoured(at int64, is func(reply) bool) int64 {
	for _, r := range p.since(at) {
		if r.err == nil && is(r) {
			return r.sent
		}
	}
	return 0
}

// awaitAll waits until every prober has seen a reply as is says to a request sent
// after at, and returns how long after at each of them had sent it.
func awaitAll(ctx context.Context, all []*prober, at int64, is func(reply) bool) ([]time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, tooLong)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var took []time.Duration
		for _, p := range all {
			if t := p.honoured(at, is); t != 0 {
				took = append(took, time.Duration(t-at))
			}
		}
		if len(took) == len(all) {
			return took, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%d of %d authorizers honoured it within %v", len(took), len(all), tooLong)
		case <-tick.C:
		}
	}
}

// tooLong is when a change is given up on: that of a directory which nobody has
// told anything.
const tooLong = 30 * time.Second
