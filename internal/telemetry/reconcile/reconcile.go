// Package reconcile counts what the reconciler does. It is apart from package
// telemetry so that the authorizer does not link the reconciler.
package reconcile

import (
	"weir/internal/reconciler"
	"weir/internal/telemetry"
	"weir/internal/telemetry/metric"
)

// Observer is a reconciler.Observer that counts. The reconciler is no server: its
// caller writes the lines when it has answered, with telemetry.Recorder.Flush.
type Observer struct {
	records, again                            telemetry.Counter
	age, effect                               telemetry.Distribution
	applied, rescaled, skipped, failed, drift telemetry.Counter
	expired, tasks                            telemetry.Counter
	cut                                       telemetry.Gauge
	lag                                       func(region string) telemetry.Gauge
}

var _ reconciler.Observer = (*Observer)(nil)

// New returns an Observer that counts in r.
func New(r *telemetry.Recorder) *Observer {
	return &Observer{
		records:  r.Counter(metric.Records, ""),
		again:    r.Counter(metric.RecordsFailed, ""),
		age:      r.Distribution(metric.IteratorAge, ""),
		effect:   r.Distribution(metric.ChangeToEffect, ""),
		applied:  r.Counter(metric.ChangesApplied, ""),
		rescaled: r.Counter(metric.RowsRescaled, ""),
		skipped:  r.Counter(metric.RowsSkipped, ""),
		failed:   r.Counter(metric.RowsFailed, ""),
		drift:    r.Counter(metric.RowsDrifted, ""),
		expired:  r.Counter(metric.CredentialsExpired, ""),
		tasks:    r.Counter(metric.UnexpectedErrors, metric.Task),
		cut:      r.Gauge(metric.RegionsCut, ""),
		lag:      func(region string) telemetry.Gauge { return r.Gauge(metric.ReplicationLag, region) },
	}
}

// Batch implements reconciler.Observer.
func (o *Observer) Batch(b reconciler.Batch) {
	o.records.Add(int64(b.Records))
	o.again.Add(int64(b.Failed))
	o.age.Observe(b.Age.Milliseconds())
}

// Applied implements reconciler.Observer.
func (o *Observer) Applied(a reconciler.Applied) {
	o.rescaled.Add(a.Rows.Changed)
	o.skipped.Add(a.Rows.Skipped)
	o.failed.Add(a.Rows.Failed)
	if a.Err != nil {
		return
	}
	o.applied.Add(1)
	if a.Effect > 0 {
		o.effect.Observe(a.Effect.Milliseconds())
	}
}

// Scheduled implements reconciler.Observer.
func (o *Observer) Scheduled(r reconciler.Report) {
	o.drift.Add(r.Round.Drift)
	o.expired.Add(r.Round.Expired)
	o.tasks.Add(int64(len(r.Failed)))
	o.cut.Set(int64(len(r.Cut)))
	for region, lag := range r.Lag {
		o.lag(region).Set(lag.Milliseconds())
	}
	for _, region := range r.Cut { // how late it is nobody knows
		o.lag(region).Clear()
	}
}
