package telemetry

import (
	"strings"
	"testing"
	"time"

	"weir/internal/telemetry/metric"
)

// TestText: a snapshot for people has everything under the names of the metrics.
func TestText(t *testing.T) {
	r := New(Options{})
	for i := range int64(1000) {
		d := Decision{Now: t0 + i*second, Took: 12 * time.Microsecond, Tenant: "acme", Plan: "pro", Limit: "api", Source: Memory}
		switch {
		case i%10 == 0:
			d.Tenant, d.Reason = "hooli", RateLimited
		case i%100 == 1:
			d.Source, d.Took = Store, 3*time.Millisecond
		case i%100 == 2:
			d.Source, d.Reason, d.Blind = Policy, Unchecked, true
		case i%100 == 3:
			d.Held = 40 * time.Millisecond
		}
		r.Record(&d)
	}
	r.Counter(metric.StoreCalls, metric.Buckets).Add(10)
	r.Gauge(metric.ConfigAge, "").Set(2)
	s := r.Snapshot(t0)
	var b strings.Builder
	if err := s.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	const want = `Decisions            1000, 900 allowed, 100 refused; 98.0 % from memory
  pro/api            880  ok            memory
  pro/api            100  rate_limited  memory
  pro/api            10   ok            store
  pro/api            10   unchecked     policy
SoftLimitDecisions   10
  tenant acme        900  0 refused
  tenant hooli       100  100 refused
DecisionTime memory  p50 12µs, p99 12µs, max 12µs, of 980
DecisionTime store   p50 3ms, p99 3ms, max 3ms, of 10
DecisionTime policy  p50 12µs, p99 12µs, max 12µs, of 10
HoldTime             p50 40ms, p99 40ms, max 40ms, of 10
StoreCalls buckets   10
ConfigAge            2s
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
}
