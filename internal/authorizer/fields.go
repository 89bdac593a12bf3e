package authorizer

import (
	"strconv"
	"strings"
	"time"

	"weir/internal/limiter"
	"weir/internal/plan"
	"weir/pkg/bucket"
)

// fields is the context of an answer: what gateway responses, parameter mappings
// and backends get to see of it. Every key is in every answer, allowed or not,
// and every value is a string; docs/answers.md defines them.
//
// API Gateway puts the values raw into headers and JSON bodies. So they are made
// of fixed text, numbers and names from the configuration, of [safe] characters
// only. The two structured fields have double quotes too: they belong in headers
// and never in a body.
type fields struct {
	Tenant          string `json:"tenant"`
	Plan            string `json:"plan"`
	Limited         string `json:"limited"` // "true" or "false"
	Code            code   `json:"code"`
	Message         string `json:"message"`
	RetryAfter      string `json:"retryAfter"` // seconds; "0" if allowed, else >= 1
	Held            string `json:"held"`       // milliseconds that the request waited for its tokens
	Limit           string `json:"limit"`      // tokens a full bucket holds; "-1" if there is no limit
	Remaining       string `json:"remaining"`  // whole tokens left; "-1" if unknown or there is no limit
	Reset           string `json:"reset"`      // seconds until the bucket is full
	Scope           string `json:"scope"`      // what the limit counts
	Reason          string `json:"reason"`     // name of the limit
	RateLimit       string `json:"rateLimit"`
	RateLimitPolicy string `json:"rateLimitPolicy"`
}

// code says what became of a request, for programs.
type code string

const (
	codeOK          code = "ok"
	codeUnchecked   code = "unchecked"         // allowed, because the store could not tell
	codeRateLimited code = "rate_limited"      // try again after retryAfter
	codeExceeds     code = "exceeds_limit"     // costs more than the limit ever holds: no wait helps
	codeSuspended   code = "tenant_suspended"  // by the operator
	codeUnavailable code = "unavailable"       // what must be known to let it pass could not be found out
	codeUnsupported code = "unsupported_event" // no authorizer event
)

var messages = map[code]string{
	codeOK:          "The request is within its limits.",
	codeUnchecked:   "The limit could not be checked and the request was let through.",
	codeRateLimited: "Too many requests. Please wait and try again.",
	codeExceeds:     "The request costs more than its limit can ever hold. Waiting does not help.",
	codeSuspended:   "The account is suspended.",
	codeUnavailable: "The request could not be checked. Please try again.",
	codeUnsupported: "The event is not that of an API Gateway authorizer.",
}

// Reasons that are no limit's name.
const (
	reasonNone           = "none"
	reasonBadCredentials = "bad_credentials"
	reasonSuspended      = "suspended"
	reasonUnavailable    = "unavailable"
	reasonUnsupported    = "unsupported_event"
)

// unknown stands for a tenant or plan that a request has not got. No name is
// written so.
const unknown = "-"

// What Retry-After says where no time is known at which a retry would help.
const (
	retryNever       = 24 * time.Hour // plans may have changed by then
	retrySuspended   = time.Hour
	retryUnavailable = time.Second
)

// caller is who a request is from, in words of an answer.
type caller struct {
	tenant string
	plan   string
}

// nobody is the caller before it is known.
var nobody = caller{tenant: unknown, plan: unknown}

// decided returns the fields of a decision on checks made of limits.
func decided(who caller, limits []*plan.Limit, d limiter.Decision) fields {
	f := fields{
		Tenant:     safe(who.tenant),
		Plan:       safe(who.plan),
		Limited:    strconv.FormatBool(!d.Allowed),
		Code:       codeOK,
		RetryAfter: "0",
		Held:       milliseconds(held(d)),
		Limit:      "-1",
		Remaining:  "-1",
		Reset:      "0",
		Scope:      reasonNone,
		Reason:     reasonNone,
	}
	if d.Tightest >= 0 && d.Tightest < len(d.Results) && d.Tightest < len(limits) {
		f.report(limits[d.Tightest], &d.Results[d.Tightest], d.Allowed)
		f.RateLimit, f.RateLimitPolicy = structured(d)
	} else if !d.Allowed { // by no limit that is known: say when to ask again
		f.Code, f.RetryAfter = codeUnavailable, seconds(retryUnavailable)
	}
	f.Message = messages[f.Code]
	return f
}

