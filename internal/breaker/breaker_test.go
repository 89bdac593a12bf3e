package breaker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"weir/internal/limiter"
)

var errGone = fmt.Errorf("table t: %w", limiter.ErrUnavailable)

// quiet returns a Breaker without a log.
func quiet(o Options) *Breaker {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return New(o)
}

// do makes n calls that end in err and returns how many of them were made.
func do(t *testing.T, b *Breaker, n int, err error) int {
	t.Helper()
	made := 0
	for range n {
		got := b.Do(t.Context(), func() error {
			made++
			return err
		})
		if !errors.Is(got, err) && !errors.Is(got, ErrOpen) {
			t.Fatalf("got error %v, want %v or ErrOpen", got, err)
		}
	}
	return made
}

func wantState(t *testing.T, b *Breaker, want State) {
	t.Helper()
	if got := b.State(); got != want {
		t.Fatalf("state %s, want %s", got, want)
	}
}

func TestOpensAfterFailuresInARow(t *testing.T) {
	b := quiet(Options{Failures: 3})
	do(t, b, 2, errGone)
	do(t, b, 1, nil)
	do(t, b, 2, errGone)
	wantState(t, b, Closed)
	do(t, b, 1, errGone)
	wantState(t, b, Open)

	err := b.Do(t.Context(), func() error {
		t.Error("a call was made while open")
		return nil
	})
	if !errors.Is(err, ErrOpen) || !errors.Is(err, limiter.ErrUnavailable) {
		t.Errorf("got %v, want ErrOpen, which is an ErrUnavailable", err)
	}
	if got, want := b.Stats(), (Stats{Failed: 5, Refused: 1, Outages: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestAnswersDoNotOpen: whatever the store says, it has answered.
func TestAnswersDoNotOpen(t *testing.T) {
	for _, err := range []error{nil, limiter.ErrThrottled, limiter.ErrConflict, errors.New("row: not a number")} {
		b := quiet(Options{})
		if made := do(t, b, 100, err); made != 100 {
			t.Errorf("%v: %d calls made of 100", err, made)
		}
		wantState(t, b, Closed)
	}
	b := quiet(Options{})
	do(t, b, 7, limiter.ErrThrottled)
	if got, want := b.Stats(), (Stats{Throttled: 7}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestMostCallsFail: failures that have answers between them open it as well.
func TestMostCallsFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := quiet(Options{})
		for range 10 {
			do(t, b, 1, nil)
			do(t, b, 1, errGone)
		}
		wantState(t, b, Closed) // half of them
		do(t, b, 1, errGone)
		wantState(t, b, Open) // 11 of 21

		b = quiet(Options{})
		for range 4 {
			do(t, b, 1, nil)
			do(t, b, 3, errGone)
		}
		do(t, b, 1, nil)
		do(t, b, 2, errGone)
		wantState(t, b, Closed) // 14 of 19: too few to tell
		do(t, b, 1, errGone)
		wantState(t, b, Open)
	})
}

// TestForgets: failures that are further back than the window do not count.
func TestForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := quiet(Options{})
		for range 20 {
			do(t, b, 4, errGone)
			time.Sleep(window)
		}
		wantState(t, b, Closed)
		do(t, b, 5, errGone)
		wantState(t, b, Open)
	})
}

// TestCallerInAHurry: a caller who gives up, or had no time to begin with, says
// nothing of the store; one who waited in vain does.
func TestCallerInAHurry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := quiet(Options{Patience: 50 * time.Millisecond})
		wait := func(d time.Duration) {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			_ = b.Do(ctx, func() error {
				<-ctx.Done()
				return fmt.Errorf("table t: %w", ctx.Err())
			})
		}
		for range 100 {
			wait(49 * time.Millisecond)
			wait(0)
		}
		do(t, b, 100, fmt.Errorf("table t: %w", context.Canceled))
		wantState(t, b, Closed)
		if got := b.Stats(); got != (Stats{}) {
			t.Errorf("got %+v, want nothing counted", got)
		}
		for range 5 {
			wait(50 * time.Millisecond)
		}
		wantState(t, b, Open)
	})
}

func TestProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := quiet(Options{Pause: time.Second})
		do(t, b, 5, errGone)
		for range 3 {
			time.Sleep(time.Second - 1)
			wantState(t, b, Open)
			if made := do(t, b, 10, nil); made != 0 {
				t.Fatalf("%d calls made during the pause", made)
			}
			time.Sleep(1)
			wantState(t, b, HalfOpen)
			if made := do(t, b, 10, errGone); made != 1 {
				t.Fatalf("%d calls made after the pause, want one probe", made)
			}
		}
		time.Sleep(time.Second)
		if made := do(t, b, 10, nil); made != 10 {
			t.Errorf("%d calls of 10 made after a probe that was answered", made)
		}
		wantState(t, b, Closed)
		if got := b.Stats().Outages; got != 1 {
			t.Errorf("%d outages, want 1", got)
		}
	})
}

// TestOneProbeAtATime: while a probe is under way, all others fail at once.
func TestOneProbeAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := quiet(Options{})
		do(t, b, 5, errGone)
		time.Sleep(DefaultPause)
		answer := make(chan error)
		var probes, refused atomic.Int64
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				err := b.Do(t.Context(), func() error {
					probes.Add(1)
					return <-answer
				})
				if errors.Is(err, ErrOpen) {
					refused.Add(1)
				}
			})
		}
		synctest.Wait()
		if probes.Load() != 1 || refused.Load() != 99 {
			t.Errorf("%d probes and %d refused, want 1 and 99", probes.Load(), refused.Load())
		}
		answer <- nil
		wg.Wait()
		wantState(t, b, Closed)
	})
}

// TestProbeWithoutResult: a probe that was given up, or that panicked, is
// followed by another.
func TestProbeWithoutResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := quiet(Options{})
		do(t, b, 5, errGone)
		time.Sleep(DefaultPause)
		if made := do(t, b, 3, context.Canceled); made != 3 {
			t.Errorf("%d of 3 probes made", made)
		}
		func() {
			defer func() { _ = recover() }()
			_ = b.Do(t.Context(), func() error { panic("bug") })
		}()
		wantState(t, b, HalfOpen)
		do(t, b, 1, nil)
		wantState(t, b, Closed)
	})
}

// TestFrozen: the pause is over after a time in which the process did not run,
// though its monotonic clock stood still.
func TestFrozen(t *testing.T) {
	const t0 = 1_800_000_000 * int64(time.Second)
	now := t0
	b := quiet(Options{Now: func() int64 { return now }})
	do(t, b, 5, errGone)
	wantState(t, b, Open)
	now += int64(time.Minute)
	if made := do(t, b, 1, errGone); made != 1 {
		t.Fatal("no probe after a minute without running")
	}
	now -= int64(DefaultPause) - 1
	wantState(t, b, Open)
	now = t0 // far back
	if made := do(t, b, 1, nil); made != 1 {
		t.Fatal("a clock that was set back prolongs the pause")
	}
	now = t0 + int64(time.Minute) // when the last pause began
	wantState(t, b, Closed)
}

// TestConcurrent: under -race, with a store that comes and goes, no call is made
// against a verdict, and the Breaker is closed soon after the store is back.
func TestConcurrent(t *testing.T) {
	var now, gone atomic.Int64
	b := quiet(Options{Now: now.Load, Pause: 10})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 5000 {
				now.Add(1)
				if g == 0 {
					gone.Store(int64(i / 500 % 2))
				}
				_ = b.Do(t.Context(), func() error {
					if gone.Load() == 1 {
						return errGone
					}
					return nil
				})
				_, _ = b.State(), b.Stats()
			}
		})
	}
	wg.Wait()
	now.Add(10)
	do(t, b, 1, nil)
	wantState(t, b, Closed)
}
