package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"weir/internal/breaker"
	"weir/internal/directory"
	"weir/internal/limiter"
	"weir/internal/memstore"
	"weir/internal/plan"
	"weir/internal/telemetry"
	"weir/internal/telemetry/metric"
	"weir/pkg/bucket"
)

const t0 = int64(1_796_072_400_000_000_000)

// rig is a Recorder whose lines can be read.
type rig struct {
	*telemetry.Recorder
	t   *testing.T
	out output
	now int64
}

func newRig(t *testing.T) *rig {
	g := &rig{t: t, now: t0}
	g.Recorder = telemetry.New(telemetry.Options{Out: &g.out, Region: "eu-west-1"})
	return g
}

// output is written to by the goroutines that flush, too.
type output struct {
	mu sync.Mutex
	b  []byte
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.b = append(o.b, p...)
	return len(p), nil
}

// take returns what was written since it was last called.
func (o *output) take() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	b := o.b
	o.b = nil
	return b
}

func (g *rig) clock() int64 { return g.now }

// written flushes and returns the numbers by metric and table; of distributions how
// many values there are.
func (g *rig) written() map[string]float64 {
	g.t.Helper()
	g.Flush(g.now)
	all := make(map[string]float64)
	for line := range bytes.Lines(g.out.take()) {
		var doc map[string]any
		if err := json.Unmarshal(line, &doc); err != nil {
			g.t.Fatal(err)
		}
		for name, v := range doc {
			if table, ok := doc[string(metric.Store)].(string); ok {
				name = name + " " + table
			}
			switch v := v.(type) {
			case float64:
				all[name] += v
			case map[string]any:
				if n, ok := v["Count"].(float64); ok {
					all[name] += n
				}
			}
		}
	}
	return all
}

func (g *rig) want(got map[string]float64, name string, want float64) {
	g.t.Helper()
	if v, ok := got[name]; !ok || v != want {
		g.t.Errorf("%s is %v (%t), want %v; all: %v", name, v, ok, want, got)
	}
}

// TestStoreAndBreaker: calls, failures and the state of a table's breaker arrive.
func TestStoreAndBreaker(t *testing.T) {
	g := newRig(t)
	m := memstore.New("eu-west-1")
	b := breaker.NewStore(Store(g.Recorder, metric.Buckets, m, g.clock), breaker.Options{Log: slog.New(slog.DiscardHandler), OnChange: Changed(g.Recorder, g.clock), Now: g.clock})
	Breaker(g.Recorder, metric.Buckets, b.Breaker)
	l := limiter.New(b, limiter.Options{Region: "eu-west-1"})
	Limiter(g.Recorder, l)
	limit, err := bucket.NewLimit(bucket.Rate{Count: 10, Period: time.Second}, 10)
	if err != nil {
		t.Fatal(err)
	}
	decide := func(n int) {
		for range n {
			g.now += int64(time.Millisecond)
			l.Decide(context.Background(), g.now, []limiter.Check{{Name: "api", Key: "api|acme", Limit: limit, Cost: 7}})
		}
	}
	decide(3) // one fits
	got := g.written()
	units := l.Costs()
	g.want(got, "WriteUnits", units.Units)
	g.want(got, "RefusalWriteUnits", units.OnRefusals)
	g.want(got, "BreakerOpen buckets", 0)
	if got["StoreCalls buckets"] < 2 || got["StoreTime buckets"] < 2 || units.OnRefusals == 0 {
		t.Errorf("got %v, want two calls at least, one of them for a refusal", got)
	}

	m.Fault = func(context.Context, string) error { return limiter.ErrUnavailable }
	g.now += int64(time.Minute)
	decide(20)
	got = g.written()
	g.want(got, "BreakerOpen buckets", 1)
	g.want(got, "StoreErrors buckets", breaker.DefaultFailures)
	g.want(got, "StoreSkips buckets", 20-breaker.DefaultFailures)

	m.Fault = func(context.Context, string) error { return limiter.ErrThrottled }
	g.now += int64(time.Minute)
	decide(1)
	got = g.written()
	g.want(got, "StoreThrottles buckets", 1)
	g.want(got, "BreakerOpen buckets", 0)

	g.now += int64(time.Second)
	if _, err := b.Rows(context.Background(), "api|acme"); !errors.Is(err, limiter.ErrThrottled) {
		t.Errorf("Rows: %v", err)
	}
	g.want(g.written(), "StoreCalls buckets", 1)
}

// config is a Source that fails as told.
type config struct{ err error }

func (c *config) Credential(context.Context, directory.Hash) (directory.Credential, error) {
	return directory.Credential{Tenant: "acme"}, c.err
}

func (c *config) Tenant(context.Context, string) (plan.Tenant, error) {
	return plan.Tenant{ID: "acme", Plan: "pro"}, c.err
}

func (c *config) Plan(context.Context, string) (*plan.Plan, error) {
	return &plan.Plan{Name: "pro"}, c.err
}

func (c *config) Changes(context.Context, int64, int) ([]directory.Change, bool, error) {
	return nil, false, c.err
}

