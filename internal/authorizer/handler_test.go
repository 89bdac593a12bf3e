package authorizer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"weir/internal/directory"
	"weir/internal/limiter"
	"weir/internal/memstore"
	"weir/internal/plan"
	"weir/pkg/bucket"
)

const t0 = int64(1_796_072_401_000_000_000)

const testPlans = `
plans:
  small:
    limits:
      - {name: api, rate: 1/s, burst: 3}
      - {name: by-ip, key: "{ip}", rate: 100/s}
      - {name: by-header, key: "{tenant}:{header.x-user}", rate: 1/s, match: {resource: "/by-header"}}
  large:
    limits:
      - {name: api, rate: 1000/s}
tenants:
  - {id: acme, plan: small, keys: [acme-key]}
  - {id: big, plan: large, keys: [big-key]}
  - {id: gone, plan: small, keys: [gone-key], suspended: true}
badCredentials: {rate: 60/m, burst: 2}
`

// testDirectory is made once: the fuzzer needs thousands of Handlers.
var testDirectory = sync.OnceValues(func() (*directory.Static, *plan.File) {
	f, err := plan.Parse("test", []byte(testPlans))
	if err != nil {
		panic(err)
	}
	d, err := directory.NewStatic(f)
	if err != nil {
		panic(err)
	}
	return d, f
})

// lab is a Handler on real parts and a clock of its own.
type lab struct {
	*Handler
	store *memstore.Store
	now   int64
	lines bytes.Buffer // logged
}

func newLab(t testing.TB, o Options) *lab {
	t.Helper()
	d, f := testDirectory()
	l := &lab{store: memstore.New("test"), now: t0}
	o.Now = func() int64 { return l.now }
	o.Log = slog.New(slog.NewJSONHandler(&l.lines, nil))
	o.BadCredentials = &f.BadCredentials
	l.Handler = New(d, limiter.New(l.store, limiter.Options{}), o)
	return l
}

// rest, httpV2, httpV1 and webSocket are events with a credential and an address.
func rest(key, ip string) string {
	return fmt.Sprintf(`{"type":"REQUEST","httpMethod":"GET","resource":"/","headers":{"X-Api-Key":%q},"requestContext":{"identity":{"sourceIp":%q}}}`, key, ip)
}

func httpV2(key, ip string) string {
	return fmt.Sprintf(`{"version":"2.0","type":"REQUEST","routeKey":"GET /","headers":{"x-api-key":%q},"requestContext":{"http":{"method":"GET","sourceIp":%q}}}`, key, ip)
}

func httpV1(key, ip string) string {
	return strings.Replace(rest(key, ip), "{", `{"version":"1.0",`, 1)
}

func webSocket(key, ip string) string {
	return fmt.Sprintf(`{"type":"REQUEST","headers":{"x-api-key":%q},"requestContext":{"eventType":"CONNECT","identity":{"sourceIp":%q}}}`, key, ip)
}

// parsed is an answer of any form.
type parsed struct {
	PrincipalID    string
	PolicyDocument *struct {
		Version   string
		Statement []struct{ Action, Effect, Resource string }
	}
	IsAuthorized *bool
	Context      map[string]string
}

func (p parsed) allowed() bool {
	if p.IsAuthorized != nil {
		return *p.IsAuthorized
	}
	return p.PolicyDocument != nil && len(p.PolicyDocument.Statement) == 1 && p.PolicyDocument.Statement[0].Effect == "Allow"
}

// send returns the answer to an event, checked for form; an error ends the test.
func (l *lab) send(t testing.TB, event string) parsed {
	t.Helper()
	raw, err := l.Handle(context.Background(), json.RawMessage(event))
	if err != nil {
		t.Fatalf("got error %v, want an answer", err)
	}
	return checkAnswer(t, raw)
}

// checkAnswer parses an answer and checks what holds for every one.
func checkAnswer(t testing.TB, raw []byte) parsed {
	t.Helper()
	var p parsed
	if err := json.Unmarshal(raw, &p); err != nil {
		t.Fatalf("answer: %v: %s", err, raw)
	}
	switch {
	case (p.PolicyDocument == nil) == (p.IsAuthorized == nil):
		t.Errorf("answer is of no form: %s", raw)
	case p.PolicyDocument != nil:
		d := p.PolicyDocument
		if d.Version != "2012-10-17" || len(d.Statement) != 1 || d.Statement[0].Action != "execute-api:Invoke" || d.Statement[0].Resource != "*" || p.PrincipalID == "" {
			t.Errorf("policy is not what API Gateway takes: %s", raw)
		}
	}
	flagged := p.allowed() && p.Context["limited"] == "true"
	checkFields(t, p.Context, p.allowed() && !flagged)
	return p
}

