package bucket

import (
	"math"
	"time"
)

// Never is the wait for something that no wait brings: a cost above the burst,
// or any cost at rate 0.
const Never = time.Duration(math.MaxInt64)

// Decision is what one take came to. A refusal is a Decision, not an error.
type Decision struct {
	Allowed   bool
	Remaining int64         // whole tokens left after the decision, >= 0
	Wait      time.Duration // until the same take would be allowed; 0 if it was; may be Never
	Full      time.Duration // until the bucket is full again, if nothing more is taken
}

// Take takes n tokens at time now (ns since the Unix epoch) from the bucket
// whose theoretical arrival time is tat, and returns the new one. A refused take
// returns tat unchanged. n below 0 counts as 0; a take of 0 is allowed unless
// the bucket is overdrawn or its rate is 0.
//
//	t = max(tat, now) + n*T        allowed if t <= now + tau
//
// n*T is rounded up to a nanosecond each time, because a TAT alone has no place
// for the rest. A caller that takes often from one bucket uses Bucket, which is
// exact, or adds up Charge.
func (l Limit) Take(tat, now, n int64) (int64, Decision) {
	if l.unlimited {
		return tat, Decision{Allowed: true, Remaining: math.MaxInt64}
	}
	n = max(n, 0)
	if w := l.Wait(tat, now, n); w > 0 {
		return tat, Decision{Remaining: l.Remaining(tat, now), Wait: w, Full: l.Full(tat, now)}
	}
	if n > 0 {
		tat = max(tat, now) + l.Time(n)
	}
	return tat, Decision{Allowed: true, Remaining: l.Remaining(tat, now), Full: l.Full(tat, now)}
}

// Wait returns how long after now a take of n tokens would be allowed if nothing
// else were taken: exact to the nanosecond, 0 if it is allowed now, Never if no
// wait helps.
//
//	max(tat, now) + n*T - tau - now
func (l Limit) Wait(tat, now, n int64) time.Duration {
	switch {
	case l.unlimited:
		return 0
	case l.rate.Count == 0 || n > l.burst:
		return Never
	}
	room := l.tau - l.Time(n) // >= 0: full and Time both round up
	return time.Duration(max(0, ahead(tat, now)-room))
}

// Remaining returns the whole tokens in the bucket at now: 0 to Burst.
func (l Limit) Remaining(tat, now int64) int64 {
	if l.unlimited {
		return math.MaxInt64
	}
	if l.rate.Count == 0 {
		return 0
	}
	return max(0, l.burst-l.Level(tat, now))
}

// Level returns the whole tokens missing from the bucket at now, rounded up;
// it exceeds Burst if the bucket is overdrawn.
func (l Limit) Level(tat, now int64) int64 {
	if l.unlimited || l.rate.Count == 0 {
		return 0
	}
	level, _ := mul(max(0, ahead(tat, now)-l.slack), l.rate.Count).divCeil(int64(l.rate.Period))
	return level
}

// Full returns how long after now the bucket is full again.
func (l Limit) Full(tat, now int64) time.Duration {
	if l.unlimited || l.rate.Count == 0 {
		return 0
	}
	return time.Duration(ahead(tat, now))
}
