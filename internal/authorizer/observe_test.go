package authorizer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"weir/internal/directory"
	"weir/internal/limiter"
	"weir/internal/telemetry"
	"weir/internal/telemetry/metric"
)

// watcher notes what an Observer is told.
type watcher struct {
	mu       sync.Mutex
	begun    int
	answered []telemetry.Decision
	details  []telemetry.Detail
	spans    []telemetry.Span
	failed   map[string]int
	panics   bool // when it is told of an answer
}

type watchedKey struct{}

type watchedSpan struct{ n int }

func (watchedSpan) End(*telemetry.Decision) {}

func (w *watcher) Begin(ctx context.Context) (context.Context, telemetry.Span) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun++
	return context.WithValue(ctx, watchedKey{}, w.begun), watchedSpan{w.begun}
}

func (w *watcher) Answered(ctx context.Context, s telemetry.Span, d telemetry.Decision, x telemetry.Detail) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n, _ := ctx.Value(watchedKey{}).(int); s != (watchedSpan{n}) {
		panic("another event's context")
	}
	w.answered = append(w.answered, d)
	w.details = append(w.details, x)
	if w.panics {
		panic("observer")
	}
}

func (w *watcher) Failed(_ int64, kind string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed == nil {
		w.failed = make(map[string]int)
	}
	w.failed[kind]++
}

// last returns what was told of the last event, of which there were n.
func (w *watcher) last(t *testing.T, n int) (telemetry.Decision, telemetry.Detail) {
	t.Helper()
	if w.begun != n || len(w.answered) != n {
		t.Fatalf("%d events begun and %d answered, want %d", w.begun, len(w.answered), n)
	}
	return w.answered[n-1], w.details[n-1]
}

// TestObserved: an observer is told once of every event, and what became of it.
func TestObserved(t *testing.T) {
	const ip = "203.0.113.7"
	allow := func(r ...limiter.Result) limiterFunc {
		return func(context.Context, []limiter.Check) limiter.Decision {
			d := limiter.Decision{Allowed: true, Results: r}
			for i := range r {
				d.Allowed = d.Allowed && (r[i].Allowed || r[i].Mode != limiter.Enforce)
				if !r[i].Allowed && r[i].Mode == limiter.Enforce {
					d.Tightest = i
				}
			}
			return d
		}
	}
	api := limiter.Result{Name: "api", Allowed: true, FromMemory: true, Remaining: 1}
	with := func(change func(*limiter.Result)) limiter.Result { r := api; change(&r); return r }
	acme := telemetry.Decision{Now: t0, Tenant: "acme", Plan: "small", Limit: "api", Source: telemetry.Memory}
	as := func(change func(*telemetry.Decision)) telemetry.Decision { d := acme; change(&d); return d }
	stranger := telemetry.Decision{Now: t0, Tenant: "-", Plan: "-"}

	for name, tt := range map[string]struct {
		event   string
		limiter Limiter
		want    telemetry.Decision
		failed  string
	}{
		"from memory": {rest("acme-key", ip), allow(api), acme, ""},
		"from the store": {rest("acme-key", ip), allow(api, with(func(r *limiter.Result) { r.Name, r.FromMemory = "by-ip", false })),
			as(func(d *telemetry.Decision) { d.Source = telemetry.Store }), ""},
		"refused": {rest("acme-key", ip), allow(api, with(func(r *limiter.Result) { r.Name, r.Allowed, r.Wait = "by-ip", false, time.Second })),
			as(func(d *telemetry.Decision) { d.Limit, d.Reason = "by-ip", telemetry.RateLimited }), ""},
		"let through unchecked": {rest("acme-key", ip), allow(with(func(r *limiter.Result) { r.Unknown, r.FromMemory, r.Remaining = true, false, -1 })),
			as(func(d *telemetry.Decision) { d.Source, d.Reason, d.Blind = telemetry.Policy, telemetry.Unchecked, true }), ""},
		"held": {rest("acme-key", ip), allow(with(func(r *limiter.Result) { r.Hold = 40 * time.Millisecond })),
			as(func(d *telemetry.Decision) { d.Held = 40 * time.Millisecond }), ""},
		"in shadow": {rest("acme-key", ip), allow(api, with(func(r *limiter.Result) { r.Name, r.Allowed, r.Mode = "by-ip", false, limiter.Shadow })),
			as(func(d *telemetry.Decision) { d.Shadows = []string{"by-ip"} }), ""},
		"no limit": {rest("acme-key", ip), limiterFunc(func(context.Context, []limiter.Check) limiter.Decision {
			return limiter.Decision{Allowed: true, Tightest: -1}
		}), as(func(d *telemetry.Decision) { d.Limit, d.Source = "", telemetry.None }), ""},
		"a bug, once the caller is known": {rest("acme-key", ip), limiterFunc(func(context.Context, []limiter.Check) limiter.Decision { panic("boom") }),
			as(func(d *telemetry.Decision) { d.Limit, d.Source, d.Reason = "", telemetry.None, telemetry.Unchecked }), metric.Panic},
		"suspended":                 {rest("gone-key", ip), nil, telemetry.Decision{Now: t0, Tenant: "gone", Plan: "small", Reason: telemetry.Suspended}, ""},
		"no credential, no address": {rest("", ""), nil, func() telemetry.Decision { d := stranger; d.Reason = telemetry.Unauthorized; return d }(), ""},
		"wrong credential":          {rest("wrong", ip), nil, telemetry.Decision{Now: t0, Tenant: "-", Plan: "-", Limit: "bad_credentials", Source: telemetry.Store, Reason: telemetry.Unauthorized}, ""},
		"no event":                  {`{"type":"none"}`, nil, func() telemetry.Decision { d := stranger; d.Reason = telemetry.Unsupported; return d }(), metric.Unsupported},
	} {
		t.Run(name, func(t *testing.T) {
			w := &watcher{}
			l := newLab(t, Options{Observer: w})
			if tt.limiter != nil {
				l.limiter = tt.limiter
			}
			_, _ = l.Handle(context.Background(), json.RawMessage(tt.event))
			got, x := w.last(t, 1)
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", tt.want) {
				t.Errorf("told\n%+v\nwant\n%+v", got, tt.want)
			}
			if strings.HasPrefix(name, "from") && (x.Scope != "tenant" || x.Method != "GET" || x.Resource != "/" || x.IP.String() != ip || x.RetryAfter != "0") {
				t.Errorf("told of it: %+v", x)
			}
			want := map[string]int{}
			if tt.failed != "" {
				want[tt.failed] = 1
			}
			if !maps.Equal(w.failed, want) {
				t.Errorf("failed: %v, want %v", w.failed, want)
			}
		})
	}
}

