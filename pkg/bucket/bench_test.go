package bucket

import (
	"testing"
	"time"
)

func TestNoAllocations(t *testing.T) {
	l := must(t, 300_000, time.Second, 300_000)
	p, row, tat, b, now := charger{l: l}, Row{}, int64(0), Bucket{}, t0
	if n := testing.AllocsPerRun(100, func() {
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

// checkAllowed fails if a benchmark that asked once a microsecond was not served
// as the limit says.
func checkAllowed(b *testing.B, l Limit, now int64, allowed int) {
	b.Helper()
	asked := (now - t0) / 1000
	if want := min(asked, l.Burst()+l.Tokens(now-t0)); int64(allowed) < want-1 || int64(allowed) > want {
		b.Errorf("%d of %d admitted, want %d", allowed, asked, want)
	}
}
