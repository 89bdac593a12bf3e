package authorizer

import (
	"strconv"
	"strings"
	"time"

	"weir/internal/limiter"
)

// The RateLimit and RateLimit-Policy fields of draft-ietf-httpapi-ratelimit-headers-10
// are lists of structured fields (RFC 9651), one item per limit:
//
//	RateLimit:        "api";r=12;t=1            12 requests left, more in 1 s
//	RateLimit-Policy: "api";q=100;w=1           100 requests a second
//	RateLimit-Policy: "api";q=100;w=1;weir-burst=500
//
// q and w are the rate; weir-burst is what a full bucket holds where that is not q.

// maxInteger is the largest integer of a structured field.
const maxInteger = 999_999_999_999_999

// maxItems bounds the fields: API Gateway counts all headers' values together.
const maxItems = 10

// structured returns both fields for d, the tightest limit first. What has no
// policy to tell (no limit, an unlimited one, one that is not enforced) is left
// out, and so is from RateLimit what is unknown: a structured field has no word
// for it. A field without items is "".
func structured(d limiter.Decision) (rateLimit, policy string) {
	var current, policies []string
	add := func(r *limiter.Result) {
		if r.Limit.IsUnlimited() || len(policies) == maxItems {
			return
		}
		policies = append(policies, policyItem(r))
		if !r.Unknown || !r.Allowed {
			current = append(current, currentItem(r, d.Allowed))
		}
	}
	add(&d.Results[d.Tightest])
	for i := range d.Results {
		if i != d.Tightest && d.Results[i].Mode == limiter.Enforce {
			add(&d.Results[i])
		}
	}
	return strings.Join(current, ", "), strings.Join(policies, ", ")
}

func policyItem(r *limiter.Result) string {
	it := item(safe(r.Name))
	if r.Limit.IsZero() {
		return it.param("q", 0).param("w", 1).String()
	}
	// A window is in whole seconds; a rate per less than that is scaled up.
	w := max(1, ceilSeconds(r.Limit.Rate().Period))
	q := r.Limit.Tokens(w * int64(time.Second))
	it.param("q", q).param("w", w)
	if b := r.Limit.Burst(); b != q {
		it.param("weir-burst", b)
	}
	return it.String()
}

// currentItem returns the item of r in RateLimit. t is when there will be more:
// of a refused limit when the request would pass; otherwise when the next whole
// token comes, left out if the bucket is full. An answer that refuses gives no t
// for the limits that did not, since Retry-After must not come before any t.
func currentItem(r *limiter.Result, allowed bool) string {
	it := item(safe(r.Name)).param("r", max(0, r.Remaining))
	switch {
	case !r.Allowed:
		it.text("t", retryAfter(r.Wait))
	case allowed && r.Remaining < r.Limit.Burst():
		it.param("t", max(1, ceilSeconds(nextToken(r))))
	}
	return it.String()
}

// nextToken returns how long it takes until one more whole token is there: the
// time until the bucket is full less that of the tokens after the next. It is
// never more than a token's time, which it would be where Full has tokens in it
// that this process has charged in advance and still counts as Remaining.
func nextToken(r *limiter.Result) time.Duration {
	next := r.Full - time.Duration(r.Limit.Time(r.Limit.Burst()-r.Remaining-1))
	return min(next, time.Duration(r.Limit.Time(1)))
}

// listItem builds an item of a list: a quoted name with parameters.
type listItem struct{ b strings.Builder }

// item returns the item of a name, which must be safe.
func item(name string) *listItem {
	it := new(listItem)
	it.b.WriteByte('"')
	it.b.WriteString(name)
	it.b.WriteByte('"')
	return it
}

func (it *listItem) param(key string, value int64) *listItem {
	return it.text(key, strconv.FormatInt(min(value, maxInteger), 10))
}

func (it *listItem) text(key, value string) *listItem {
	it.b.WriteByte(';')
	it.b.WriteString(key)
	it.b.WriteByte('=')
	it.b.WriteString(value)
	return it
}

func (it *listItem) String() string { return it.b.String() }
