package authorizer

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"weir/internal/directory"
	"weir/internal/limiter"
	"weir/internal/plan"
)

// planLab is a lab with plans of its own.
func planLab(t *testing.T, plans string, o limiter.Options) *lab {
	t.Helper()
	f, err := plan.Parse("plans", []byte(plans))
	if err != nil {
		t.Fatal(err)
	}
	d, err := directory.NewStatic(f)
	if err != nil {
		t.Fatal(err)
	}
	l := newLab(t, Options{})
	l.directory, l.limiter = d, limiter.New(l.store, o)
	return l
}

// logged returns the lines of the log, and empties it.
func (l *lab) logged(t *testing.T) []map[string]any {
	t.Helper()
	var lines []map[string]any
	for line := range strings.Lines(l.lines.String()) {
		m := map[string]any{}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, m)
	}
	l.lines.Reset()
	return lines
}

func TestPoliciesReachTheLimiter(t *testing.T) {
	l := planLab(t, `
plans:
  p:
    hold: 100ms
    limits:
      - { name: a, rate: 100/s }
      - { name: b, rate: 100/s, mode: shadow, onError: deny, hold: 1s }
      - { name: c, rate: 100/s, mode: "off", onError: local, initial: 7 }
tenants:
  - { id: plain, plan: p, keys: [plain] }
  - { id: special, plan: p, keys: [special], mode: shadow, hold: 250ms }
`, limiter.Options{})
	asked := &spy{Limiter: l.limiter}
	l.limiter = asked
	type policy struct {
		Mode    limiter.Mode
		Hold    time.Duration
		OnError limiter.OnError
		Initial int64
	}
	for tenant, want := range map[string][]policy{
		"plain":   {{limiter.Enforce, 100 * time.Millisecond, limiter.Admit, 0}, {limiter.Shadow, time.Second, limiter.Deny, 0}, {limiter.Off, 100 * time.Millisecond, limiter.AdmitLocal, 7}},
		"special": {{limiter.Shadow, 250 * time.Millisecond, limiter.Admit, 0}, {limiter.Shadow, time.Second, limiter.Deny, 0}, {limiter.Off, 250 * time.Millisecond, limiter.AdmitLocal, 7}},
	} {
		l.send(t, rest(tenant, ""))
		for i, c := range asked.checks {
			if got := (policy{c.Mode, c.Hold, c.OnError, c.Initial}); got != want[i] {
				t.Errorf("tenant %s, limit %s: got %+v, want %+v", tenant, c.Name, got, want[i])
			}
		}
	}
}

const shadowPlans = `
plans:
  trial: { mode: shadow, limits: [{ name: api, rate: 1/s, burst: 2 }] }
  both:
    limits:
      - { name: api, rate: 10/s }
      - { name: next, rate: 1/s, burst: 2, mode: shadow }
tenants:
  - { id: acme, plan: trial, keys: [acme] }
  - { id: hooli, plan: both, keys: [hooli] }
`

// Where nothing is enforced clients see what they see without limits, and the
// log what they do not.
func TestShadowRefusesNothing(t *testing.T) {
	l := planLab(t, shadowPlans, limiter.Options{})
	for range 6 {
		got := l.send(t, rest("acme", ""))
		for k, want := range map[string]string{"code": "ok", "limit": "-1", "remaining": "-1", "reason": "none", "scope": "none", "rateLimit": "", "rateLimitPolicy": ""} {
			if got.Context[k] != want {
				t.Errorf("%s is %q, want %q", k, got.Context[k], want)
			}
		}
		if !got.allowed() {
			t.Fatalf("refused: %+v", got)
		}
	}
	lines := l.logged(t)
	if len(lines) != 1 {
		t.Fatalf("%d lines for 4 refusals in shadow, want one: %v", len(lines), lines)
	}
	for k, want := range map[string]any{"level": "INFO", "tenant": "acme", "plan": "trial", "reason": "api", "scope": "tenant", "retryAfter": "1", "requests": 1.0} {
		if lines[0][k] != want {
			t.Errorf("%s is %v, want %v", k, lines[0][k], want)
		}
	}
	l.now += int64(noticeEvery)
	for range 3 { // two of which fit
		l.send(t, rest("acme", ""))
	}
	if lines := l.logged(t); len(lines) != 1 || lines[0]["requests"] != 4.0 {
		t.Errorf("ten seconds later: %v, want a line about the 3 before and this one", lines)
	}
}

