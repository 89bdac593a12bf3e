package limiter_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"weir/internal/limiter"
	"weir/internal/memstore"
	"weir/pkg/bucket"
)

// BenchmarkDecision compares a decision from memory with golang.org/x/time/rate
// behind a sync.Map, in one run: compare lines, not machines.
//
//	go test -run '^$' -bench Decision -count 6 ./internal/limiter
func BenchmarkDecision(b *testing.B) {
	for _, keys := range []int{1, 100_000} {
		names := make([]string, keys)
		for i := range names {
			names[i] = "api|tenant-" + strconv.Itoa(i)
		}
		for _, goroutines := range []int{1, 2, 8} {
			for _, outcome := range []string{"allow", "refuse"} {
				for _, who := range []string{"weir", "xrate"} {
					b.Run(fmt.Sprintf("%s/keys=%d/goroutines=%d/%s", outcome, keys, goroutines, who), func(b *testing.B) {
						decide := weirOf(b, names, outcome)
						if who == "xrate" {
							decide = xrateOf(names, outcome)
						}
						b.ReportAllocs()
						b.ResetTimer()
						if wrong := spread(b.N, goroutines, keys, decide, outcome == "allow"); wrong > 0 {
							b.Fatalf("%d of %d decisions were not %s", wrong, b.N, outcome)
						}
					})
				}
			}
		}
	}
}

// worker is what one goroutine uses again for every decision.
type worker struct {
	checks []limiter.Check
	buf    []limiter.Result
}

// spread makes n decisions from several goroutines and counts those that did not
// come out as wanted.
func spread(n, goroutines, keys int, decide func(w *worker, key int, now int64) bool, want bool) int64 {
	var wrong atomic.Int64
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			w := &worker{checks: make([]limiter.Check, 1), buf: make([]limiter.Result, 0, 1)}
			key := g * 7919 % keys
			for i := g; i < n; i += goroutines {
				if key += 31; key >= keys {
					key %= keys
				}
				if decide(w, key, start+int64(i)*int64(time.Microsecond)) != want {
					wrong.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return wrong.Load()
}

// Limits that allow every request of a run from one lease, or refuse every one.
func limitOf(tb testing.TB, outcome string) bucket.Limit {
	if outcome == "allow" {
		return mustLimit(tb, bucket.MaxPerSecond, time.Second, bucket.MaxBurst)
	}
	return mustLimit(tb, 1, 24*time.Hour, 1)
}

func weirOf(b *testing.B, names []string, outcome string) func(*worker, int, int64) bool {
	l := limiter.New(memstore.New("r"), limiter.Options{MaxBuckets: 3 * len(names)}) // all with an entry
	limit, ctx := limitOf(b, outcome), context.Background()
	prime := int64(1)
	if outcome == "allow" {
		prime = 100_000 // demand that makes for a large lease
	}
	for _, name := range names {
		for range 2 {
			l.Decide(ctx, start, []limiter.Check{{Name: "api", Key: name, Limit: limit, Cost: prime, Ver: 1}})
		}
	}
	return func(w *worker, key int, now int64) bool {
		w.checks[0].Name, w.checks[0].Key = "api", names[key]
		if w.checks[0].Cost == 0 {
			w.checks[0].Limit, w.checks[0].Cost, w.checks[0].Ver = limit, 1, 1
		}
		if outcome == "refuse" {
			now = start + 1 // what is remembered is asked again after a second
		}
		return l.DecideInto(ctx, now, w.checks, w.buf).Allowed
	}
}

func xrateOf(names []string, outcome string) func(*worker, int, int64) bool {
	var m sync.Map
	for _, name := range names {
		r := rate.NewLimiter(bucket.MaxPerSecond, bucket.MaxBurst)
		if outcome == "refuse" {
			r = rate.NewLimiter(rate.Every(24*time.Hour), 1)
			r.AllowN(time.Unix(0, start), 1)
		}
		m.Store(name, r)
	}
	return func(_ *worker, key int, now int64) bool {
		r, _ := m.Load(names[key])
		return r.(*rate.Limiter).AllowN(time.Unix(0, now), 1)
	}
}

// BenchmarkRefill is a whole round through the store: what a request pays that
// finds no lease.
func BenchmarkRefill(b *testing.B) {
	l := limiter.New(memstore.New("r"), limiter.Options{NoLease: true})
	c := []limiter.Check{check("api", mustLimit(b, bucket.MaxPerSecond, time.Second, bucket.MaxBurst), 1)}
	buf, ctx := make([]limiter.Result, 0, 1), context.Background()
	b.ReportAllocs()
	now := start
	for b.Loop() {
		now += 1000
		if d := l.DecideInto(ctx, now, c, buf); !d.Allowed || d.Results[0].FromMemory {
			b.Fatalf("%+v", d)
		}
	}
}