// TestObservedGuesses: too many failed credentials are a reason of their own.
func TestObservedGuesses(t *testing.T) {
	w := &watcher{}
	l := newLab(t, Options{Observer: w})
	for range 4 { // the burst is 2
		_, _ = l.Handle(context.Background(), json.RawMessage(rest("wrong", "203.0.113.7")))
	}
	d, x := w.last(t, 4)
	if d.Reason != telemetry.BadCredentials || d.Limit != "bad_credentials" || d.Source != telemetry.Memory || x.Scope != "ip" {
		t.Errorf("told %+v, %+v", d, x)
	}
}

// TestObservedLookups: who cannot be found is a failure, by whose fault it is.
func TestObservedLookups(t *testing.T) {
	for kind, err := range map[string]error{metric.Lookup: context.DeadlineExceeded, metric.Contradiction: &directory.MissingPlanError{Tenant: "acme", Plan: "gold"}} {
		w := &watcher{}
		l := newLab(t, Options{Observer: w})
		l.directory = fakeDirectory{func(context.Context) (directory.Entry, error) { return directory.Entry{}, err }}
		l.send(t, rest("acme-key", ""))
		if d, _ := w.last(t, 1); d.Reason != telemetry.Unavailable || d.Source != telemetry.None || w.failed[kind] != 1 || len(w.failed) != 1 {
			t.Errorf("%s: told %+v, failed %v", kind, d, w.failed)
		}
	}
}

// TestObservedTime: what a request was held is not what its decision took.
func TestObservedTime(t *testing.T) {
	w := &watcher{}
	l := newLab(t, Options{Observer: w})
	l.limiter = limiterFunc(func(context.Context, []limiter.Check) limiter.Decision {
		l.now += int64(47 * time.Millisecond)
		return limiter.Decision{Allowed: true, Results: []limiter.Result{{Name: "api", Allowed: true, Hold: 40 * time.Millisecond}}}
	})
	l.send(t, rest("acme-key", ""))
	if d, _ := w.last(t, 1); d.Took != 7*time.Millisecond || d.Held != 40*time.Millisecond || d.Now != t0 {
		t.Errorf("told %+v, want 7 ms and 40 ms", d)
	}
}