func TestShadowBesideAnEnforcedLimit(t *testing.T) {
	l := planLab(t, shadowPlans, limiter.Options{})
	for i := range 12 {
		got := l.send(t, rest("hooli", ""))
		if got.allowed() != (i < 10) || got.Context["reason"] != "api" || strings.Contains(got.Context["rateLimitPolicy"]+got.Context["rateLimit"], "next") {
			t.Errorf("request %d: %+v, want it decided by api alone", i+1, got)
		}
	}
	l.now += int64(noticeEvery)
	for range 3 {
		l.send(t, rest("hooli", ""))
	}
	// Of 10 that passed 8 were over the shadow; the two that api refused do not count.
	lines := l.logged(t)
	if len(lines) != 2 || lines[0]["requests"] != 1.0 || lines[1]["requests"] != 8.0 || lines[1]["reason"] != "next" {
		t.Errorf("logged %v, want a line about the first and one about 8", lines)
	}
}

func TestHeldRequest(t *testing.T) {
	var slept []time.Duration
	l := planLab(t, `
plans: { p: { limits: [{ name: api, rate: 10/s, burst: 2, hold: 250ms }] } }
tenants: [{ id: acme, plan: p, keys: [acme] }]
`, limiter.Options{Sleep: func(_ context.Context, d time.Duration) error { slept = append(slept, d); return nil }})
	for i, want := range []string{"0", "0", "100", "200"} {
		if got := l.send(t, rest("acme", "")); !got.allowed() || got.Context["held"] != want {
			t.Errorf("request %d: %+v, want it held for %s ms", i+1, got, want)
		}
	}
	got := l.send(t, rest("acme", ""))
	if got.allowed() || got.Context["held"] != "0" || got.Context["retryAfter"] != "1" || got.Context["code"] != "rate_limited" {
		t.Errorf("request 5: %+v, want it refused at once", got)
	}
	if len(slept) != 2 {
		t.Errorf("slept %v, want twice", slept)
	}
	lines := l.logged(t)
	if len(lines) != 1 || lines[0]["held"] != "100" || lines[0]["reason"] != "api" || lines[0]["level"] != "INFO" {
		t.Errorf("logged %v, want one line about the first", lines)
	}
}

// 300/s for five seconds where 100/s may pass: what is held is a queue of at most
// 250 ms, and what is beyond is refused at once.
func TestHoldUnderLastingOverload(t *testing.T) {
	longest := time.Duration(0)
	l := planLab(t, `
plans: { p: { limits: [{ name: api, rate: 100/s, hold: 250ms }] } }
tenants: [{ id: acme, plan: p, keys: [acme] }]
`, limiter.Options{Sleep: func(_ context.Context, d time.Duration) error { longest = max(longest, d); return nil }})
	served := [5]int{}
	total := 0
	for i := range 5 * 300 {
		if l.send(t, rest("acme", "")).allowed() {
			served[i/300]++
			total++
		}
		l.now += int64(time.Second) / 300
	}
	t.Logf("served in each second: %v; held for %v at most", served, longest)
	if longest > 250*time.Millisecond || longest < 200*time.Millisecond {
		t.Errorf("held for %v at most, want nearly 250 ms and no more", longest)
	}
	// The burst, 100/s, and the 25 that take their tokens from the sixth second.
	if total > 625 || total < 550 {
		t.Errorf("%d served, want 625 less a pause at the end", total)
	}
}

// A limit in shadow holds nobody.
func TestShadowDoesNotHold(t *testing.T) {
	l := planLab(t, `
plans: { p: { limits: [{ name: api, rate: 10/s, burst: 1, hold: 250ms, mode: shadow }, { name: wide, rate: 100/s }] } }
tenants: [{ id: acme, plan: p, keys: [acme] }]
`, limiter.Options{Sleep: func(context.Context, time.Duration) error { t.Error("held"); return nil }})
	for range 3 { // within the hold
		if got := l.send(t, rest("acme", "")); !got.allowed() || got.Context["held"] != "0" {
			t.Errorf("got %+v, want it to pass at once", got)
		}
	}
	if lines := l.logged(t); len(lines) != 0 {
		t.Errorf("logged %v, want nothing", lines)
	}
}

