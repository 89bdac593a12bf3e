// Package limiter decides whether a request may pass.
package limiter

import (
	"context"
	"time"

	"weir/pkg/bucket"
)

// Check is one limit that a request must pass.
type Check struct {
	Name  string // of the limit, e.g. "api"
	Key   string // of the bucket
	Limit bucket.Limit
	Cost  int64 // tokens, >= 0
	Ver   int64 // version of the plan the limit is from
}

// Result is what one Check came to.
type Result struct {
	Name      string
	Limit     bucket.Limit
	Allowed   bool
	Unknown   bool          // the store could not tell; Remaining is -1
	Remaining int64         // whole tokens left; -1 if unknown
	Wait      time.Duration // until it would be allowed; 0 if it was, may be bucket.Never
	Full      time.Duration // until the bucket is full again
}

// Decision is the answer for a request: allowed only if every Check allows it.
type Decision struct {
	Allowed  bool
	Results  []Result // in the order of the Checks
	Tightest int      // index into Results of the one to report; -1 if there are none
}

// Limiter decides against buckets kept in a Store. It is safe for concurrent use.
type Limiter struct {
	store Store
}

// Options of a Limiter.
type Options struct {
	Timeout time.Duration // of store work per request; 100 ms if 0
}

// New returns a Limiter on store s.
func New(s Store, o Options) *Limiter { return &Limiter{store: s} }

// Decide decides a request at time now (ns since the Unix epoch).
func (l *Limiter) Decide(ctx context.Context, now int64, checks []Check) Decision {
	panic("being written")
}
