package telemetry

import (
	"cmp"
	"context"
	"log/slog"
	"sync/atomic"

	"weir/internal/telemetry/metric"
)

// ObserverOptions of an Observer.
type ObserverOptions struct {
	Recorder *Recorder    // required
	Tracer   Tracer       // nil for none
	Log      *slog.Logger // slog.Default() if nil
	Sample   int          // refusals a process logs in a minute at most; DefaultSample if 0, none if negative
}

// Observer is what the authorizer tells of events: it counts them, logs some of
// the refusals and traces what is sampled. It is safe for concurrent use.
type Observer struct {
	recorder *Recorder
	tracer   Tracer
	refusals *refusals
	told     atomic.Int64 // end of the interval in which something failed last
}

// NewObserver returns an Observer.
func NewObserver(o ObserverOptions) *Observer {
	log := o.Log
	if log == nil {
		log = slog.Default()
	}
	return &Observer{recorder: o.Recorder, tracer: o.Tracer, refusals: newRefusals(log, max(0, cmp.Or(o.Sample, DefaultSample)))}
}

// Begin is called when an event has come. The context it returns is for the calls
// that the event makes; the Span, which may be nil, is for Answered.
func (o *Observer) Begin(ctx context.Context) (context.Context, Span) {
	if o.tracer == nil {
		return ctx, nil
	}
	return o.tracer.Begin(ctx)
}

// Answered is called once for each event, before its answer is returned.
func (o *Observer) Answered(ctx context.Context, s Span, d Decision, x Detail) {
	first := o.recorder.Record(&d)
	if !d.Reason.Allowed() && d.Reason != Unauthorized {
		o.refusals.note(ctx, &d, &x, first)
	}
	if s != nil {
		s.End(&d)
	}
}

// Failed is called when something happened that should not; kind is one of
// package metric. The first time in an interval is written soon.
func (o *Observer) Failed(now int64, kind string) {
	o.recorder.Counter(metric.UnexpectedErrors, kind).Add(1)
	until := o.told.Load()
	if o.recorder.reached(until, now) && o.told.CompareAndSwap(until, o.recorder.endOf(now)) {
		o.recorder.Hurry(now)
	}
}
