package telemetry

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBuckets: what stands for a value is within an eighth of it, and buckets are
// in order.
func TestBuckets(t *testing.T) {
	last := -1
	for x := int64(0); x < 1<<25; x += 1 + x/1000 {
		b := bucketOf(x)
		if b < last || b >= buckets {
			t.Fatalf("bucket of %d is %d, after %d", x, b, last)
		}
		last = b
		if m := middleOf(b); 8*max(m-x, x-m) > x {
			t.Fatalf("%d is reported as %d", x, m)
		}
	}
	if b := bucketOf(math.MaxInt64); b != buckets-1 {
		t.Errorf("bucket of the largest value is %d", b)
	}
}

// TestQuantiles compares with sorted values.
func TestQuantiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var halves [2]values
	var all []int64
	sum := int64(0)
	for i := range 10_000 {
		x := int64(rng.ExpFloat64() * 3000)
		all = append(all, x)
		sum += x
		halves[i%2].add(x)
	}
	var v values
	v.merge(&halves[0])
	v.merge(&halves[1])
	v.merge(&values{})
	slices.Sort(all)
	if v.n != 10_000 || v.sum != sum || v.min != all[0] || v.max != all[len(all)-1] {
		t.Errorf("n %d, sum %d, min %d, max %d; want 10000, %d, %d, %d", v.n, v.sum, v.min, v.max, sum, all[0], all[len(all)-1])
	}
	for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.99, 1} {
		got, want := v.quantile(q), all[min(int(q*10_000), 9999)]
		if diff := max(got-want, want-got); diff > want/7+1 {
			t.Errorf("quantile %v is %d, want about %d", q, got, want)
		}
	}
	if got := (&values{}).quantile(0.5); got != 0 {
		t.Errorf("the median of nothing is %d", got)
	}
	v.add(-5)
	if v.min != 0 {
		t.Errorf("a negative value counts as %d", v.min)
	}
}
