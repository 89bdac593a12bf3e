package authorizer

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"weir/internal/directory"
	"weir/internal/identity"
	"weir/internal/limiter"
	"weir/internal/plan"
	"weir/pkg/bucket"
)

// counting counts the lookups of a directory, and remembers what it is told to.
type counting struct {
	directory.Directory
	lookups    int
	remembered map[directory.Hash]bool
}

func (c *counting) ByCredential(ctx context.Context, now int64, h directory.Hash) (directory.Entry, error) {
	c.lookups++
	return c.Directory.ByCredential(ctx, now, h)
}

func (c *counting) Remembers(_ int64, h directory.Hash) bool { return c.remembered[h] }

// The limit of failed credentials is 60 a minute with a burst of 2.
func TestGuessing(t *testing.T) {
	l := newLab(t, Options{})
	d := &counting{Directory: l.directory, remembered: map[directory.Hash]bool{}}
	l.directory = d
	const ip, other = "203.0.113.7", "203.0.113.8"

	l.unauthorizedEvent(t, rest("guess-1", ip))
	l.unauthorizedEvent(t, rest("guess-2", ip))
	got := l.send(t, rest("guess-3", ip))
	want := map[string]string{"tenant": "-", "plan": "-", "code": "rate_limited", "scope": "ip", "reason": "bad_credentials", "retryAfter": "1", "limit": "2", "remaining": "0", "reset": "2", "rateLimit": `"bad_credentials";r=0;t=1`}
	for k, v := range want {
		if got.Context[k] != v {
			t.Errorf("third guess: %s is %q, want %q", k, got.Context[k], v)
		}
	}
	if got.allowed() {
		t.Error("third guess: allowed")
	}

	// From now on guesses buy no lookup, and neither do requests with no key at all.
	before, calls := d.lookups, 0
	l.store.Fault = func(context.Context, string) error { calls++; return nil }
	for i := range 20 {
		if got := l.send(t, rest(fmt.Sprint("more-", i), ip)); got.allowed() || got.Context["reason"] != "bad_credentials" {
			t.Fatalf("got %+v, want it refused", got)
		}
		if got := l.send(t, rest("", ip)); got.allowed() || got.Context["reason"] != "bad_credentials" {
			t.Fatalf("no key: got %+v, want it refused", got)
		}
	}
	if d.lookups != before || calls != 0 {
		t.Errorf("%d lookups and %d store calls while the address was blocked, want none", d.lookups-before, calls)
	}

	// Others are not concerned.
	l.unauthorizedEvent(t, rest("guess", other))
	if got := l.send(t, rest("big-key", other)); !got.allowed() {
		t.Errorf("another address: got %+v, want it allowed", got)
	}

	// A key that is known to be good passes even from there; one that is not must wait.
	if got := l.send(t, rest("big-key", ip)); got.allowed() || got.Context["retryAfter"] != "1" {
		t.Errorf("good key, not in memory: got %+v, want it refused for 1 s", got)
	}
	d.remembered[directory.HashOf("big-key")] = true
	if got := l.send(t, rest("big-key", ip)); !got.allowed() {
		t.Errorf("good key, in memory: got %+v, want it allowed", got)
	}

	// One second is one failed credential more.
	l.now += int64(time.Second)
	l.unauthorizedEvent(t, rest("guess", ip))
	if got := l.send(t, rest("guess", ip)); got.allowed() {
		t.Errorf("got %+v, want it refused again", got)
	}
}

// A key that only looks like one of Weir's buys no lookup, and is a guess like any
// other; one of another form may have been imported.
func TestMistypedKeysAreNotLookedUp(t *testing.T) {
	l := newLab(t, Options{})
	d := &counting{Directory: l.directory}
	l.directory = d
	issued, err := identity.NewKey(rand.Reader, "live")
	if err != nil {
		t.Fatal(err)
	}
	mistyped := issued[:len(issued)-1]
	for kind, event := range map[string]func(key, ip string) string{
		"203.0.113.1": rest, "203.0.113.2": httpV2, "203.0.113.3": httpV1, "203.0.113.4": webSocket,
		"203.0.113.5": func(key, _ string) string { return fmt.Sprintf(`{"type":"TOKEN","authorizationToken":%q}`, key) },
	} {
		l.unauthorizedEvent(t, event(mistyped, kind))
	}
	if d.lookups != 0 {
		t.Errorf("%d lookups of mistyped keys, want none", d.lookups)
	}
	const ip = "203.0.113.7"
	l.unauthorizedEvent(t, rest(issued, ip)) // nobody's, but that has to be looked up
	if d.lookups != 1 {
		t.Errorf("%d lookups of a key that checks, want 1", d.lookups)
	}
	l.unauthorizedEvent(t, rest(mistyped, ip))
	calls := 0
	l.store.Fault = func(context.Context, string) error { calls++; return nil }
	for range 20 {
		if got := l.send(t, rest(mistyped, ip)); got.allowed() || got.Context["reason"] != "bad_credentials" {
			t.Fatalf("third guess: got %+v, want it refused", got)
		}
	}
	if calls != 0 || d.lookups != 1 {
		t.Errorf("%d store calls and %d lookups while the address was blocked", calls, d.lookups-1)
	}
}

