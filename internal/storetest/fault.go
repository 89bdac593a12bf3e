package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"weir/internal/limiter"
	"weir/pkg/bucket"
)

// wantErrors checks the errors of all operations.
func wantErrors(t *testing.T, ctx context.Context, s limiter.Store, want error) {
	t.Helper()
	key := newKey(t)
	out, err := s.Charge(ctx, key, take(limit(t, 10, 10), t0, 1))
	if !errors.Is(err, want) {
		t.Errorf("Charge: %v, want %v", err, want)
	}
	if out.Status != 0 {
		t.Errorf("Charge: status %v with an error", out.Status)
	}
	if out.Calls > 1 {
		t.Errorf("Charge: %d calls, want no second try", out.Calls)
	}
	if _, err := s.Rows(ctx, key); !errors.Is(err, want) {
		t.Errorf("Rows: %v, want %v", err, want)
	}
	wantRescaleErrors(t, ctx, s, want)
}

func testThrottled(t *testing.T, h Harness) {
	s := h.Throttled(t)
	wantErrors(t, context.Background(), s, limiter.ErrThrottled)
	if out, err := s.Charge(context.Background(), newKey(t), take(limit(t, 10, 10), t0, 1)); errors.Is(err, limiter.ErrUnavailable) || out.Units != 0 {
		t.Errorf("Charge: %v, %v units, want no other error and no units", err, out.Units)
	}
}

func testDeadline(t *testing.T, h Harness) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	wantErrors(t, ctx, h.Stalled(t), context.DeadlineExceeded)
}

// testCancelled: a context that has ended already stops a charge from being made.
func testCancelled(t *testing.T, h Harness) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := h.Open(t, home)
	wantErrors(t, ctx, s, context.Canceled)
	key := newKey(t)
	_, _ = s.Charge(ctx, key, take(limit(t, 10, 10), t0, 1))
	if got := rows(t, s, key); len(got) != 0 {
		t.Errorf("Rows = %+v, want none", got)
	}
}

func testGone(t *testing.T, h Harness) {
	wantErrors(t, context.Background(), h.Gone(t), limiter.ErrUnavailable)
	// What fits no bucket is refused all the same, or reported; never let pass.
	out, err := h.Gone(t).Charge(context.Background(), newKey(t), take(limit(t, 10, 10), t0, 11))
	if err == nil && out.Status != bucket.Refused {
		t.Errorf("Charge: %v, want Refused", out.Status)
	}
}
