package operator

import (
	"context"
	"sync"
)

// parallel is how many reads are under way at a time.
const parallel = 16

// each calls f, which reads, with 0 to n-1, some at a time, and again where
// DynamoDB is too busy; show is told how many are done, and may be nil. After the
// first error it starts no more, and returns that error when those under way have
// ended.
func each(ctx context.Context, n int, show func(done, of int), f func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		done int
	)
	one := func(i int) {
		if err := patiently(ctx, func() error { return f(ctx, i) }); err != nil {
			cancel(err)
			return
		}
		if show == nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		done++
		show(done, n)
	}
	next := make(chan int)
	for range min(n, parallel) {
		wg.Go(func() {
			for i := range next {
				one(i)
			}
		})
	}
	for i := range n {
		select {
		case next <- i:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}
