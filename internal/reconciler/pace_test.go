package reconciler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"weir/pkg/ddbstore"
)

// paced is a pace whose pauses are counted, not slept.
func paced(parallel int) (*pace, *atomic.Int64) {
	slept := new(atomic.Int64)
	return &pace{parallel: parallel, jitter: func() float64 { return 1 }, sleep: func(ctx context.Context, d time.Duration) error {
		slept.Add(int64(d))
		return ctx.Err()
	}}, slept
}

func TestEachIsBounded(t *testing.T) {
	p, _ := paced(4)
	var running, most, done atomic.Int64
	var gate sync.WaitGroup
	gate.Add(4)
	n, err := p.each(t.Context(), 40, func(i int) bool {
		n := running.Add(1)
		for {
			if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
				break
			}
		}
		if i < 4 { // the first four meet: less would never get through
			gate.Done()
			gate.Wait()
		}
		running.Add(-1)
		done.Add(1)
		return true
	})
	if err != nil || n != 40 || done.Load() != 40 || most.Load() != 4 {
		t.Errorf("%d of 40 done, %d at a time, %v; want 4 at a time", done.Load(), most.Load(), err)
	}
}

// TestEachEnds: it begins nothing once it is told to end, and says up to where all
// is done.
func TestEachEnds(t *testing.T) {
	p, _ := paced(2)
	ctx, cancel := context.WithCancel(t.Context())
	var begun atomic.Int64
	n, err := p.each(ctx, 1000, func(i int) bool {
		if begun.Add(1) == 7 {
			cancel()
		}
		return i != 4 // as if that had been interrupted
	})
	if !errors.Is(err, context.Canceled) || begun.Load() > 100 || n != 4 {
		t.Errorf("%v after %d, done up to %d; want 4", err, begun.Load(), n)
	}
}

func TestTry(t *testing.T) {
	other := errors.New("other")
	tests := []struct {
		name  string
		errs  []error // one call after the other; then success
		also  []error
		calls int
		want  error
	}{
		{"success", nil, nil, 1, nil},
		{"throttled for long", repeat(ddbstore.ErrThrottled, 40), nil, 41, nil},
		{"away for a moment", repeat(ddbstore.ErrUnavailable, maxFailures-1), nil, maxFailures, nil},
		{"away", repeat(ddbstore.ErrUnavailable, 40), nil, maxFailures, ddbstore.ErrUnavailable},
		{"a conflict", repeat(ddbstore.ErrConflict, 1), nil, 1, ddbstore.ErrConflict},
		{"a conflict that may be tried again", repeat(ddbstore.ErrConflict, 2), []error{ddbstore.ErrConflict}, 3, nil},
		{"what will not change", repeat(other, 1), nil, 1, other},
	}
	for _, tt := range tests {
		p, slept := paced(1)
		calls := 0
		err := p.try(t.Context(), func() error {
			calls++
			if calls <= len(tt.errs) {
				return fmt.Errorf("call %d: %w", calls, tt.errs[calls-1])
			}
			return nil
		}, tt.also...)
		if !errors.Is(err, tt.want) || (tt.want == nil && err != nil) || calls != tt.calls {
			t.Errorf("%s: %d calls, %v; want %d, %v", tt.name, calls, err, tt.calls, tt.want)
		}
		if (slept.Load() > 0) != (calls > 1) {
			t.Errorf("%s: %v between %d calls", tt.name, time.Duration(slept.Load()), calls)
		}
	}
}

func repeat(err error, n int) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = err
	}
	return errs
}

// TestPaceSlowsAndRecovers: throttling widens the gap up to its bound, once for
// calls that were throttled together; successes close it.
func TestPaceSlowsAndRecovers(t *testing.T) {
	p, _ := paced(16)
	for range 16 {
		p.slower(0)
	}
	if p.gap != firstGap {
		t.Errorf("16 calls throttled together make a gap of %v, want %v", p.gap, firstGap)
	}
	for range 20 {
		p.slower(p.gap)
	}
	if p.gap != longestGap {
		t.Errorf("a gap of %v, want %v", p.gap, longestGap)
	}
	n := 0
	for ; p.gap > 0; n++ {
		p.faster()
	}
	if n < 20 || n > 100 {
		t.Errorf("closed by %d calls", n)
	}
}

// TestTryEndsWithTheContext: throttling that does not end is not waited for beyond
// the time there is.
func TestTryEndsWithTheContext(t *testing.T) {
	p, _ := paced(1)
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	err := p.try(ctx, func() error {
		if calls++; calls == 3 {
			cancel()
		}
		return ddbstore.ErrThrottled
	})
	if !errors.Is(err, context.Canceled) || calls != 3 {
		t.Errorf("%v after %d calls", err, calls)
	}
}
