package authorizer

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"weir/internal/limiter"
	"weir/internal/plan"
	"weir/pkg/bucket"
)

func mustLimit(t testing.TB, count int64, per time.Duration, burst int64) bucket.Limit {
	t.Helper()
	l, err := bucket.NewLimit(bucket.Rate{Count: count, Period: per}, burst)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustTemplate(t testing.TB, text string) plan.Template {
	t.Helper()
	k, err := plan.ParseTemplate(text)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// contextKeys is the contract with gateway responses, mappings and backends.
var contextKeys = []string{
	"tenant", "plan", "limited", "code", "message", "retryAfter", "held", "limit", "remaining", "reset",
	"scope", "reason", "rateLimit", "rateLimitPolicy",
}

// safeValue has nothing that ends a JSON string or a header's value.
var safeValue = regexp.MustCompile(`^[A-Za-z0-9 .,:_/-]+$`)

var allCodes = []code{codeOK, codeUnchecked, codeRateLimited, codeExceeds, codeSuspended, codeUnavailable, codeUnsupported}

// checkFields checks a context against the contract, whatever it is about.
func checkFields(t testing.TB, context map[string]string, allowed bool) {
	t.Helper()
	for _, k := range contextKeys {
		v, ok := context[k]
		if !ok {
			t.Errorf("context has no %q", k)
			continue
		}
		switch k {
		case "rateLimit", "rateLimitPolicy":
			if !allowed && v == "" {
				t.Errorf("%s is empty in a refusal", k)
			}
			if v != "" && !structuredList.MatchString(v) {
				t.Errorf("%s is no list of structured fields: %s", k, v)
			}
		case "retryAfter", "held", "limit", "remaining", "reset":
			n, err := strconv.ParseInt(v, 10, 64)
			if err != nil || strconv.FormatInt(n, 10) != v {
				t.Errorf("%s is not an integer: %q", k, v)
			}
			if k == "retryAfter" && (n > 0) == allowed {
				t.Errorf("allowed %v, but %s is %s", allowed, k, v)
			}
			if n < -1 || n < 0 && (k == "retryAfter" || k == "held" || k == "reset") {
				t.Errorf("%s is %s", k, v)
			}
		default:
			if !safeValue.MatchString(v) {
				t.Errorf("%s has characters that are not safe, or none: %q", k, v)
			}
		}
	}
	if len(context) != len(contextKeys) {
		t.Errorf("context has %d keys, want %d: %v", len(context), len(contextKeys), context)
	}
	if got, want := context["limited"], strconv.FormatBool(!allowed); got != want {
		t.Errorf("limited is %q, want %q", got, want)
	}
	if !slices.Contains(allCodes, code(context["code"])) {
		t.Errorf("unknown code %q", context["code"])
	}
	if messages[code(context["code"])] != context["message"] {
		t.Errorf("code %q has message %q", context["code"], context["message"])
	}
}

// asMap returns the fields as API Gateway gets them.
func asMap(t testing.TB, f fields) map[string]string {
	t.Helper()
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]string{}
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatalf("a value is not a string: %v in %s", err, b)
	}
	return m
}

