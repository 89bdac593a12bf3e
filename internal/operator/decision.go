package operator

import (
	"fmt"
	"time"

	"weir/internal/plan"
	"weir/pkg/bucket"
)

// Outcome is what becomes of a request.
type Outcome string

// The outcomes, from the best to the worst.
const (
	Passes  Outcome = "passes"
	Held    Outcome = "held" // it waits for its token, and passes
	Refused Outcome = "refused"
)

// Decision is what a limit would say to the next request.
type Decision struct {
	Outcome   Outcome `json:"outcome"`
	Why       string  `json:"why"`
	Wait      float64 `json:"wait"`      // seconds until it would pass, or for which it is held; -1 is never
	Remaining int64   `json:"remaining"` // tokens after it; -1 is without end
	FullIn    float64 `json:"fullIn"`    // seconds until the bucket is full again
	wait      time.Duration
}

// decide takes a request's cost from a bucket as a limit in force has it.
func decide(l *plan.Limit, in bucket.Limit, tat, now int64) Decision {
	_, d := in.Take(tat, now, l.Cost)
	out := Decision{Outcome: Passes, Remaining: d.Remaining, FullIn: d.Full.Seconds(), Wait: d.Wait.Seconds(), wait: d.Wait}
	if in.IsUnlimited() {
		out.Remaining = -1
	}
	if d.Wait == bucket.Never {
		out.Wait = -1
	}
	switch {
	case l.Mode == plan.Off:
		return Decision{Outcome: Passes, Why: "the limit is off", Remaining: -1}
	case in.IsUnlimited():
		out.Why = "the rate is unlimited"
	case d.Allowed:
		out.Why = fmt.Sprintf("%d of %d tokens are left after it", d.Remaining, in.Burst())
	case in.IsZero():
		out.Outcome, out.Why = Refused, "the rate is 0"
	case l.Cost > in.Burst():
		out.Outcome, out.Why = Refused, fmt.Sprintf("it costs %d tokens, and the bucket holds %d", l.Cost, in.Burst())
	default:
		out.Outcome = Refused
		out.Why = fmt.Sprintf("the bucket has %d of the %d tokens it costs; there will be enough in %v", d.Remaining, l.Cost, ceilMilli(d.Wait))
		if d.Wait <= l.Hold {
			out.Outcome, out.Why = Held, fmt.Sprintf("a token comes within %v, and it may be held for %v", ceilMilli(d.Wait), l.Hold)
		}
	}
	if l.Mode == plan.Shadow && out.Outcome != Passes {
		out.Outcome, out.Why = Passes, "the limit is in shadow: only counted; enforced it would refuse: "+out.Why
	}
	return out
}

// ceilMilli rounds a time up to what people read.
func ceilMilli(d time.Duration) time.Duration {
	unit := time.Millisecond
	if d >= 10*time.Second {
		unit = time.Second
	}
	return (d + unit - 1).Truncate(unit)
}

// worse reports whether d is the answer rather than e, if both limits match.
func (d Decision) worse(e Decision) bool {
	rank := map[Outcome]int{Passes: 0, Held: 1, Refused: 2}
	switch {
	case rank[d.Outcome] != rank[e.Outcome]:
		return rank[d.Outcome] > rank[e.Outcome]
	case d.Outcome != Passes:
		return d.wait > e.wait
	}
	return e.Remaining < 0 || d.Remaining >= 0 && d.Remaining < e.Remaining
}
