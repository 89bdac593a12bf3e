package bucket

import (
	"fmt"
	"testing"
	"time"
)

func TestNoAllocations(t *testing.T) {
	l := must(t, 300_000, time.Second, 300_000)
	p, row, tat, b, now := charger{l: l}, Row{}, int64(0), Bucket{}, t0
	rows, _ := mergeRows(manyRegions, false)
	news, _ := mergeRows(manyRegions, true) // Merge makes a Fold of it, which is a map
	c := Rescale{Limit: l, Now: now}
	views := c.gather(nil, news[0], news[1:])
	if n := testing.AllocsPerRun(100, func() {
		Merge(l, rows[0], rows[1:], now, DefaultGrace)
		estimates(l, views, DefaultGrace)
		now += 1000
		tat, _ = l.Take(tat, now, 1)
		b, _ = b.Take(l, now, 1)
		row, _ = p.charge(row, true, now, 1)
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkTake(b *testing.B) {
	l := must(b, 250_000, time.Second, 250_000) // T is whole, so that the result is exact
	b.ReportAllocs()
	now, tat, allowed := t0, int64(0), 0
	for b.Loop() {
		var d Decision
		now += 1000
		if tat, d = l.Take(tat, now, 1); d.Allowed {
			allowed++
		}
	}
	checkAllowed(b, l, now, allowed)
}

func BenchmarkBucketTake(b *testing.B) {
	l := must(b, 300_000, time.Second, 300_000)
	b.ReportAllocs()
	now, s, allowed := t0, Bucket{}, 0
	for b.Loop() {
		var d Decision
		now += 1000
		if s, d = s.Take(l, now, 1); d.Allowed {
			allowed++
		}
	}
	checkAllowed(b, l, now, allowed)
}

func BenchmarkApply(b *testing.B) {
	l := must(b, 300_000, time.Second, 300_000)
	b.ReportAllocs()
	p, row, now, allowed := charger{l: l}, Row{}, t0, 0
	for b.Loop() {
		now += 1000
		next, s := p.charge(row, true, now, 1)
		if s == Charged {
			row = next
			allowed++
		}
	}
	checkAllowed(b, l, now, allowed)
}

func BenchmarkMerge(b *testing.B) {
	for _, regions := range []int{1, 3, 10} {
		for _, news := range []bool{false, true} {
			b.Run(fmt.Sprintf("regions=%d/news=%v", regions, news), func(b *testing.B) {
				l := must(b, 1000, time.Second, 1000)
				rows, want := mergeRows(regions, news)
				b.ReportAllocs()
				for b.Loop() {
					if g := Merge(l, rows[0], rows[1:], t0, DefaultGrace); g.Unseen != want {
						b.Fatalf("Unseen = %d, want %d", g.Unseen, want)
					}
				}
			})
		}
	}
}

// mergeRows returns rows that have seen all of each other, or all but the last
// three tokens, and what is unseen by the first.
func mergeRows(regions int, news bool) ([]Row, int64) {
	rows, unseen := make([]Row, regions), int64(0)
	for i := range rows {
		at := t0 - int64(i)*ms
		rows[i] = Row{Region: fmt.Sprintf("region-%d", i), TAT: at + 100*ms, Spent: 500, At: at,
			Epoch: Epoch{at - sec/2, 498}, Born: 1, Seen: map[string]Seen{}, Base: Base{at - sec, 490}, Fold: 9}
		for e := range EpochsKept {
			start := at - sec/2 - int64(e)*sec
			rows[i].Epochs[EpochSlot(start)] = Epoch{start, 498 - 3*int64(e)}
		}
		for m := range rows {
			if m != i {
				rows[i].Seen[fmt.Sprintf("region-%d", m)] = Seen{Born: 1, Spent: 500, At: at - sec}
			}
		}
		if news {
			rows[i].Spent += 3
			if i > 0 {
				unseen += 3
			}
		}
	}
	return rows, unseen
}

// checkAllowed fails if a benchmark that asked once a microsecond was not served
// as the limit says.
func checkAllowed(b *testing.B, l Limit, now int64, allowed int) {
	b.Helper()
	asked := (now - t0) / 1000
	if want := min(asked, l.Burst()+l.Tokens(now-t0)); int64(allowed) < want-1 || int64(allowed) > want {
		b.Errorf("%d of %d admitted, want %d", allowed, asked, want)
	}
}