// unauthorizedEvent fails the test unless the event is answered 401.
func (l *lab) unauthorizedEvent(t testing.TB, event string) {
	t.Helper()
	raw, err := l.Handle(context.Background(), json.RawMessage(event))
	if err == nil || err.Error() != "Unauthorized" || raw != nil {
		t.Errorf("got %s, %v; want the error Unauthorized", raw, err)
	}
}

func TestUntilOverTheLimit(t *testing.T) {
	kinds := []struct {
		name  string
		event func(key, ip string) string
		http  HTTPStyle
		over  bool // whether the API lets a request over the limit pass
	}{
		{"REST", rest, HTTPStyle{}, false},
		{"REST ignores the HTTP style", rest, HTTPStyle{IAM: true, Flag: true}, false},
		{"HTTP 2.0 simple, deny", httpV2, HTTPStyle{}, false},
		{"HTTP 2.0 simple, flag", httpV2, HTTPStyle{Flag: true}, true},
		{"HTTP 2.0 IAM, deny", httpV2, HTTPStyle{IAM: true}, false},
		{"HTTP 2.0 IAM, flag", httpV2, HTTPStyle{IAM: true, Flag: true}, true},
		{"HTTP 1.0, deny", httpV1, HTTPStyle{}, false},
		{"HTTP 1.0, flag", httpV1, HTTPStyle{Flag: true}, true},
		{"WebSocket", webSocket, HTTPStyle{Flag: true}, false},
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			l := newLab(t, Options{HTTP: k.http})
			event := k.event("acme-key", "203.0.113.7")
			for i := range 3 {
				got := l.send(t, event)
				if !got.allowed() || got.Context["code"] != "ok" {
					t.Fatalf("request %d: got %+v, want it allowed", i+1, got)
				}
			}
			got := l.send(t, event)
			if got.allowed() != k.over {
				t.Errorf("request 4: allowed %v, want %v", got.allowed(), k.over)
			}
			for key, want := range map[string]string{"tenant": "acme", "plan": "small", "limited": "true", "code": "rate_limited", "retryAfter": "1", "limit": "3", "remaining": "0", "reset": "3", "scope": "tenant", "reason": "api"} {
				if got.Context[key] != want {
					t.Errorf("request 4: %s is %q, want %q", key, got.Context[key], want)
				}
			}
			simple := strings.HasPrefix(k.name, "HTTP 2.0 simple")
			if (got.IsAuthorized != nil) != simple {
				t.Errorf("simple form: %v, want %v", got.IsAuthorized != nil, simple)
			}
			if !simple && got.PrincipalID != "acme" {
				t.Errorf("principalId %q, want acme", got.PrincipalID)
			}
			l.now += int64(time.Second)
			if got := l.send(t, event); !got.allowed() || got.Context["code"] != "ok" {
				t.Errorf("after Retry-After: got %+v, want it allowed", got)
			}
		})
	}
}

func TestSuspendedTenant(t *testing.T) {
	for _, flag := range []bool{false, true} { // never flagged: there is nothing to serve
		for name, event := range map[string]string{"REST": rest("gone-key", "203.0.113.7"), "HTTP 2.0": httpV2("gone-key", "203.0.113.7"), "WebSocket": webSocket("gone-key", "203.0.113.7")} {
			got := newLab(t, Options{HTTP: HTTPStyle{Flag: flag}}).send(t, event)
			if got.allowed() || got.Context["code"] != "tenant_suspended" || got.Context["scope"] != "tenant" || got.Context["reason"] != "suspended" || got.Context["tenant"] != "gone" {
				t.Errorf("%s, flag %v: got %+v, want a refusal of the tenant", name, flag, got)
			}
		}
	}
}

