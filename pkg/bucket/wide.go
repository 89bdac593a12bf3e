package bucket

import (
	"math"
	"math/bits"
)

// wide is an unsigned 128-bit product, so that tokens times nanoseconds neither
// overflows nor rounds.
type wide struct{ hi, lo uint64 }

// mul returns a*b for a, b >= 0.
func mul(a, b int64) wide {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return wide{hi, lo}
}

// sub returns w-b for 0 <= b <= w.
func (w wide) sub(b int64) wide {
	lo, borrow := bits.Sub64(w.lo, uint64(b), 0)
	return wide{w.hi - borrow, lo}
}

func (w wide) less(v wide) bool {
	return w.hi < v.hi || (w.hi == v.hi && w.lo < v.lo)
}

// div returns floor(w/c) and the remainder for c > 0. A quotient beyond int64
// saturates, with remainder 0.
func (w wide) div(c int64) (q, r int64) {
	if w.hi >= uint64(c) {
		return math.MaxInt64, 0
	}
	uq, ur := bits.Div64(w.hi, w.lo, uint64(c))
	if uq > math.MaxInt64 {
		return math.MaxInt64, 0
	}
	return int64(uq), int64(ur)
}

// divCeil returns ceil(w/c) for c > 0 and what rounding up added, in units of
// 1/c: q*c = w + over. A quotient beyond int64 saturates, with nothing over.
func (w wide) divCeil(c int64) (q, over int64) {
	q, r := w.div(c)
	if r == 0 {
		return q, 0
	}
	if q == math.MaxInt64 {
		return q, 0
	}
	return q + 1, c - r
}

// ahead returns how far t lies after now, at least 0, saturating.
func ahead(t, now int64) int64 {
	if t <= now {
		return 0
	}
	if d := t - now; d > 0 {
		return d
	}
	return math.MaxInt64
}

// add returns a+b, saturating upwards.
func add(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
