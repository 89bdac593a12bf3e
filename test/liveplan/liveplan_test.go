package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"weir/internal/testtool"
)

// TestLivePlan makes four changes with real parts. It takes about a minute, most
// of which is spent waiting.
func TestLivePlan(t *testing.T) {
	o := defaults()
	o.changes, o.lag = 4, 300*time.Millisecond
	s, err := start(t.Context(), o)
	testtool.Need(t, err)
	defer s.close()
	r, err := s.tell(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := r.print(t.Output()); !ok || err != nil {
		t.Errorf("a promise was not kept: %v", err)
	}
}

// TestBrokenCanBeBroken makes up a run in which every promise is kept, and breaks
// them one by one.
func TestBrokenCanBeBroken(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*result)
		want  string // in what is said to be broken, "" for nothing
	}{
		"all is well":        {func(*result) {}, ""},
		"slow":               {func(r *result) { r.made[1].took[0] = 4 * time.Second }, "p99"},
		"key still good":     {func(r *result) { r.revoked = time.Minute }, "revoked key"},
		"tenant still there": {func(r *result) { r.suspended = time.Minute }, "suspended tenant"},
		"reset":              {func(r *result) { r.made[0].off = []string{"eu-west-1 has -30 % more used"} }, "-30 %"},
		"only quoted": {func(r *result) {
			for i := range r.probers[0].replies {
				r.probers[0].replies[i].allowed = true
			}
		}, "requests/s were admitted"},
		"starved": {func(r *result) {
			for i := range r.probers[1].replies {
				r.probers[1].replies[i].allowed = false
			}
		}, "requests/s were admitted"},
		"not decided": {func(r *result) { r.probers[0].replies[3].err = errors.New("timeout") }, "timeout"},
		"unchecked":   {func(r *result) { r.probers[0].replies[3].code = "unchecked" }, "unchecked"},
		"old limit after the new": {func(r *result) {
			last := len(r.probers[0].replies) - 1
			r.probers[0].replies[last].limit = firstLimits.perSecond
		}, "quotes 30 after 20"},
	} {
		r := madeUp()
		c.spoil(r)
		got := strings.Join(r.broken(), "\n")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: broken: %q, want %q", name, got, c.want)
		}
	}
}

// madeUp returns a run of two changes, each honoured by both authorizers within a
// second, in which as much is admitted as should be.
func madeUp() *result {
	r := &result{o: defaults(), lag: time.Second, lagMax: 1500 * time.Millisecond, revoked: time.Second, suspended: time.Second}
	second := int64(time.Second)
	for i := range 2 {
		at := int64(i+1) * 100 * second
		was := firstLimits
		if i > 0 {
			was = changes[i-1].to
		}
		r.made = append(r.made, made{
			change: changes[i], was: was, at: at, from: at + 3*second, to: at + 6*second,
			took: []time.Duration{500 * time.Millisecond, time.Second},
		})
	}
	for range 2 {
		p := &prober{}
		for at := 90 * second; at < 220*second; at += second / 100 {
			limit := firstLimits.perSecond
			for _, m := range r.made {
				if at >= m.at+second {
					limit = m.change.to.perSecond
				}
			}
			n := at % second / (second / 100) // of 100 requests a second, the first ones are admitted
			a := reply{sent: at, limit: limit, allowed: n < limit/2, code: "ok"}
			if !a.allowed {
				a.code = "rate_limited"
			}
			p.replies = append(p.replies, a)
		}
		r.probers = append(r.probers, p)
	}
	return r
}

func TestQuantile(t *testing.T) {
	ms := []time.Duration{1, 2, 3, 4}
	for p, want := range map[int]time.Duration{0: 1, 25: 1, 50: 2, 51: 3, 75: 3, 99: 4, 100: 4} {
		if got := quantile(ms, p); got != want {
			t.Errorf("quantile(%d) = %v, want %v", p, got, want)
		}
	}
	if got := quantile(nil, 99); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
}
