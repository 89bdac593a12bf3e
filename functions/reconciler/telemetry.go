package main

import (
	"context"
	"encoding/json"
	"os"
	"time"

	"weir/internal/reconciler"
	"weir/internal/settings"
	"weir/internal/telemetry"
	"weir/internal/telemetry/reconcile"
)

// counted is a reconciler whose work is counted.
type counted struct {
	reconciler *reconciler.Reconciler
	recorder   *telemetry.Recorder
}

// Handle has an event handled, and writes what was counted before it answers:
// there may be no other for a minute.
func (c counted) Handle(ctx context.Context, event json.RawMessage) (any, error) {
	defer func() { c.recorder.Flush(time.Now().UnixNano()) }()
	return c.reconciler.Handle(ctx, event)
}

// newRecorder returns a Recorder, and what fills it.
func newRecorder(s settings.Reconciler) (*telemetry.Recorder, reconciler.Observer) {
	o := telemetry.Options{Region: s.Region, Namespace: s.Telemetry.Namespace}
	if s.Telemetry.Metrics {
		o.Out = os.Stdout
	}
	r := telemetry.New(o)
	return r, reconcile.New(r)
}
