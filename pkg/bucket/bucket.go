package bucket

import (
	"math"
	"time"
)

// Bucket is the state of one token bucket, to the last fraction: what it admits
// is what rational arithmetic would. The zero Bucket is full. A Bucket belongs
// to one Limit; under another one, set Paid to 0.
//
// A store row keeps the TAT alone, and each process that charges it keeps its
// own remainder (Limit.Charge): see the package documentation, Rounding.
type Bucket struct {
	TAT  int64 // when it is full again, ns since the Unix epoch, rounded up
	Paid int64 // what rounding TAT up added, in 1/Count ns: 0 <= Paid < Count
}

// Take takes n tokens at time now (ns since the Unix epoch). A refused take
// returns b unchanged. n below 0 counts as 0; a take of 0 is allowed unless the
// bucket is overdrawn or the rate is 0.
func (b Bucket) Take(l Limit, now, n int64) (Bucket, Decision) {
	if l.unlimited {
		return b, Decision{Allowed: true, Remaining: math.MaxInt64}
	}
	t, w := b.charge(l, now, max(n, 0))
	return t, Decision{Allowed: w == 0, Remaining: t.Remaining(l, now), Wait: w, Full: l.Full(t.TAT, now)}
}

// Wait returns how long after now a take of n tokens would be allowed if nothing
// else were taken: exact to the nanosecond, 0 if it is allowed now, Never if no
// wait helps.
func (b Bucket) Wait(l Limit, now, n int64) time.Duration {
	if l.unlimited {
		return 0
	}
	_, w := b.charge(l, now, max(n, 0))
	return w
}

// Remaining returns the whole tokens in the bucket at now: 0 to Burst.
func (b Bucket) Remaining(l Limit, now int64) int64 {
	switch {
	case l.unlimited:
		return math.MaxInt64
	case l.rate.Count == 0:
		return 0
	case b.TAT <= now:
		return l.burst
	}
	level, _ := mul(ahead(b.TAT, now), l.rate.Count).sub(b.paid(l)).divCeil(int64(l.rate.Period))
	return max(0, l.burst-level)
}

// charge returns b with n >= 0 tokens taken at now, or b and how long after now
// that would be allowed. l is not unlimited.
func (b Bucket) charge(l Limit, now, n int64) (Bucket, time.Duration) {
	if l.rate.Count == 0 || n > l.burst {
		return b, Never
	}
	from, paid := b.TAT, b.paid(l)
	if from <= now { // full: nothing is owed to the past, not even a fraction
		from, paid = now, 0
	}
	inc, paid := l.Charge(n, paid)

	// TAT + inc - Paid/Count - now <= full - over/Count, without fractions, and
	// subtracting first: the sum alone may not fit.
	late := ahead(from, now) - (l.full - inc)
	if paid < l.over {
		late = add(late, 1)
	}
	if late > 0 {
		return b, time.Duration(late)
	}
	if n == 0 {
		return b, 0
	}
	return Bucket{TAT: from + inc, Paid: paid}, 0
}

// paid returns b.Paid, or 0 if that is no remainder of l.
func (b Bucket) paid(l Limit) int64 {
	if b.Paid < 0 || b.Paid >= l.rate.Count {
		return 0
	}
	return b.Paid
}