// A request whose time is up while it is held is refused, and its tokens were not
// used.
func TestHoldBrokenOff(t *testing.T) {
	l := planLab(t, `
plans: { p: { limits: [{ name: api, rate: 10/s, burst: 1, hold: 250ms }] } }
tenants: [{ id: acme, plan: p, keys: [acme] }]
`, limiter.Options{Sleep: func(context.Context, time.Duration) error { return context.DeadlineExceeded }})
	l.send(t, rest("acme", ""))
	got := l.send(t, rest("acme", ""))
	if got.allowed() || got.Context["code"] != "unavailable" || got.Context["retryAfter"] != "1" || got.Context["held"] != "0" {
		t.Errorf("got %+v, want a refusal", got)
	}
}

const onErrorPlans = `
plans:
  p:
    limits:
      - { name: api, rate: 100/s }
      - { name: otp, rate: 5/h, onError: deny, match: { resource: /otp } }
      - { name: part, rate: 60/m, onError: local, match: { resource: /part } }
      - { name: trial, rate: 5/h, onError: deny, mode: shadow, match: { resource: /trial } }
tenants: [{ id: acme, plan: p, keys: [acme] }]
`

func restTo(resource string) string {
	return strings.Replace(rest("acme", "203.0.113.7"), `"resource":"/"`, `"resource":"`+resource+`"`, 1)
}

func TestOnError(t *testing.T) {
	l := planLab(t, onErrorPlans, limiter.Options{Processes: 20})
	l.store.Fault = func(context.Context, string) error { return limiter.ErrUnavailable }
	want := func(got parsed, allowed bool, fields map[string]string) {
		t.Helper()
		if got.allowed() != allowed {
			t.Errorf("allowed %v, want %v: %+v", got.allowed(), allowed, got)
		}
		for k, v := range fields {
			if got.Context[k] != v {
				t.Errorf("%s is %q, want %q", k, got.Context[k], v)
			}
		}
	}
	for range 3 {
		want(l.send(t, restTo("/")), true, map[string]string{"code": "unchecked", "remaining": "-1"})
		want(l.send(t, restTo("/otp")), false, map[string]string{"code": "unavailable", "reason": "otp", "remaining": "-1", "retryAfter": "1"})
		want(l.send(t, restTo("/trial")), true, map[string]string{"code": "unchecked", "reason": "api"})
	}
	for range 3 { // a twentieth of the burst of 60
		want(l.send(t, restTo("/part")), true, map[string]string{"code": "unchecked", "remaining": "-1"})
	}
	want(l.send(t, restTo("/part")), false, map[string]string{"code": "rate_limited", "reason": "part", "remaining": "-1", "retryAfter": "20"})
	l.now += 20 * int64(time.Second)
	want(l.send(t, restTo("/part")), true, nil)
	if lines := l.logged(t); len(lines) != 0 {
		t.Errorf("logged %v: what nobody can tell is no refusal in shadow", lines)
	}
}

// A bug in Weir is to a limit what a store is that cannot tell.
func TestPanicKeepsOnError(t *testing.T) {
	for resource, allowed := range map[string]bool{"/": true, "/otp": false, "/part": true, "/trial": true} {
		l := planLab(t, onErrorPlans, limiter.Options{})
		l.limiter = limiterFunc(func(context.Context, []limiter.Check) limiter.Decision { panic("boom") })
		got := l.send(t, restTo(resource))
		if got.allowed() != allowed || got.Context["remaining"] != "-1" || got.Context["tenant"] != "acme" {
			t.Errorf("%s: %+v, want allowed %v", resource, got, allowed)
		}
		if !allowed && (got.Context["code"] != "unavailable" || got.Context["reason"] != "otp" || got.Context["retryAfter"] != "1") {
			t.Errorf("%s: %+v, want a refusal by otp", resource, got)
		}
	}
}

func TestNoticesAreBounded(t *testing.T) {
	var n notices
	for i := range 3 * maxTopics {
		n.count(t0, topic{limit: string(rune(i))})
	}
	if len(n.topics) > maxTopics {
		t.Errorf("%d topics, want at most %d", len(n.topics), maxTopics)
	}
}

// A clock that is set back does not silence the log.
func TestNoticesSurviveTheClock(t *testing.T) {
	var n notices
	n.count(t0, topic{})
	if got, due := n.count(t0-int64(time.Hour), topic{}); !due || got != 1 {
		t.Errorf("an hour earlier: %d, %v; want it told", got, due)
	}
}