// What guesses from one address cost the config table: as many reads as the limit
// of failed credentials lets through, however many the guesses are.
func TestGuessesCostFewReads(t *testing.T) {
	l := newLab(t, Options{})
	source := &emptySource{}
	l.directory = directory.NewCached(source, directory.Options{MaxMissing: 100})
	refused := 0
	for i := range 5000 { // for ten seconds
		l.now += int64(2 * time.Millisecond)
		answer, err := l.Handle(context.Background(), []byte(rest(fmt.Sprint("guess-", i), "203.0.113.7")))
		if err == nil && answer != nil {
			refused++
		}
	}
	if limit := 2 + 10; source.reads > limit || source.reads < 2 {
		t.Errorf("%d reads for 5000 guesses in 10 s, want up to %d", source.reads, limit)
	}
	if refused < 4900 {
		t.Errorf("%d of 5000 guesses answered as too many", refused)
	}
}

// A credential that is known to be nobody's costs no read, from any address.
func TestUnknownCredentialsAreRemembered(t *testing.T) {
	l := newLab(t, Options{})
	source := &emptySource{}
	l.directory = directory.NewCached(source, directory.Options{})
	for i := range 200 {
		l.unauthorizedEvent(t, rest("revoked-key", fmt.Sprintf("203.0.113.%d", i)))
	}
	if source.reads != 1 {
		t.Errorf("%d reads for one unknown key from 200 addresses, want 1", source.reads)
	}
}

// emptySource is a directory.Source without anything in it.
type emptySource struct{ reads int }

func (s *emptySource) Credential(context.Context, directory.Hash) (directory.Credential, error) {
	s.reads++
	return directory.Credential{}, directory.ErrNotFound
}

func (s *emptySource) Tenant(context.Context, string) (plan.Tenant, error) {
	return plan.Tenant{}, directory.ErrNotFound
}

func (s *emptySource) Plan(context.Context, string) (*plan.Plan, error) {
	return nil, directory.ErrNotFound
}

func TestGuessingCountsIPv6BySubnet(t *testing.T) {
	l := newLab(t, Options{})
	l.unauthorizedEvent(t, rest("guess", "2001:db8:1:2::1"))
	l.unauthorizedEvent(t, rest("guess", "2001:db8:1:2::2"))
	if got := l.send(t, rest("guess", "2001:db8:1:2::3")); got.allowed() {
		t.Errorf("third address of a /64: got %+v, want it refused", got)
	}
	l.unauthorizedEvent(t, rest("guess", "2001:db8:1:3::1"))
}

// TestGuessingWithoutAddress: TOKEN events have none, and one bucket for all of
// them would be one that anybody could empty.
func TestGuessingWithoutAddress(t *testing.T) {
	l := newLab(t, Options{})
	for range 10 {
		l.unauthorizedEvent(t, `{"type":"TOKEN","authorizationToken":"guess"}`)
	}
	if got := l.send(t, `{"type":"TOKEN","authorizationToken":"acme-key"}`); !got.allowed() {
		t.Errorf("good key: got %+v, want it allowed", got)
	}
}

// TestGuessingInMemory: where lookups are free, a good key passes from any address.
func TestGuessingInMemory(t *testing.T) {
	l := newLab(t, Options{})
	for range 2 {
		l.unauthorizedEvent(t, rest("guess", "203.0.113.7"))
	}
	if got := l.send(t, rest("guess", "203.0.113.7")); got.allowed() {
		t.Errorf("third guess: got %+v, want it refused", got)
	}
	if got := l.send(t, rest("big-key", "203.0.113.7")); !got.allowed() {
		t.Errorf("good key: got %+v, want it allowed", got)
	}
}

func TestGoodKeysDoNotCountAsGuesses(t *testing.T) {
	l := newLab(t, Options{})
	for range 100 {
		if got := l.send(t, rest("big-key", "203.0.113.7")); !got.allowed() {
			t.Fatalf("got %+v, want it allowed", got)
		}
	}
}

func TestGuessesTimes(t *testing.T) {
	var g guesses
	g.block("a", t0, limiter.Result{Wait: 3 * time.Second, Full: 5 * time.Second})
	g.block("never", t0, limiter.Result{Wait: bucket.Never})

	r, ok := g.blocked("a", t0+int64(time.Second))
	if !ok || r.Wait != 2*time.Second || r.Full != 4*time.Second {
		t.Errorf("after 1 s: got %+v, %v; want 2 s to wait, 4 s until full", r, ok)
	}
	if _, ok := g.blocked("a", t0+int64(3*time.Second)); ok {
		t.Error("blocked at the time when a try makes sense")
	}
	if r, ok := g.blocked("never", t0+int64(time.Second)); !ok || r.Wait != bucket.Never {
		t.Errorf("never: got %+v, %v", r, ok)
	}
	if _, ok := g.blocked("never", t0+int64(maxBlockTime)); ok {
		t.Error("never: blocked for longer than a process may remember")
	}
	if !g.empty() {
		t.Error("what has passed is kept")
	}
}

func TestGuessesAreBounded(t *testing.T) {
	var g guesses
	for i := range 3 * maxBlocked {
		g.block(fmt.Sprint(i), t0+int64(i), limiter.Result{Wait: time.Second})
		if len(g.until) > maxBlocked {
			t.Fatalf("%d addresses remembered, want at most %d", len(g.until), maxBlocked)
		}
	}
	if _, ok := g.blocked(fmt.Sprint(3*maxBlocked-1), t0+3*maxBlocked); !ok {
		t.Error("the newest address is forgotten")
	}
}
