package limiter_test

import (
	"context"
	"testing"
	"time"

	"weir/internal/limiter"
	"weir/internal/memstore"
	"weir/pkg/bucket"
)

// versions are checks of one bucket, as plans of version 2, 4, 6 ... have it.
func versions(carry bucket.Carry, limits ...bucket.Limit) []limiter.Check {
	out := make([]limiter.Check, len(limits))
	for i, l := range limits {
		out[i] = check("api", l, 1)
		out[i].Ver, out[i].Carry = int64(2*i+2), carry
	}
	return out
}

// step is requests at one time, and what is to come of them.
type step struct {
	at       time.Duration // since start
	since    time.Duration // when that plan came into force, if this is the first step with it and not now
	plan     int           // index of the check that they come with
	n        int           // requests
	admitted int
	decided  int           // index of the check whose limit they are decided by
	wait     time.Duration // of the last one, if it is refused
}

func runSteps(t *testing.T, l *limiter.Limiter, plans []limiter.Check, steps []step) {
	t.Helper()
	for i, s := range steps {
		admitted := 0
		if p := &plans[s.plan]; p.Since == 0 {
			if s.since == 0 {
				s.since = s.at
			}
			p.Since = start + int64(s.since)
		}
		var last limiter.Result
		for range s.n {
			d := l.Decide(context.Background(), start+int64(s.at), plans[s.plan:s.plan+1])
			last = d.Results[0]
			if d.Allowed {
				admitted++
			}
			if want := plans[s.decided]; last.Limit != want.Limit || last.Ver != want.Ver {
				t.Errorf("step %d: decided by version %d, %+v; want %d, %+v", i, last.Ver, last.Limit.Rate(), want.Ver, want.Limit.Rate())
			}
			if l := last.Limit; last.Remaining > l.Burst() && !l.IsUnlimited() {
				t.Errorf("step %d: %d left of %d", i, last.Remaining, last.Limit.Burst())
			}
		}
		if admitted != s.admitted {
			t.Errorf("step %d, at %v: %d admitted, want %d", i, s.at, admitted, s.admitted)
		}
		if admitted < s.n && last.Wait != s.wait {
			t.Errorf("step %d, at %v: wait %v, want %v", i, s.at, last.Wait, s.wait)
		}
	}
}

