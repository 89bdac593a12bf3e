package limiter_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"weir/internal/limiter"
	"weir/internal/memstore"
)

// A thousand goroutines on one limiter of two Regions, with plans that change,
// a store that fails now and then, requests that are cancelled, more keys than
// are kept, and one tenant whose count must be exact to the token.
func TestSoak(t *testing.T) {
	const goroutines, each = 1000, 40
	before := runtime.NumGoroutine()
	table := memstore.NewTable()
	store := table.Region("a")
	var calls atomic.Int64
	store.Fault = func(ctx context.Context, _ string) error {
		switch n := calls.Add(1); {
		case n%101 == 0:
			return limiter.ErrUnavailable
		case n%37 == 0:
			runtime.Gosched()
		}
		return ctx.Err()
	}
	l := limiter.New(store, limiter.Options{
		Region: "a", Regions: 2, Timeout: 10 * time.Second, MaxBuckets: 500,
		Sleep: func(context.Context, time.Duration) error { return nil },
	})
	exact := check("exact", mustLimit(t, 1, time.Hour, 5000), 1)
	exact.OnError = limiter.Deny
	exact.Consistency = limiter.Regional
	var now, admitted atomic.Int64
	now.Store(start)

	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 5))
			buf := make([]limiter.Result, 0, 4)
			for i := range each {
				at := now.Add(rng.Int64N(int64(100 * time.Microsecond)))
				ctx, cancel := context.WithCancel(context.Background())
				if rng.IntN(50) == 0 {
					cancel()
				}
				noise := check("noise", mustLimit(t, 100, time.Second, 50), 1+rng.Int64N(3))
				noise.Key = fmt.Sprintf("noise|%d", rng.IntN(2000))
				noise.Ver = int64(i / 10) // a plan change
				if noise.Ver > 1 {
					noise.Limit = mustLimit(t, 200, time.Second, 80)
				}
				noise.Hold = time.Duration(rng.IntN(2)) * 100 * time.Millisecond
				noise.Mode = limiter.Mode(rng.IntN(3))
				d := l.DecideInto(ctx, at, []limiter.Check{noise, exact}, buf)
				if d.Allowed {
					admitted.Add(1)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	row, _ := store.Peek(exact.Key)
	refilled := exact.Limit.Tokens(now.Load() - start)
	if n := admitted.Load(); n > row.Spent || n > 5000+refilled || n < 2000 {
		t.Errorf("%d admitted, %d charged, of a burst of 5000", n, row.Spent)
	}
	if row.Spent > 5000+refilled {
		t.Errorf("%d charged to a bucket of 5000", row.Spent)
	}
	l.Release(context.Background(), now.Load())
	for range 100_000 { // goroutines end shortly after the calls that started them
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
	}
	stacks := make([]byte, 1<<16)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
}