func TestUnauthorized(t *testing.T) {
	for name, event := range map[string]string{
		"REST, no key":       rest("", "203.0.113.7"),
		"REST, bad key":      rest("nope", "203.0.113.7"),
		"REST, malformed":    rest("a b", "203.0.113.7"),
		"HTTP 2.0, no key":   httpV2("", "203.0.113.7"),
		"HTTP 2.0, bad key":  httpV2("nope", "203.0.113.7"),
		"HTTP 2.0, two keys": httpV2("acme-key,acme-key", "203.0.113.7"),
		"HTTP 1.0, two keys": httpV1("acme-key,nope", "203.0.113.7"),
		"WebSocket, no key":  webSocket("", "203.0.113.7"),
		"TOKEN, bad key":     `{"type":"TOKEN","authorizationToken":"nope"}`,
		"TOKEN, malformed":   `{"type":"TOKEN","authorizationToken":"Bearer a b"}`,
		"TOKEN, none":        `{"type":"TOKEN"}`,
		"REST, two keys":     `{"type":"REQUEST","multiValueHeaders":{"X-Api-Key":["acme-key","acme-key"]}}`,
		"REST, two casings":  `{"type":"REQUEST","multiValueHeaders":{"X-Api-Key":["acme-key"],"x-api-key":["big-key"]}}`,
		"REST, no headers":   `{"type":"REQUEST"}`,
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, Options{})
			d := &counting{Directory: l.directory}
			l.directory = d
			l.unauthorizedEvent(t, event)
			if want := strings.Count(name, "bad key"); d.lookups != want {
				t.Errorf("%d lookups, want %d: only what may be a key is worth one", d.lookups, want)
			}
			if l.lines.Len() > 0 {
				t.Errorf("logged %s", &l.lines)
			}
		})
	}
}

func TestKeyHeader(t *testing.T) {
	l := newLab(t, Options{KeyHeader: "X-Partner-Key"})
	l.unauthorizedEvent(t, rest("acme-key", "203.0.113.7"))
	if got := l.send(t, `{"type":"REQUEST","headers":{"X-PARTNER-KEY":"acme-key"}}`); !got.allowed() {
		t.Errorf("got %+v, want it allowed", got)
	}
}

func TestSubjectReachesTheKeys(t *testing.T) {
	l := newLab(t, Options{})
	event := func(user string) string {
		return fmt.Sprintf(`{"type":"REQUEST","httpMethod":"get","resource":"/by-header","headers":{"x-api-key":"big-key","X-User":%q}}`, user)
	}
	f, err := plan.Parse("test", []byte(testPlans))
	if err != nil {
		t.Fatal(err)
	}
	f.Plans["large"].Limits = append(f.Plans["large"].Limits, f.Plans["small"].Limits[2])
	d, err := directory.NewStatic(f)
	if err != nil {
		t.Fatal(err)
	}
	l.directory = d
	for _, user := range []string{"ann", "bob"} { // one token each
		if got := l.send(t, event(user)); !got.allowed() {
			t.Errorf("%s: got %+v, want it allowed", user, got)
		}
	}
	got := l.send(t, event("ann"))
	if got.allowed() || got.Context["reason"] != "by-header" || got.Context["scope"] != "tenant:header.x-user" {
		t.Errorf("ann again: got %+v, want her refused by by-header", got)
	}
}