// TestObserverPanics: it costs nobody an answer.
func TestObserverPanics(t *testing.T) {
	l := newLab(t, Options{Observer: &watcher{panics: true}})
	if got := l.send(t, rest("acme-key", "")); !got.allowed() {
		t.Errorf("got %+v, want it allowed", got)
	}
	if !strings.Contains(l.lines.String(), "panic recovered") {
		t.Errorf("nothing is logged: %s", &l.lines)
	}
}

// TestTokenPathsStayOut: the resource of a TOKEN event is the client's path.
func TestTokenPathsStayOut(t *testing.T) {
	w := &watcher{}
	l := newLab(t, Options{Observer: w})
	l.send(t, `{"type":"TOKEN","authorizationToken":"acme-key","methodArn":"arn:aws:execute-api:eu-west-1:123456789012:abc/dev/GET/reset/secret-of-a-mail"}`)
	if _, x := w.last(t, 1); strings.Contains(fmt.Sprint(x), "secret") {
		t.Errorf("told %+v", x)
	}
}

// TestNothingLeaks: neither the log at its most talkative nor the metrics have a
// credential, an address, or a line that a client could have written.
func TestNothingLeaks(t *testing.T) {
	const key, ip = "acme-key", "203.0.113.77"
	var metrics bytes.Buffer
	l := newLab(t, Options{})
	l.log = slog.New(slog.NewJSONHandler(&l.lines, &slog.HandlerOptions{Level: slog.LevelDebug}))
	r := telemetry.New(telemetry.Options{Out: &metrics, Region: "eu-west-1"})
	l.observer = telemetry.NewObserver(telemetry.ObserverOptions{Recorder: r, Log: l.log})
	events := []string{
		rest(key, ip), rest(key, ip), rest(key, ip), rest(key, ip), rest("wrong-key\n{", ip), rest("wrong-key", ip), rest("wrong-key", ip), rest("gone-key", ip),
		httpV2(key, ip), webSocket(key, ip), `{"type":"none","x":"` + key + `"}`,
		strings.Replace(rest(key, ip), `"requestContext":{`, `"requestContext":{"requestId":"\u001b[2J\n{\"level\":\"ERROR\"}",`, 1),
		strings.Replace(rest(key, ip), `"httpMethod":"GET"`, `"httpMethod":"G\u202eET"`, 1),
	}
	for _, e := range events {
		_, _ = l.Handle(context.Background(), json.RawMessage(e))
	}
	l.directory = fakeDirectory{func(context.Context) (directory.Entry, error) { panic(key + ip) }}
	_, _ = l.Handle(context.Background(), json.RawMessage(rest(key, ip)))
	r.Flush(l.now)
	all := l.lines.String() + metrics.String()
	if !strings.Contains(all, "request refused") || !strings.Contains(all, "Decisions") || !strings.Contains(all, "panic recovered") {
		t.Fatalf("not all of it is there:\n%s", all)
	}
	for _, secret := range []string{"acme-key", "wrong-key", "gone-key", ip, `\u001b`, `\n`, "\u202e", "\x1b"} {
		if strings.Contains(all, secret) {
			t.Errorf("%q is in it:\n%s", secret, all)
		}
	}
}

// TestEveryCodeHasAReason: what answers say is what metrics count.
func TestEveryCodeHasAReason(t *testing.T) {
	for c := range messages {
		if r, ok := telemetry.ReasonOf(string(c)); !ok || r.String() != string(c) {
			t.Errorf("code %s has no Reason", c)
		}
	}
}

// TestLinesNameTheTrace: a line about a request says which trace it belongs to.
func TestLinesNameTheTrace(t *testing.T) {
	l := newLab(t, Options{})
	l.directory = fakeDirectory{func(context.Context) (directory.Entry, error) { return directory.Entry{}, context.DeadlineExceeded }}
	ctx := context.WithValue(context.Background(), any(telemetry.TraceHeaderKey), "Root=1-6b0cd5a0-0123456789abcdef01234567;Sampled=0")
	if _, err := l.Handle(ctx, json.RawMessage(rest("acme-key", ""))); err != nil {
		t.Fatal(err)
	}
	if lines := l.logged(t); len(lines) != 1 || lines[0]["traceId"] != "1-6b0cd5a0-0123456789abcdef01234567" {
		t.Errorf("logged %v", lines)
	}
}
