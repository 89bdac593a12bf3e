package bucket

import (
	"math"
	"math/bits"
)

// wide is an unsigned 128-bit number, so that tokens times nanoseconds neither
// overflow nor round.
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

// plus returns w+v, which must fit.
func (w wide) plus(v wide) wide {
	lo, carry := bits.Add64(w.lo, v.lo, 0)
	return wide{w.hi + v.hi + carry, lo}
}

// minus returns w-v, at least 0.
func (w wide) minus(v wide) wide {
	if w.less(v) {
		return wide{}
	}
	lo, borrow := bits.Sub64(w.lo, v.lo, 0)
	return wide{w.hi - v.hi - borrow, lo}
}

// times returns w*c for c >= 0. The product must fit.
func (w wide) times(c int64) wide {
	p := wide{}
	p.hi, p.lo = bits.Mul64(w.lo, uint64(c))
	p.hi += w.hi * uint64(c)
	return p
}

// scale returns ceil(w*mult/div) for 0 < div < 1<<127. It saturates at
// math.MaxInt64.
func (w wide) scale(mult, div wide) int64 {
	q, exact := w.ratio(mult, div)
	if !exact && q < math.MaxInt64 {
		q++
	}
	return q
}

// ratio returns floor(w*mult/div) for 0 < div < 1<<127, and whether that is all of
// it. It saturates at math.MaxInt64.
func (w wide) ratio(mult, div wide) (q int64, exact bool) {
	var limbs [4]uint64 // w*mult, the lowest first
	for i, a := range [...]uint64{w.lo, w.hi} {
		carry := uint64(0)
		for j, b := range [...]uint64{mult.lo, mult.hi} {
			hi, lo := bits.Mul64(a, b)
			var c uint64
			lo, c = bits.Add64(lo, carry, 0)
			hi += c
			limbs[i+j], c = bits.Add64(limbs[i+j], lo, 0)
			carry = hi + c
		}
		limbs[i+2] = carry
	}
	// Division by hand, bit by bit: limits change seldom.
	uq, rest := uint64(0), wide{}
	for i := len(limbs) - 1; i >= 0; i-- {
		for b := 63; b >= 0; b-- {
			rest = wide{rest.hi<<1 | rest.lo>>63, rest.lo<<1 | limbs[i]>>b&1}
			uq <<= 1
			if !rest.less(div) {
				rest = rest.minus(div)
				uq |= 1
			}
			if uq > math.MaxInt64 {
				return math.MaxInt64, false
			}
		}
	}
	return int64(uq), rest == wide{}
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
