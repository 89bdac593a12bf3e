package bucket

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Bounds of what a Limit may describe.
const (
	MaxPerSecond = 1_000_000      // tokens per second, at most
	MaxBurst     = 10_000_000     // tokens
	MaxPeriod    = 24 * time.Hour // of a Rate

	// MaxDepth is the longest time an empty bucket may take to refill. It keeps
	// every sum of a clock reading and a depth far inside int64 nanoseconds.
	MaxDepth = 100 * 365 * 24 * time.Hour
)

// Errors of NewLimit. They are matched with errors.Is; the text names the
// offending value and what to write instead.
var (
	ErrRate  = errors.New("bucket: impossible rate")
	ErrBurst = errors.New("bucket: impossible burst")
)

// Rate is a number of tokens per period: {100, time.Second} is 100/s.
// The zero Rate never refills and admits nothing.
type Rate struct {
	Count  int64         // tokens, >= 0
	Period time.Duration // > 0 unless Count is 0
}

// PerSecond returns the rate as tokens per second, for display only.
func (r Rate) PerSecond() float64 {
	if r.Count == 0 || r.Period <= 0 {
		return 0
	}
	return float64(r.Count) / r.Period.Seconds()
}

// Limit is a rate and a burst, checked and ready for arithmetic. The zero Limit
// has rate 0: it refuses everything; in a Row it says that the limit is not known.
// A Limit is a value; it may be copied and compared.
type Limit struct {
	rate      Rate
	burst     int64
	full      int64 // burst*T in ns, rounded up
	over      int64 // what rounding full up added, in 1/Count ns
	slack     int64 // ns that rounding may take from a burst unpunished
	tau       int64 // full + slack
	unlimited bool
}

// maxSlack bounds the slack of a Limit whose T is not a whole number of ns. See
// the package documentation, Rounding.
const maxSlack = int64(time.Microsecond)

// Unlimited returns the limit that admits everything and charges nothing.
func Unlimited() Limit { return Limit{unlimited: true} }

// NewLimit returns the limit of rate r and burst b tokens.
//
// A zero r.Count is the limit that admits nothing; its burst must be 0 or more
// and has no effect. Otherwise r must lie between 1/24h and MaxPerSecond a
// second, b between 1 and MaxBurst, and b tokens must refill within MaxDepth.
// Errors wrap ErrRate or ErrBurst.
func NewLimit(r Rate, b int64) (Limit, error) {
	if r.Count < 0 || (r.Count > 0 && (r.Period <= 0 || r.Period > MaxPeriod)) {
		return Limit{}, fmt.Errorf("%w: %d per %v: want a count of 0 or more per period of up to %v", ErrRate, r.Count, r.Period, MaxPeriod)
	}
	if b < 0 || b > MaxBurst {
		return Limit{}, fmt.Errorf("%w: %d tokens: want 1 to %d", ErrBurst, b, int64(MaxBurst))
	}
	if r.Count == 0 {
		return Limit{burst: b}.stated(), nil
	}
	// count/period <= MaxPerSecond/s, without a division that rounds.
	if mul(MaxPerSecond, int64(r.Period)).less(mul(r.Count, int64(time.Second))) {
		return Limit{}, fmt.Errorf("%w: %d per %v: at most %d/s", ErrRate, r.Count, r.Period, int64(MaxPerSecond))
	}
	if b == 0 {
		return Limit{}, fmt.Errorf("%w: 0 tokens admit nothing; write rate 0 to refuse everything, or a burst of 1 or more", ErrBurst)
	}
	full, over := mul(b, int64(r.Period)).divCeil(r.Count)
	if full > int64(MaxDepth) {
		most, _ := mul(int64(MaxDepth), r.Count).div(int64(r.Period))
		return Limit{}, fmt.Errorf("%w: %d tokens at %d per %v refill in over 100 years: at most %d", ErrBurst, b, r.Count, r.Period, most)
	}
	slack := int64(0)
	if int64(r.Period)%r.Count != 0 {
		slack = min(maxSlack, int64(r.Period)/r.Count/1000)
	}
	return Limit{rate: r, burst: b, full: full, over: over, slack: slack, tau: full + slack}, nil
}

// Rate returns the rate the limit was made with.
func (l Limit) Rate() Rate { return l.rate }

// Burst returns the bucket's size in tokens.
func (l Limit) Burst() int64 { return l.burst }

// Depth returns tau, the time an empty bucket takes to refill: how far a TAT may
// lie ahead of now. It includes the slack of a rate that does not divide into
// whole nanoseconds, so a store that charges up to it admits what Take admits.
func (l Limit) Depth() time.Duration { return time.Duration(l.tau) }

// IsUnlimited reports whether the limit admits everything.
func (l Limit) IsUnlimited() bool { return l.unlimited }

// IsZero reports whether the limit admits nothing, ever.
func (l Limit) IsZero() bool { return !l.unlimited && l.rate.Count == 0 }

// Time returns the time, in ns and rounded up, in which n tokens refill; n <= 0
// is 0. It saturates at math.MaxInt64, and is that for any n > 0 if the rate is 0.
func (l Limit) Time(n int64) int64 {
	switch {
	case n <= 0 || l.unlimited:
		return 0
	case l.rate.Count == 0:
		return math.MaxInt64
	}
	t, _ := mul(n, int64(l.rate.Period)).divCeil(l.rate.Count)
	return t
}

// Tokens returns how many whole tokens refill in d nanoseconds; d <= 0 is 0.
func (l Limit) Tokens(d int64) int64 {
	if d <= 0 || l.unlimited || l.rate.Count == 0 {
		return 0
	}
	n, _ := mul(d, l.rate.Count).div(int64(l.rate.Period))
	return n
}

// Charge returns the time to add to a TAT for n tokens, in ns, and the new
// remainder. The remainder is the part of a nanosecond, in units of 1/Count ns,
// that earlier charges have paid in excess by rounding up; whoever charges one
// bucket repeatedly passes it back in, and then the sum of all increments is
// ceil(total*Period/Count) exactly. Passing 0 each time overcharges by less
// than 1 ns a charge, which is up to 0.1 % at the highest rates; it never
// undercharges.
//
// A charge that is refused leaves the remainder as it was.
func (l Limit) Charge(n, paid int64) (inc, rest int64) {
	if n <= 0 || l.unlimited || l.rate.Count == 0 {
		return l.Time(n), paid
	}
	if paid < 0 || paid >= l.rate.Count { // of another limit
		paid = 0
	}
	// paid < Count <= Period/1000, so the difference is positive.
	return mul(n, int64(l.rate.Period)).sub(paid).divCeil(l.rate.Count)
}
