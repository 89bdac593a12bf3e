package watch

import (
	"context"
	"errors"

	"weir/internal/directory"
	"weir/internal/limiter"
	"weir/internal/plan"
	"weir/internal/telemetry"
	"weir/internal/telemetry/metric"
	"weir/pkg/bucket"
)

// Store returns s, with its calls measured as those of a table. It belongs behind
// a breaker, which counts the calls that are not made and those that fail.
func Store(r *telemetry.Recorder, table string, s limiter.Store, now func() int64) limiter.Store {
	return store{s, r.Meter(table, now)}
}

type store struct {
	next  limiter.Store
	meter *telemetry.Meter
}

func (s store) Charge(ctx context.Context, key string, c bucket.Charge) (bucket.Outcome, error) {
	end := s.meter.Begin()
	out, err := s.next.Charge(ctx, key, c)
	end(int64(out.Calls))
	return out, err
}

func (s store) Rows(ctx context.Context, key string) ([]bucket.Row, error) {
	end := s.meter.Begin()
	rows, err := s.next.Rows(ctx, key)
	end(1)
	return rows, err
}

// Source is a directory.Source with the Feed of it.
type Source interface {
	directory.Source
	directory.Feed
}

// Config returns s, with its calls measured as those of the config table. Where
// that has replicas, it belongs in front of all of them: what is asked of another
// Region is a call that took longer.
func Config(r *telemetry.Recorder, s Source, now func() int64) Source {
	return source{s, r.Meter(metric.Config, now), r.Counter(metric.StoreErrors, metric.Config), r.Counter(metric.StoreThrottles, metric.Config)}
}

type source struct {
	next              Source
	meter             *telemetry.Meter
	failed, throttled telemetry.Counter
}

func (s source) Credential(ctx context.Context, h directory.Hash) (c directory.Credential, err error) {
	defer s.call(s.meter.Begin(), &err)
	return s.next.Credential(ctx, h)
}

func (s source) Tenant(ctx context.Context, id string) (t plan.Tenant, err error) {
	defer s.call(s.meter.Begin(), &err)
	return s.next.Tenant(ctx, id)
}

func (s source) Plan(ctx context.Context, name string) (p *plan.Plan, err error) {
	defer s.call(s.meter.Begin(), &err)
	return s.next.Plan(ctx, name)
}

func (s source) Changes(ctx context.Context, since int64, most int) (newest []directory.Change, more bool, err error) {
	defer s.call(s.meter.Begin(), &err)
	return s.next.Changes(ctx, since, most)
}

// call ends a call that came to err. One that the caller gave up on says nothing
// of the table.
func (s source) call(end func(int64), err *error) {
	end(1)
	switch e := *err; {
	case e == nil, errors.Is(e, directory.ErrNotFound), errors.Is(e, directory.ErrInvalid), errors.Is(e, context.Canceled):
	case errors.Is(e, limiter.ErrThrottled):
		s.throttled.Add(1)
	default:
		s.failed.Add(1)
	}
}