func TestDecidedFields(t *testing.T) {
	hundred := mustLimit(t, 100, time.Second, 100)
	api := &plan.Limit{Name: "api", Bucket: hundred}
	who := caller{tenant: "acme", plan: "pro"}
	base := map[string]string{"tenant": "acme", "plan": "pro", "scope": "tenant", "reason": "api", "limit": "100", "held": "0"}

	tests := []struct {
		name   string
		limit  *plan.Limit
		result limiter.Result
		want   map[string]string // beside base
	}{
		{
			"allowed", api,
			limiter.Result{Allowed: true, Remaining: 12, Full: 880 * time.Millisecond},
			map[string]string{"limited": "false", "code": "ok", "retryAfter": "0", "remaining": "12", "reset": "1", "rateLimit": `"api";r=12;t=1`, "rateLimitPolicy": `"api";q=100;w=1`},
		},
		{
			"allowed with the last token", api,
			limiter.Result{Allowed: true, Remaining: 0, Full: time.Second},
			map[string]string{"limited": "false", "code": "ok", "retryAfter": "0", "remaining": "0", "reset": "1", "rateLimit": `"api";r=0;t=1`},
		},
		{
			"refused for 5 ms", api,
			limiter.Result{Wait: 5 * time.Millisecond, Full: time.Second},
			map[string]string{"limited": "true", "code": "rate_limited", "retryAfter": "1", "remaining": "0", "reset": "1", "rateLimit": `"api";r=0;t=1`},
		},
		{
			"refused for exactly 2 s", api,
			limiter.Result{Wait: 2 * time.Second, Full: 3 * time.Second},
			map[string]string{"retryAfter": "2", "reset": "3", "rateLimit": `"api";r=0;t=2`},
		},
		{
			"refused for 1 ns more", api,
			limiter.Result{Wait: 2*time.Second + 1, Full: 3*time.Second + 1},
			map[string]string{"retryAfter": "3", "reset": "4", "rateLimit": `"api";r=0;t=3`},
		},
		{
			"refused with tokens left, as the cost is higher", api,
			limiter.Result{Wait: time.Second, Remaining: 7, Full: time.Second},
			map[string]string{"code": "rate_limited", "remaining": "7", "rateLimit": `"api";r=7;t=1`},
		},
		{
			"cost above the burst", api,
			limiter.Result{Wait: bucket.Never, Remaining: 100},
			map[string]string{"limited": "true", "code": "exceeds_limit", "retryAfter": "86400", "remaining": "100", "reset": "0", "rateLimit": `"api";r=100;t=86400`},
		},
		{
			"store down", api,
			limiter.Result{Allowed: true, Unknown: true},
			map[string]string{"limited": "false", "code": "unchecked", "retryAfter": "0", "remaining": "-1", "reset": "0", "rateLimit": "", "rateLimitPolicy": `"api";q=100;w=1`},
		},
		{
			"store down, refused", api,
			limiter.Result{Unknown: true, Remaining: -1},
			map[string]string{"limited": "true", "code": "unavailable", "retryAfter": "1", "remaining": "-1", "rateLimit": `"api";r=0;t=1`},
		},
		{
			"store down, over this process's part", &plan.Limit{Name: "api", Bucket: hundred, OnError: plan.Local},
			limiter.Result{Unknown: true, Remaining: -1, Wait: 3 * time.Second},
			map[string]string{"limited": "true", "code": "rate_limited", "retryAfter": "3", "remaining": "-1", "rateLimit": `"api";r=0;t=3`},
		},
		{
			"store down, within this process's part", &plan.Limit{Name: "api", Bucket: hundred, OnError: plan.Local},
			limiter.Result{Allowed: true, Unknown: true, Remaining: -1},
			map[string]string{"limited": "false", "code": "unchecked", "retryAfter": "0", "remaining": "-1", "rateLimit": ""},
		},
		{
			"held", api,
			limiter.Result{Allowed: true, Remaining: 0, Full: 1200 * time.Millisecond, Hold: 200*time.Millisecond - 1},
			map[string]string{"limited": "false", "code": "ok", "retryAfter": "0", "held": "200", "remaining": "0", "reset": "2", "rateLimit": `"api";r=0;t=1`},
		},
		{
			"rate 0", &plan.Limit{Name: "closed", Bucket: mustLimit(t, 0, 0, 5)},
			limiter.Result{Wait: bucket.Never},
			map[string]string{"code": "exceeds_limit", "retryAfter": "86400", "limit": "0", "remaining": "0", "reset": "0", "reason": "closed", "rateLimit": `"closed";r=0;t=86400`, "rateLimitPolicy": `"closed";q=0;w=1`},
		},
		{
			"unlimited", &plan.Limit{Name: "open", Bucket: bucket.Unlimited()},
			limiter.Result{Allowed: true, Remaining: math.MaxInt64},
			map[string]string{"code": "ok", "limit": "-1", "remaining": "-1", "reset": "0", "reason": "open", "rateLimit": "", "rateLimitPolicy": ""},
		},
		{
			"a key of several parts", &plan.Limit{Name: "follow", Bucket: hundred, Key: mustTemplate(t, "{tenant}:{header.X-User}:write")},
			limiter.Result{Allowed: true, Remaining: 99, Full: 10 * time.Millisecond},
			map[string]string{"scope": "tenant:header.x-user:write", "reason": "follow"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.result.Name, tt.result.Limit = tt.limit.Name, tt.limit.Bucket
			d := limiter.Decision{Allowed: tt.result.Allowed, Results: []limiter.Result{tt.result}}
			got := asMap(t, decided(who, []*plan.Limit{tt.limit}, d))
			checkFields(t, got, tt.result.Allowed)
			for k, v := range base {
				if w, ok := tt.want[k]; ok {
					v = w
				}
				if got[k] != v {
					t.Errorf("%s: got %q, want %q", k, got[k], v)
				}
			}
			for k, v := range tt.want {
				if got[k] != v {
					t.Errorf("%s: got %q, want %q", k, got[k], v)
				}
			}
		})
	}
}

