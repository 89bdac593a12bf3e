// Package watch measures the parts of an authorizer for its Recorder: stores, the
// directory, breakers and the limiter. It is apart from package telemetry, which
// knows none of them.
package watch

import (
	"time"

	"weir/internal/breaker"
	"weir/internal/directory"
	"weir/internal/limiter"
	"weir/internal/telemetry"
	"weir/internal/telemetry/metric"
)

// Limiter has what decisions cost, and the skew of other Regions' clocks, written.
func Limiter(r *telemetry.Recorder, l *limiter.Limiter) {
	units, onRefusals := r.Counter(metric.WriteUnits, ""), r.Counter(metric.RefusalWriteUnits, "")
	skew := r.Gauge(metric.ClockSkew, "")
	r.Poll(func(int64) {
		c := l.Costs()
		units.UpTo(int64(c.Units))
		onRefusals.UpTo(int64(c.OnRefusals))
		if s := l.SkewSeen(); s > 0 {
			skew.Set(s.Milliseconds())
		}
	})
}

// Breaker has the state of a table's breaker written, and what it counts.
func Breaker(r *telemetry.Recorder, table string, b *breaker.Breaker) {
	open := r.Gauge(metric.BreakerOpen, table)
	failed, throttled, skipped := r.Counter(metric.StoreErrors, table), r.Counter(metric.StoreThrottles, table), r.Counter(metric.StoreSkips, table)
	r.Poll(func(int64) {
		s := b.Stats()
		failed.UpTo(s.Failed)
		throttled.UpTo(s.Throttled)
		skipped.UpTo(s.Refused)
		open.SetBool(b.State() != breaker.Closed)
	})
}

// Changed returns what a breaker is to tell of its changes, so that an outage is
// written when it begins and when it ends.
func Changed(r *telemetry.Recorder, now func() int64) func(breaker.Change) {
	return func(c breaker.Change) {
		if c.From == breaker.Closed || c.To == breaker.Closed {
			r.Hurry(now())
		}
	}
}

// Directory has the age of the configuration written.
func Directory(r *telemetry.Recorder, d *directory.Cached) {
	age := r.Gauge(metric.ConfigAge, "")
	r.Poll(func(now int64) {
		if a, ok := d.Age(now); ok {
			age.Set(int64(a / time.Second))
		}
	})
}

// Replaced returns what a directory is to tell of changes that it honours.
func Replaced(r *telemetry.Recorder) func(late time.Duration) {
	latency := r.Distribution(metric.PlanChangeLatency, "")
	return func(late time.Duration) { latency.Observe(late.Milliseconds()) }
}