// TestConfig: calls of the config table arrive, by what they came to, and how old
// the configuration is.
func TestConfig(t *testing.T) {
	g := newRig(t)
	c := &config{}
	s := Config(g.Recorder, c, g.clock)
	d := directory.NewCached(s, directory.Options{Feed: s, Replaced: Replaced(g.Recorder), Log: slog.New(slog.DiscardHandler)})
	Directory(g.Recorder, d)
	if _, ok := g.written()["ConfigAge"]; ok {
		t.Error("there is an age before the first request")
	}
	if e, err := d.ByCredential(t.Context(), g.now, directory.HashOf("k")); err != nil || e.Tenant.ID != "acme" {
		t.Fatalf("%+v, %v", e, err)
	}
	g.now += int64(7 * time.Second)
	got := g.written()
	g.want(got, "StoreCalls config", 3)
	g.want(got, "ConfigAge", 7)
	for _, tt := range []struct {
		err  error
		name string
	}{{limiter.ErrThrottled, "StoreThrottles config"}, {limiter.ErrUnavailable, "StoreErrors config"}, {context.DeadlineExceeded, "StoreErrors config"}} {
		c.err = tt.err
		if _, _, err := s.Changes(t.Context(), 0, 1); !errors.Is(err, tt.err) {
			t.Errorf("%v became %v", tt.err, err)
		}
		g.want(g.written(), tt.name, 1)
	}
	for _, err := range []error{directory.ErrNotFound, directory.ErrInvalid, context.Canceled} {
		c.err = err
		_, _ = s.Plan(t.Context(), "pro")
		for name := range g.written() {
			if strings.HasPrefix(name, "StoreErrors") || strings.HasPrefix(name, "StoreThrottles") {
				t.Errorf("%v counts as %s", err, name)
			}
		}
	}
	Replaced(g.Recorder)(1200 * time.Millisecond)
	g.want(g.written(), "PlanChangeLatency", 1)
}

// ahead is a Store in which another Region's clock is ahead.
type ahead struct{ limiter.Store }

func (a ahead) Rows(_ context.Context, _ string) ([]bucket.Row, error) {
	at := t0 + int64(3*time.Second)
	return []bucket.Row{{Region: "us-east-1", TAT: at, Spent: 1, At: at, Born: 1}}, nil
}

// TestEveryMetricIsEmitted: what is listed as the authorizer's is what its parts
// emit, and nothing else is.
func TestEveryMetricIsEmitted(t *testing.T) {
	g := newRig(t)
	m := memstore.New("eu-west-1")
	b := breaker.NewStore(Store(g.Recorder, metric.Buckets, ahead{m}, g.clock), breaker.Options{Log: slog.New(slog.DiscardHandler), Now: g.clock})
	Breaker(g.Recorder, metric.Buckets, b.Breaker)
	l := limiter.New(b, limiter.Options{Region: "eu-west-1", Regions: 2})
	Limiter(g.Recorder, l)
	c := &config{}
	s := Config(g.Recorder, c, g.clock)
	d := directory.NewCached(s, directory.Options{Feed: s, Log: slog.New(slog.DiscardHandler)})
	Directory(g.Recorder, d)
	o := telemetry.NewObserver(telemetry.ObserverOptions{Recorder: g.Recorder, Log: slog.New(slog.DiscardHandler)})

	limit, err := bucket.NewLimit(bucket.Rate{Count: 1, Period: time.Hour}, 2)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // charged, and refused by the store
		l.Decide(t.Context(), g.now, []limiter.Check{{Name: "api", Key: "api|acme", Limit: limit, Cost: 2, Consistency: limiter.Regional}})
		l.Decide(t.Context(), g.now, []limiter.Check{{Name: "api", Key: "api|hooli", Limit: limit, Cost: 2}})
	}
	for _, err := range []error{limiter.ErrThrottled, limiter.ErrUnavailable, limiter.ErrUnavailable, limiter.ErrUnavailable, limiter.ErrUnavailable, limiter.ErrUnavailable, nil} {
		m.Fault = func(context.Context, string) error { return err }
		_, _ = b.Charge(t.Context(), "k", bucket.Charge{Limit: limit, Now: g.now, Tokens: 1})
	}
	if _, err := d.ByCredential(t.Context(), g.now, directory.HashOf("k")); err != nil {
		t.Fatal(err)
	}
	Replaced(g.Recorder)(time.Second)
	o.Failed(g.now, metric.Panic)
	for _, e := range []telemetry.Decision{
		{Source: telemetry.Memory}, {Source: telemetry.Store, Held: time.Second}, {Source: telemetry.Policy, Blind: true}, {Source: telemetry.Memory, Shadows: []string{"api"}},
	} {
		e.Now = g.now
		o.Answered(t.Context(), nil, e, telemetry.Detail{})
	}
	got := g.written()
	listed := make(map[string]bool)
	for _, x := range metric.All() {
		if !x.Is(metric.Authorizer) {
			continue
		}
		listed[x.Name] = true
		found := false
		for name := range got {
			found = found || name == x.Name || strings.HasPrefix(name, x.Name+" ")
		}
		if !found {
			t.Errorf("%s is listed and not emitted; emitted are %v", x.Name, got)
		}
	}
	for name := range got {
		if first, _, _ := strings.Cut(name, " "); !listed[first] && first != "_aws" {
			t.Errorf("%s is emitted and not listed", name)
		}
	}
}