// What becomes of a bucket when its limit changes, by the mode of carry-over.
func TestChange(t *testing.T) {
	const s, tick = time.Second, 10 * time.Millisecond
	ten, hundred := mustLimit(t, 10, s, 10), mustLimit(t, 100, s, 100)
	slow, zero, all := mustLimit(t, 1, time.Hour, 10), mustLimit(t, 0, 0, 0), bucket.Unlimited()
	for _, tt := range []struct {
		name   string
		carry  bucket.Carry
		limits []bucket.Limit
		steps  []step
	}{
		{"raise after exhaustion, proportional: felt with the first new token", bucket.Proportional, []bucket.Limit{slow, hundred}, []step{
			{n: 20, admitted: 10, wait: time.Hour},
			{at: s, plan: 1, n: 1, decided: 1, wait: tick - 27777*time.Nanosecond}, // a second of the old rate
			{at: s + tick, plan: 1, n: 5, admitted: 1, decided: 1, wait: tick - 27777*time.Nanosecond},
			{at: s + 5*tick, plan: 1, n: 10, admitted: 4, decided: 1, wait: tick - 27777*time.Nanosecond},
			{at: 2 * s, plan: 1, n: 200, admitted: 95, decided: 1, wait: tick - 27777*time.Nanosecond},
		}},
		{"raise after exhaustion, noticed late: as if noticed at once", bucket.Proportional, []bucket.Limit{slow, hundred}, []step{
			{n: 20, admitted: 10, wait: time.Hour},
			{at: s + s/2, since: s, plan: 1, n: 100, admitted: 50, decided: 1, wait: tick - 27777*time.Nanosecond},
		}},
		{"raise after exhaustion, as-is", bucket.AsIs, []bucket.Limit{ten, hundred}, []step{
			{n: 20, admitted: 10, wait: 100 * time.Millisecond},
			{at: 0, plan: 1, n: 20, decided: 1, wait: tick},
			{at: tick, plan: 1, n: 20, admitted: 1, decided: 1, wait: tick},
		}},
		{"raise after exhaustion, additive: the difference at once", bucket.Additive, []bucket.Limit{ten, hundred}, []step{
			{n: 20, admitted: 10, wait: 100 * time.Millisecond},
			{at: 0, plan: 1, n: 100, admitted: 90, decided: 1, wait: tick},
		}},
		{"raise after exhaustion, reset: all of it", bucket.Reset, []bucket.Limit{ten, hundred}, []step{
			{n: 20, admitted: 10, wait: 100 * time.Millisecond},
			{at: 0, plan: 1, n: 120, admitted: 100, decided: 1, wait: tick},
		}},
		{"cut of a full bucket", bucket.Proportional, []bucket.Limit{hundred, ten}, []step{
			{n: 1, admitted: 1},
			{at: 2 * s, plan: 1, n: 20, admitted: 10, decided: 1, wait: 100 * time.Millisecond},
		}},
		{"cut of a bucket half used", bucket.Proportional, []bucket.Limit{hundred, ten}, []step{
			{n: 50, admitted: 50},
			{at: 0, plan: 1, n: 20, admitted: 5, decided: 1, wait: 100 * time.Millisecond},
		}},
		{"cut of an exhausted bucket: no refill by the old rate", bucket.Proportional, []bucket.Limit{hundred, slow}, []step{
			{at: s, n: 120, admitted: 100, wait: tick},
			{at: s, plan: 1, n: 1, decided: 1, wait: time.Hour},
			{at: 3 * s, plan: 1, n: 1, decided: 1, wait: time.Hour - 2*s},
			{at: s + time.Hour, plan: 1, n: 3, admitted: 1, decided: 1, wait: time.Hour},
		}},
		{"older checks after newer ones", bucket.Proportional, []bucket.Limit{ten, hundred}, []step{
			{n: 5, admitted: 5},
			{at: 0, plan: 1, n: 10, admitted: 10, decided: 1},
			{at: 0, plan: 0, n: 10, admitted: 10, decided: 1},
			{at: 0, plan: 1, n: 10, admitted: 10, decided: 1},
			{at: 0, plan: 0, n: 30, admitted: 20, decided: 1, wait: tick},
		}},
		{"there and back keeps the level", bucket.Proportional, []bucket.Limit{hundred, ten, hundred}, []step{
			{n: 50, admitted: 50},
			{at: 0, plan: 1, n: 2, admitted: 2, decided: 1},
			{at: 0, plan: 2, n: 40, admitted: 30, decided: 2, wait: tick},
		}},
		{"suspended and resumed: what was used is still used", bucket.Proportional, []bucket.Limit{hundred, zero, hundred}, []step{
			{n: 60, admitted: 60},
			{at: 0, plan: 1, n: 2, decided: 1, wait: bucket.Never},
			{at: 0, plan: 0, n: 2, decided: 1, wait: bucket.Never}, // an older check
			{at: 0, plan: 2, n: 50, admitted: 40, decided: 2, wait: tick},
			{at: 0, plan: 1, n: 2, decided: 2, wait: tick},
		}},
		{"unlimited for a while", bucket.Proportional, []bucket.Limit{ten, all, ten}, []step{
			{n: 12, admitted: 10, wait: 100 * time.Millisecond},
			{at: 0, plan: 1, n: 1000, admitted: 1000, decided: 1},
			{at: 0, plan: 0, n: 1000, admitted: 1000, decided: 1}, // an older check
			{at: 0, plan: 2, n: 5, decided: 2, wait: 100 * time.Millisecond},
		}},
		{"a request that is too large before", bucket.Proportional, []bucket.Limit{mustLimit(t, 10, s, 1), ten}, []step{
			{n: 1, admitted: 1},
			{at: 0, plan: 1, n: 1, decided: 1, wait: 100 * time.Millisecond},
		}},
		{"a new version of the same limit", bucket.Reset, []bucket.Limit{ten, ten}, []step{
			{n: 12, admitted: 10, wait: 100 * time.Millisecond},
			{at: 0, plan: 1, n: 5, decided: 1, wait: 100 * time.Millisecond},
			{at: 100 * time.Millisecond, plan: 1, n: 2, admitted: 1, decided: 1, wait: 100 * time.Millisecond},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := limiter.New(memstore.New("r"), limiter.Options{Timeout: time.Minute, NoLease: true})
			runSteps(t, l, versions(tt.carry, tt.limits...), tt.steps)
		})
	}
}