// held returns how long a request was held for its tokens.
func held(d limiter.Decision) (longest time.Duration) {
	for i := range d.Results {
		if r := &d.Results[i]; d.Allowed && r.Mode == limiter.Enforce {
			longest = max(longest, r.Hold)
		}
	}
	return longest
}

// report fills in what the tightest limit came to; allowed says whether the
// request passes.
func (f *fields) report(l *plan.Limit, r *limiter.Result, allowed bool) {
	f.Scope, f.Reason = scope(l.Key), safe(l.Name)
	f.Reset = seconds(r.Full)
	if !r.Limit.IsUnlimited() {
		f.Limit = strconv.FormatInt(capacity(r.Limit), 10)
		f.Remaining = strconv.FormatInt(max(r.Remaining, -1), 10)
	}
	switch {
	case r.Unknown:
		f.unchecked(l, r)
	case r.Allowed && !allowed: // its time was up before it had its tokens
		f.Code, f.RetryAfter = codeUnavailable, seconds(retryUnavailable)
	case r.Allowed:
	case r.Wait == bucket.Never:
		f.Code, f.RetryAfter = codeExceeds, retryAfter(r.Wait)
	default:
		f.Code, f.RetryAfter = codeRateLimited, retryAfter(r.Wait)
	}
}

// unchecked fills in what a limit came to that the store could not tell.
func (f *fields) unchecked(l *plan.Limit, r *limiter.Result) {
	f.Code, f.Remaining = codeUnchecked, "-1"
	switch {
	case r.Allowed:
		return
	case l.OnError == plan.Local: // over this process's part
		f.Code = codeRateLimited
	default:
		f.Code = codeUnavailable
	}
	f.RetryAfter = retryAfter(r.Wait)
}

// refused returns the fields of a refusal that no limit of the caller's plan made.
func refused(who caller, c code, scope, reason string, wait time.Duration) fields {
	after := retryAfter(wait)
	return fields{
		Tenant:          safe(who.tenant),
		Plan:            safe(who.plan),
		Limited:         "true",
		Code:            c,
		Message:         messages[c],
		RetryAfter:      after,
		Held:            "0",
		Limit:           "0",
		Remaining:       "0",
		Reset:           after,
		Scope:           scope,
		Reason:          reason,
		RateLimit:       item(reason).param("r", 0).text("t", after).String(),
		RateLimitPolicy: item(reason).param("q", 0).text("w", after).String(),
	}
}

// scope names what a limit counts: its key template without the braces, such as
// "tenant" or "tenant:ip".
func scope(t plan.Template) string {
	return safe(withoutBraces.Replace(t.String()))
}

var withoutBraces = strings.NewReplacer("{", "", "}", "")

// capacity returns the most tokens the limit's bucket ever has to give.
func capacity(l bucket.Limit) int64 {
	if l.IsZero() {
		return 0
	}
	return l.Burst()
}

// retryAfter returns a wait as Retry-After says it: whole seconds, at least 1.
func retryAfter(wait time.Duration) string {
	if wait == bucket.Never {
		wait = retryNever
	}
	return seconds(max(wait, time.Second))
}

// seconds returns d in seconds, rounded up.
func seconds(d time.Duration) string {
	return strconv.FormatInt(ceilSeconds(d), 10)
}

func ceilSeconds(d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return int64((d-1)/time.Second) + 1
}

// milliseconds returns d in milliseconds, rounded up.
func milliseconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Millisecond-1)/time.Millisecond), 10)
}

// maxValue is the length of the longest value from the configuration.
const maxValue = 128

// safe returns s with every character replaced that could end a JSON string or a
// header: "-" for the empty string, '_' for what is not a letter, digit, or one
// of " .,:_-/". Names are restricted where they are written; this is for what
// reaches the table in another way.
func safe(s string) string {
	if s == "" {
		return unknown
	}
	if len(s) > maxValue {
		s = s[:maxValue]
	}
	for i := range len(s) {
		if !safeByte(s[i]) {
			return replaceUnsafe(s)
		}
	}
	return s
}

func replaceUnsafe(s string) string {
	b := []byte(s)
	for i, c := range b {
		if !safeByte(c) {
			b[i] = '_'
		}
	}
	return string(b)
}

func safeByte(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return strings.IndexByte(" .,:_-/", c) >= 0
}
