package breaker_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"weir/internal/breaker"
	"weir/internal/limiter"
	"weir/internal/memstore"
	"weir/internal/storetest"
	"weir/pkg/bucket"
)

func behind(s limiter.Store) *breaker.Store {
	return breaker.NewStore(s, breaker.Options{Log: slog.New(slog.DiscardHandler)})
}

// TestConformance: a store behind a breaker is a store like any other.
func TestConformance(t *testing.T) {
	table := memstore.NewTable()
	broken := func(fault func(ctx context.Context, op string) error) func(*testing.T) limiter.Store {
		return func(*testing.T) limiter.Store {
			s := table.Region("broken")
			s.Fault = fault
			return behind(s)
		}
	}
	storetest.Run(t, storetest.Harness{
		Open:      func(_ *testing.T, region string) limiter.Store { return behind(table.Region(region)) },
		Throttled: broken(func(context.Context, string) error { return limiter.ErrThrottled }),
		Gone:      broken(func(context.Context, string) error { return limiter.ErrUnavailable }),
		Stalled: broken(func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return ctx.Err()
		}),
	})
}

// TestBothOperationsCount: charges and readings go to one table.
func TestBothOperationsCount(t *testing.T) {
	calls := 0
	m := memstore.NewTable().Region("here")
	m.Fault = func(context.Context, string) error {
		calls++
		return limiter.ErrUnavailable
	}
	s := behind(m)
	for range 20 {
		if _, err := s.Charge(t.Context(), "k", bucket.Charge{}); !errors.Is(err, limiter.ErrUnavailable) {
			t.Fatalf("Charge: %v, want ErrUnavailable", err)
		}
		if _, err := s.Rows(t.Context(), "k"); !errors.Is(err, limiter.ErrUnavailable) {
			t.Fatalf("Rows: %v, want ErrUnavailable", err)
		}
	}
	if calls != breaker.DefaultFailures {
		t.Errorf("the store was called %d times, want %d", calls, breaker.DefaultFailures)
	}
	if out, err := s.Charge(t.Context(), "k", bucket.Charge{}); !errors.Is(err, breaker.ErrOpen) || out.Calls != 0 || out.Units != 0 {
		t.Errorf("open: %+v, %v; want ErrOpen at no cost", out, err)
	}
}
