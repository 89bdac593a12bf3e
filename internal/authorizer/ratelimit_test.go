package authorizer

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"weir/internal/limiter"
	"weir/pkg/bucket"
)

// structuredList matches a List (RFC 9651) of Strings with integer parameters,
// as draft-ietf-httpapi-ratelimit-headers has both fields.
var structuredList = regexp.MustCompile(`^` + listMember + `(, ` + listMember + `)*$`)

const listMember = `"[ !#-\[\]-~]+"(;[a-z*][a-z0-9_.*-]*=[0-9]{1,15})+`

func TestStructured(t *testing.T) {
	limit := func(count int64, per time.Duration, burst int64) bucket.Limit { return mustLimit(t, count, per, burst) }
	api := limiter.Result{Name: "api", Limit: limit(100, time.Second, 100), Allowed: true, Remaining: 12, Full: 880 * time.Millisecond}
	follow := limiter.Result{Name: "follow", Limit: limit(200, time.Hour, 50), Allowed: true, Remaining: 49, Full: 18 * time.Second}
	full := limiter.Result{Name: "full", Limit: limit(10, time.Minute, 10), Allowed: true, Remaining: 10}
	open := limiter.Result{Name: "open", Limit: bucket.Unlimited(), Allowed: true}
	down := limiter.Result{Name: "down", Limit: limit(5, time.Second, 5), Allowed: true, Unknown: true, Remaining: -1}
	refusedAPI := limiter.Result{Name: "api", Limit: api.Limit, Wait: 1500 * time.Millisecond, Full: 2500 * time.Millisecond}

	tests := []struct {
		name              string
		d                 limiter.Decision
		rateLimit, policy string
	}{
		{"one", decision(0, api), `"api";r=12;t=1`, `"api";q=100;w=1`},
		{"burst apart from the rate", decision(0, follow), `"follow";r=49;t=18`, `"follow";q=200;w=3600;weir-burst=50`},
		{"tightest first", decision(1, api, follow), `"follow";r=49;t=18, "api";r=12;t=1`, `"follow";q=200;w=3600;weir-burst=50, "api";q=100;w=1`},
		{"a full bucket has no t", decision(0, full), `"full";r=10`, `"full";q=10;w=60`},
		{"charged in advance", decision(0, limiter.Result{Name: "follow", Limit: follow.Limit, Allowed: true, Remaining: 49, Full: 54 * time.Second}), `"follow";r=49;t=18`, `"follow";q=200;w=3600;weir-burst=50`},
		{"unlimited is no policy", decision(0, api, open), `"api";r=12;t=1`, `"api";q=100;w=1`},
		{"unknown has a policy only", decision(0, down, api), `"api";r=12;t=1`, `"down";q=5;w=1, "api";q=100;w=1`},
		// Retry-After is 2 here, and no t may come after it.
		{"refused", decision(0, refusedAPI, follow), `"api";r=0;t=2, "follow";r=49`, `"api";q=100;w=1, "follow";q=200;w=3600;weir-burst=50`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rateLimit, policy := structured(tt.d)
			if rateLimit != tt.rateLimit {
				t.Errorf("RateLimit: got  %s\nwant %s", rateLimit, tt.rateLimit)
			}
			if policy != tt.policy {
				t.Errorf("RateLimit-Policy: got  %s\nwant %s", policy, tt.policy)
			}
		})
	}
}

// decision makes a Decision of results.
func decision(tightest int, results ...limiter.Result) limiter.Decision {
	d := limiter.Decision{Allowed: true, Results: results, Tightest: tightest}
	for _, r := range results {
		d.Allowed = d.Allowed && r.Allowed
	}
	return d
}

// TestNextToken takes tokens one by one: t says when there is one more, and not
// before, but for what rounding to whole ns and tokens makes of it.
func TestNextToken(t *testing.T) {
	l := mustLimit(t, 3, 10*time.Second, 5)
	const now = int64(1_700_000_000_000_000_000)
	const slack = 1_000_000 // ns, of what t counts in seconds
	tat := now - 1
	for taken := int64(1); taken <= 5; taken++ {
		var d bucket.Decision
		tat, d = l.Take(tat, now, 1)
		r := limiter.Result{Limit: l, Allowed: true, Remaining: d.Remaining, Full: d.Full}
		next := nextToken(&r)
		if got := l.Remaining(tat, now+int64(next)+slack); got != d.Remaining+1 {
			t.Errorf("%d taken: %d tokens after %v, want %d", taken, got, next, d.Remaining+1)
		}
		if got := l.Remaining(tat, now+int64(next)-slack); got != d.Remaining {
			t.Errorf("%d taken: %d tokens just before %v, want %d", taken, got, next, d.Remaining)
		}
	}
}

func TestStructuredIsBounded(t *testing.T) {
	var results []limiter.Result
	for i := range 40 {
		results = append(results, limiter.Result{Name: fmt.Sprintf("limit-%d", i), Limit: mustLimit(t, bucket.MaxPerSecond, time.Second, bucket.MaxBurst), Allowed: true})
	}
	rateLimit, policy := structured(decision(39, results...))
	for _, s := range []string{rateLimit, policy} {
		if n := strings.Count(s, ", ") + 1; n != maxItems || !structuredList.MatchString(s) || !strings.HasPrefix(s, `"limit-39"`) {
			t.Errorf("%d items, want %d with the tightest first: %s", n, maxItems, s)
		}
	}
}

func TestPolicyOfOddPeriods(t *testing.T) {
	tests := []struct {
		rate  bucket.Rate
		burst int64
		want  string
	}{
		{bucket.Rate{Count: 1, Period: 100 * time.Millisecond}, 10, `"x";q=10;w=1`},
		{bucket.Rate{Count: 3, Period: 1500 * time.Millisecond}, 4, `"x";q=4;w=2`},
		{bucket.Rate{Count: 1_000_000 * 86_400, Period: 24 * time.Hour}, 1, `"x";q=86400000000;w=86400;weir-burst=1`},
	}
	for _, tt := range tests {
		l := mustLimit(t, tt.rate.Count, tt.rate.Period, tt.burst)
		if got := policyItem(&limiter.Result{Name: "x", Limit: l}); got != tt.want {
			t.Errorf("%v: got %s, want %s", tt.rate, got, tt.want)
		}
	}
}
