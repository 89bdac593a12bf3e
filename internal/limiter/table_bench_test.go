package limiter

import (
	"fmt"
	"sync"
	"testing"
)

// BenchmarkTable finds buckets that are there: what every decision from memory
// begins with. lock also locks the entry and lets go of it.
func BenchmarkTable(b *testing.B) {
	for _, keys := range []int{1, 100_000} {
		tab := newTableOf(DefaultMaxBuckets, 1)
		names := make([]string, keys)
		for i := range names {
			names[i] = keyOf(i)
			e := tab.lock(names[i], t0)
			e.mu.Unlock()
		}
		for _, op := range []struct {
			name string
			find func(string)
		}{
			{"find", func(key string) { tab.at(key, t0) }},
			{"lock", func(key string) {
				e := tab.lock(key, t0)
				e.mu.Unlock()
			}},
		} {
			for _, goroutines := range []int{1, 2, 8} {
				b.Run(fmt.Sprintf("%s/keys=%d/goroutines=%d", op.name, keys, goroutines), func(b *testing.B) {
					b.ReportAllocs()
					var wg sync.WaitGroup
					for g := range goroutines {
						wg.Go(func() {
							k := g * keys / goroutines
							for range b.N / goroutines {
								op.find(names[k])
								if k++; k == keys {
									k = 0
								}
							}
						})
					}
					wg.Wait()
				})
			}
		}
		if n := tab.size.Load(); n != int64(keys) {
			b.Fatalf("%d buckets, want %d", n, keys)
		}
	}
}

// BenchmarkTableFlood makes room for keys that come once.
func BenchmarkTableFlood(b *testing.B) {
	tab := newTableOf(DefaultMaxBuckets, 1)
	for i := range DefaultMaxBuckets {
		touch(tab, keyOf(i), t0)
	}
	names := make([]string, 1<<20)
	for i := range names {
		names[i] = keyOf(DefaultMaxBuckets + i)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		touch(tab, names[i&(len(names)-1)], t0)
		i++
	}
	if tab.overflow.Load() != 0 {
		b.Fatal("no room was made")
	}
}