// TestChecks: the limiter is asked exactly what the plan says.
func TestChecks(t *testing.T) {
	l := newLab(t, Options{})
	p := &plan.Plan{Name: "p", Ver: 7, Stamp: 70, Carry: bucket.Additive, Limits: []plan.Limit{
		{Name: "api", Bucket: mustLimit(t, 100, time.Second, 100), Cost: 1, Hold: time.Second, Initial: 3},
		{Name: "export", Bucket: mustLimit(t, 10, time.Hour, 10), Key: mustTemplate(t, "{tenant}:{ip}:{method}:{route}"), Cost: 5},
		{Name: "by-ip", Bucket: mustLimit(t, 10, time.Hour, 10), Key: mustTemplate(t, "{ip}:{route}"), Cost: 1}, // shared: without a version
		{Name: "elsewhere", Match: plan.Match{Method: "POST"}, Cost: 1},
	}}
	l.directory = fakeDirectory{func(context.Context) (directory.Entry, error) {
		return directory.Entry{Tenant: plan.Tenant{ID: "acme", Stamp: 60}, Plan: p, Ver: 9}, nil
	}}
	var got []limiter.Check
	l.limiter = limiterFunc(func(_ context.Context, checks []limiter.Check) limiter.Decision {
		got = checks
		return limiter.Decision{Allowed: true, Tightest: -1}
	})
	l.send(t, `{"type":"REQUEST","httpMethod":"get","resource":"/r","headers":{"x-api-key":"k"},"requestContext":{"identity":{"sourceIp":"::ffff:203.0.113.7"}}}`)
	want := []limiter.Check{
		{Name: "api", Key: "api|acme", Limit: p.Limits[0].Bucket, Cost: 1, Ver: 9, Since: 70, Carry: bucket.Additive, Hold: time.Second, Initial: 3},
		{Name: "export", Key: "export|acme:ip=203.0.113.7:method=GET:route=/r", Limit: p.Limits[1].Bucket, Cost: 5, Ver: 9, Since: 70, Carry: bucket.Additive},
		{Name: "by-ip", Key: "by-ip|ip=203.0.113.7:route=/r", Limit: p.Limits[2].Bucket, Cost: 1},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestStoreDown(t *testing.T) {
	l := newLab(t, Options{})
	l.store.Fault = func(context.Context, string) error { return limiter.ErrUnavailable }
	for range 10 { // more than the burst
		got := l.send(t, rest("acme-key", "203.0.113.7"))
		if !got.allowed() || got.Context["remaining"] != "-1" || got.Context["code"] != "unchecked" {
			t.Fatalf("got %+v, want it allowed with -1 remaining", got)
		}
	}
	for range 10 { // and a bad key is still a bad key
		l.unauthorizedEvent(t, rest("nope", "203.0.113.7"))
	}
}

// fakeDirectory answers as told.
type fakeDirectory struct {
	byCredential func(ctx context.Context) (directory.Entry, error)
}

func (f fakeDirectory) ByCredential(ctx context.Context, _ int64, _ directory.Hash) (directory.Entry, error) {
	return f.byCredential(ctx)
}

func (f fakeDirectory) Anonymous(ctx context.Context, _ int64) (directory.Entry, error) {
	return f.byCredential(ctx)
}

func TestDirectoryDown(t *testing.T) {
	for name, err := range map[string]error{"error": errors.New("secret of the inside"), "timeout": context.DeadlineExceeded} {
		for _, event := range []string{rest("acme-key", "203.0.113.7"), rest("", "203.0.113.7"), httpV2("acme-key", "203.0.113.7")} {
			l := newLab(t, Options{HTTP: HTTPStyle{Flag: true}})
			l.directory = fakeDirectory{func(context.Context) (directory.Entry, error) { return directory.Entry{}, err }}
			got := l.send(t, event)
			if got.allowed() || got.Context["code"] != "unavailable" || got.Context["retryAfter"] != "1" {
				t.Errorf("%s: got %+v, want a refusal to retry", name, got)
			}
			if !strings.Contains(l.lines.String(), "directory") || strings.Contains(l.lines.String(), "secret") || strings.Contains(l.lines.String(), "acme-key") {
				t.Errorf("%s: logged %s", name, &l.lines)
			}
		}
	}
}

func TestTenantWithoutPlan(t *testing.T) {
	l := newLab(t, Options{})
	l.directory = fakeDirectory{func(context.Context) (directory.Entry, error) {
		return directory.Entry{Tenant: plan.Tenant{ID: "acme"}}, nil
	}}
	if got := l.send(t, rest("acme-key", "203.0.113.7")); got.allowed() || got.Context["code"] != "unavailable" {
		t.Errorf("got %+v, want it refused as unavailable", got)
	}
	if strings.Contains(l.lines.String(), "panic") {
		t.Errorf("logged %s", &l.lines)
	}
}

func TestMissingPlanIsTheOperatorsToMend(t *testing.T) {
	l := newLab(t, Options{})
	l.directory = fakeDirectory{func(context.Context) (directory.Entry, error) {
		return directory.Entry{}, &directory.MissingPlanError{Tenant: "acme", Plan: "gold"}
	}}
	if got := l.send(t, rest("acme-key", "203.0.113.7")); got.allowed() || got.Context["code"] != "unavailable" {
		t.Errorf("got %+v, want it refused as unavailable", got)
	}
	if line := l.lines.String(); !strings.Contains(line, `"level":"ERROR"`) || !strings.Contains(line, "gold") {
		t.Errorf("logged %s, want what is missing", line)
	}
}

// TestDeadlines: the lookup has a time of its own, and nothing may wait until
// Lambda ends the function.
func TestDeadlines(t *testing.T) {
	const lookup = 700 * time.Millisecond
	end := time.Now().Add(time.Hour)
	tests := []struct {
		name            string
		ctxEnd          time.Time // of the function; zero for none
		lookupIn        time.Duration
		limiterDeadline time.Time
	}{
		{"none", time.Time{}, lookup, time.Time{}},
		{"far away", end, lookup, end.Add(-answerMargin)},
		{"near", time.Now().Add(answerMargin + lookup/2), lookup / 2, time.Time{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLab(t, Options{LookupTimeout: lookup})
			var lookupEnd, limiterEnd time.Time
			l.directory = fakeDirectory{func(ctx context.Context) (directory.Entry, error) {
				lookupEnd, _ = ctx.Deadline()
				return directory.Entry{Plan: &plan.Plan{Name: "p"}}, nil
			}}
			l.limiter = limiterFunc(func(ctx context.Context, _ []limiter.Check) limiter.Decision {
				limiterEnd, _ = ctx.Deadline()
				return limiter.Decision{Allowed: true, Tightest: -1}
			})
			ctx := context.Background()
			if !tt.ctxEnd.IsZero() {
				var cancel context.CancelFunc
				ctx, cancel = context.WithDeadline(ctx, tt.ctxEnd)
				defer cancel()
			}
			before := time.Now()
			if _, err := l.Handle(ctx, json.RawMessage(rest("acme-key", "203.0.113.7"))); err != nil {
				t.Fatal(err)
			}
			after := time.Now()
			if lookupEnd.After(after.Add(tt.lookupIn)) || lookupEnd.Before(before.Add(tt.lookupIn-lookup/4)) {
				t.Errorf("lookup ends in %v, want %v", lookupEnd.Sub(before), tt.lookupIn)
			}
			if !tt.limiterDeadline.IsZero() && !limiterEnd.Equal(tt.limiterDeadline) {
				t.Errorf("the limiter's deadline is %v, want %v", limiterEnd, tt.limiterDeadline)
			}
		})
	}
}

type limiterFunc func(ctx context.Context, checks []limiter.Check) limiter.Decision

func (f limiterFunc) Decide(ctx context.Context, _ int64, checks []limiter.Check) limiter.Decision {
	return f(ctx, checks)
}

func TestPanicOnceTheCallerIsKnown(t *testing.T) {
	for name, event := range map[string]string{"REST": rest("acme-key", "203.0.113.7"), "HTTP 2.0": httpV2("acme-key", "203.0.113.7")} {
		l := newLab(t, Options{})
		l.limiter = limiterFunc(func(context.Context, []limiter.Check) limiter.Decision { panic("acme-key") })
		got := l.send(t, event)
		if !got.allowed() || got.Context["code"] != "unchecked" || got.Context["tenant"] != "acme" || got.Context["remaining"] != "-1" {
			t.Errorf("%s: got %+v, want it allowed", name, got)
		}
		line := l.lines.String()
		if strings.Count(line, "\n") != 1 || !strings.Contains(line, `"level":"ERROR"`) || !strings.Contains(line, "TestPanicOnceTheCallerIsKnown") {
			t.Errorf("%s: logged %s, want one line that says where", name, line)
		}
		if strings.Contains(line, "acme-key") {
			t.Errorf("%s: the log has the panic's value: %s", name, line)
		}
	}
}

// TestPanicBeforeTheCallerIsKnown: a bug must not become a way in.
func TestPanicBeforeTheCallerIsKnown(t *testing.T) {
	for name, event := range map[string]string{"REST": rest("nope", "203.0.113.7"), "HTTP 2.0": httpV2("nope", "203.0.113.7")} {
		l := newLab(t, Options{HTTP: HTTPStyle{Flag: true}})
		l.directory = fakeDirectory{func(context.Context) (directory.Entry, error) { panic("boom") }}
		if got := l.send(t, event); got.allowed() || got.Context["code"] != "unavailable" {
			t.Errorf("%s: got %+v, want it refused", name, got)
		}
	}
}

func TestNotAnAuthorizerEvent(t *testing.T) {
	for _, event := range []string{`{}`, `null`, `[]`, `"x"`, ``, `{"version":"2.0","routeKey":"GET /"}`} {
		l := newLab(t, Options{})
		got := l.send(t, event)
		if got.allowed() || got.Context["code"] != "unsupported_event" || got.PolicyDocument == nil {
			t.Errorf("%s: got %+v, want a refusal that says why", event, got)
		}
		if !strings.Contains(l.lines.String(), "authorizer") {
			t.Errorf("%s: logged %q", event, l.lines.String())
		}
	}
}

func TestConcurrentRequests(t *testing.T) {
	l := newLab(t, Options{})
	l.log = slog.New(slog.DiscardHandler)
	var wg sync.WaitGroup
	var mu sync.Mutex
	allowed, unauthorized, limited := 0, 0, 0
	for g := range 8 {
		wg.Go(func() {
			for i := range 50 {
				event := rest("acme-key", "203.0.113.7")
				if i%2 == 1 {
					event = rest("nope", fmt.Sprintf("203.0.113.%d", g%4))
				}
				raw, err := l.Handle(context.Background(), json.RawMessage(event))
				mu.Lock()
				switch {
				case err != nil:
					unauthorized++
				case checkAnswer(t, raw).allowed():
					allowed++
				default:
					limited++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if allowed != 3 || unauthorized != 4*2 || limited != 8*50-3-8 {
		t.Errorf("got %d allowed, %d unauthorized, %d limited; want the bursts: 3, 8, and the rest", allowed, unauthorized, limited)
	}
}