func TestDecidedWithoutLimits(t *testing.T) {
	got := asMap(t, decided(caller{"acme", "pro"}, nil, limiter.Decision{Allowed: true, Tightest: -1}))
	checkFields(t, got, true)
	for k, v := range map[string]string{"code": "ok", "limit": "-1", "remaining": "-1", "scope": "none", "reason": "none", "rateLimit": "", "rateLimitPolicy": ""} {
		if got[k] != v {
			t.Errorf("%s: got %q, want %q", k, got[k], v)
		}
	}
}

func TestRefusedFields(t *testing.T) {
	got := asMap(t, refused(caller{"acme", "pro"}, codeSuspended, "tenant", reasonSuspended, retrySuspended))
	checkFields(t, got, false)
	want := map[string]string{
		"tenant": "acme", "plan": "pro", "code": "tenant_suspended", "retryAfter": "3600", "limit": "0", "remaining": "0", "reset": "3600",
		"scope": "tenant", "reason": "suspended", "rateLimit": `"suspended";r=0;t=3600`, "rateLimitPolicy": `"suspended";q=0;w=3600`,
	}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s: got %q, want %q", k, got[k], v)
		}
	}
}

// TestFieldsAreSafe feeds names that no parser lets through.
func TestFieldsAreSafe(t *testing.T) {
	for _, bad := range []string{"", `a"b`, "a\r\nSet-Cookie: x", `\`, "é", "{$context}", strings.Repeat("x", 1000), "\x00"} {
		l := &plan.Limit{Name: bad, Bucket: mustLimit(t, 1, time.Second, 1)}
		d := limiter.Decision{Results: []limiter.Result{{Name: bad, Limit: l.Bucket, Wait: 1}}}
		got := asMap(t, decided(caller{tenant: bad, plan: bad}, []*plan.Limit{l}, d))
		checkFields(t, got, false)
		for k, v := range got {
			if len(v) > 200 {
				t.Errorf("%s has %d bytes", k, len(v))
			}
		}
	}
}

func TestSeconds(t *testing.T) {
	tests := []struct {
		d           time.Duration
		secs, retry string
	}{
		{-time.Second, "0", "1"},
		{0, "0", "1"},
		{1, "1", "1"},
		{time.Second, "1", "1"},
		{time.Second + 1, "2", "2"},
		{90 * time.Second, "90", "90"},
		{bucket.Never - 1, "9223372037", "9223372037"},
		{bucket.Never, "9223372037", "86400"},
	}
	for _, tt := range tests {
		if got := seconds(tt.d); got != tt.secs {
			t.Errorf("seconds(%d): got %s, want %s", tt.d, got, tt.secs)
		}
		if got := retryAfter(tt.d); got != tt.retry {
			t.Errorf("retryAfter(%d): got %s, want %s", tt.d, got, tt.retry)
		}
	}
}

func TestEveryCodeHasAMessage(t *testing.T) {
	if len(messages) != len(allCodes) {
		t.Errorf("%d messages, %d codes", len(messages), len(allCodes))
	}
	for _, c := range allCodes {
		if !safeValue.MatchString(messages[c]) {
			t.Errorf("message of %s: %q", c, messages[c])
		}
	}
}
