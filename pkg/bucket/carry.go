package bucket

import (
	"fmt"
	"time"
)

// Carry says what becomes of a bucket's level when its limit changes.
type Carry int

const (
	Proportional Carry = iota // the same fraction is used
	AsIs                      // as many tokens remain, at most the new burst
	Additive                  // as many tokens are used: a raise gives the difference
	Reset                     // none is used: the bucket is full
)

var carries = [...]string{Proportional: "proportional", AsIs: "as-is", Additive: "additive", Reset: "reset"}

// String returns the name that ParseCarry reads.
func (c Carry) String() string {
	if c < 0 || int(c) >= len(carries) {
		return fmt.Sprintf("Carry(%d)", int(c))
	}
	return carries[c]
}

// ParseCarry returns the Carry of a name: proportional, as-is, additive or
// reset. The empty name is Proportional, the default.
func ParseCarry(s string) (Carry, error) {
	if s == "" {
		return Proportional, nil
	}
	for c, name := range carries {
		if s == name {
			return Carry(c), nil
		}
	}
	return 0, fmt.Errorf("bucket: unknown carry %q: write proportional, as-is, additive or reset", s)
}

// TAT returns what a TAT that was computed under one limit becomes under
// another, at now; all times are ns since the Unix epoch. With the tokens used
//
//	u = (tat - now) / T1        of B1 before, each worth T1
//	v                           of B2 after, each worth T2:   TAT = now + v*T2
//
// the modes are
//
//	Proportional   v = min(u, B1) * B2/B1 + max(0, u - B1)
//	AsIs           v = max(0, u + B2 - B1)
//	Additive       v = u
//	Reset          v = 0
//
// What is used beyond the burst is a debt: spend of other Regions that came to be
// seen late, or tokens that held requests took from the future. It is owed in
// tokens, and stays so many of them in each mode but Reset.
//
// The same limit, whatever the mode, and a bucket that is full stay as they are.
// Where one of the limits has no rate, because it admits nothing or everything,
// there are no tokens to compare: then the time until the bucket is full stays
// the same, but if it is the first that has no rate, at most Depth is missing.
// The zero Limit as the first says that it is not known; it is taken to be the
// second.
//
// v*T2 is exact, in rational numbers, and rounded up to a nanosecond, so that
// rounding never gives a tenant anything. It saturates at math.MaxInt64.
func (c Carry) TAT(tat, now int64, from, to Limit) int64 {
	used := ahead(tat, now)
	switch {
	case used == 0 || from == to || !from.known():
		return tat
	case c == Reset:
		return now
	case to.rateless():
		return tat
	case from.rateless():
		return add(now, min(used, to.full))
	case c == AsIs:
		return add(now, asIs(used, from, to))
	case c == Additive:
		return add(now, mul(used, from.rate.Count).scale(to.price(from)))
	}
	return add(now, proportional(used, from, to))
}

// In what follows tokens used are counted in parts of 1/Period of from, of which
// used*Count are used in a time of used.

// price returns by what to multiply and divide such parts to get ns of to.
func (l Limit) price(from Limit) (mult, div wide) {
	return mul(int64(l.rate.Period), 1), mul(int64(from.rate.Period), l.rate.Count)
}

func asIs(used int64, from, to Limit) int64 {
	parts := mul(used, from.rate.Count)
	if d := to.burst - from.burst; d >= 0 {
		parts = parts.plus(mul(d, int64(from.rate.Period)))
	} else {
		parts = parts.minus(mul(-d, int64(from.rate.Period)))
	}
	return parts.scale(to.price(from))
}

func proportional(used int64, from, to Limit) int64 {
	burst := mul(from.burst, int64(from.rate.Period))
	parts := mul(used, from.rate.Count)
	if parts.less(burst) {
		// v*T2 = parts/burst * B2 * Period2/Count2
		return parts.scale(mul(to.burst, int64(to.rate.Period)), burst.times(to.rate.Count))
	}
	// The slack of a depth that is not a whole number of ns is no debt.
	debt := mul(used-min(used, from.slack), from.rate.Count).minus(burst)
	return debt.plus(mul(to.burst, int64(from.rate.Period))).scale(to.price(from))
}

// known reports whether l is a limit that somebody made: not the zero one.
func (l Limit) known() bool { return l != Limit{} }

// stated returns l as a row says it: the zero Limit as one that is known.
func (l Limit) stated() Limit {
	if !l.known() {
		l.rate.Period = time.Second
	}
	return l
}

// rateless reports whether l admits nothing or everything.
func (l Limit) rateless() bool { return l.unlimited || l.rate.Count == 0 }
