package memstore_test

import (
	"context"
	"testing"

	"weir/internal/limiter"
	"weir/internal/memstore"
	"weir/internal/storetest"
)

var _ storetest.Rescaler = (*memstore.Store)(nil)

func TestConformance(t *testing.T) {
	table := memstore.NewTable()
	broken := func(fault func(ctx context.Context, op string) error) func(*testing.T) limiter.Store {
		return func(*testing.T) limiter.Store {
			s := table.Region("broken")
			s.Fault = fault
			return s
		}
	}
	storetest.Run(t, storetest.Harness{
		Open:      func(_ *testing.T, region string) limiter.Store { return table.Region(region) },
		Throttled: broken(func(context.Context, string) error { return limiter.ErrThrottled }),
		Gone:      broken(func(context.Context, string) error { return limiter.ErrUnavailable }),
		Stalled: broken(func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return ctx.Err()
		}),
	})
}
