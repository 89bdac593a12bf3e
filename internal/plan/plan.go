// Package plan holds plans and tenants: their types, the strict parser of the
// file they are written in, and the names of the buckets their limits use.
//
// Everything a limit may say is in docs/plans.md.
package plan

import (
	"net/netip"
	"strings"
	"time"

	"weir/pkg/bucket"
)

// Plan is a named, versioned set of limits.
type Plan struct {
	Name        string
	Ver         int64 // grows by one with every change, up to 2^31; 0 for a plan read from a file
	Description string
	Limits      []Limit

	Stamp int64        // of its last change: see ddbstore.Config.Write. 0 for a plan read from a file
	Carry bucket.Carry // what that change makes of its buckets' levels
	Next  *Rollout     // the next body and who has it already; nil if there is none
}

// Limit is one rule of a plan.
type Limit struct {
	Name        string
	Description string
	Match       Match
	Key         Template     // default {tenant}
	Bucket      bucket.Limit // rate and burst, checked
	Percent     int64        // of the rate's number, if the burst is written so; 0 if it is a count
	Cost        int64        // tokens per request, default 1; 0 is allowed
	Consistency Consistency
	Share       bool          // hold each Region to its share while it cannot hear the others; Global only
	Hold        time.Duration // how long a request may wait for its token, 0 to MaxHold
	Mode        Mode
	OnError     OnError
	Initial     int64 // tokens that a process which never saw the bucket may spend before it charges them; not Strict
}

// Match says which requests a limit applies to; empty fields match everything.
type Match struct {
	Method   string // upper case
	Resource string // route template as API Gateway has it, or a prefix ending in *
}

// Tenant is a customer with a plan.
type Tenant struct {
	ID        string
	Plan      string
	Suspended bool
	Keys      []string // plain API keys; development files only
	Overrides Overrides

	Ver   int64        // grows by one with every change, up to 2^31; 0 in development files
	Stamp int64        // of its last change: see ddbstore.Config.Write. 0 in development files
	Carry bucket.Carry // what that change makes of its buckets' levels
}

// File is a plans file: plans, and in development tenants.
type File struct {
	Plans          map[string]*Plan
	Tenants        []Tenant
	Anonymous      string // plan of requests without a credential; "" refuses them with 401
	BadCredentials Limit  // of failed credentials, by IP; DefaultBadCredentials if not written

	Warnings ErrorList // what is allowed and probably not meant
}

// DefaultBadCredentials is the limit of failed credentials unless a file says
// otherwise: 60 a minute from one address.
func DefaultBadCredentials() Limit {
	b, _ := bucket.NewLimit(bucket.Rate{Count: 60, Period: time.Minute}, 60) // possible; a test says so
	return badCredentials(b)
}

// badCredentials is the limit of failed credentials with bucket b. No limit of a
// plan can have its name, because those begin with a letter or digit.
func badCredentials(b bucket.Limit) Limit {
	return Limit{Name: "_bad-credentials", Key: byIP, Bucket: b, Cost: 1}
}

// Subject is what key templates are filled with.
type Subject struct {
	Tenant   string
	IP       netip.Addr
	Method   string
	Resource string
	Header   func(name string) string // name in lower case; "" if absent
}

// Matching returns the limits that a request must pass, in the plan's order. It
// is shorthand for AppendMatching(nil, method, resource).
func (p *Plan) Matching(method, resource string) []*Limit {
	return p.AppendMatching(nil, method, resource)
}

// AppendMatching appends to dst the limits that a request must pass, in the
// plan's order. The method is in upper case, and "" for a WebSocket's $connect.
func (p *Plan) AppendMatching(dst []*Limit, method, resource string) []*Limit {
	for i := range p.Limits {
		if l := &p.Limits[i]; l.Match.Matches(method, resource) {
			dst = append(dst, l)
		}
	}
	return dst
}

// Matches reports whether a request for resource is one m speaks of.
func (m Match) Matches(method, resource string) bool {
	if m.Method != "" && m.Method != method {
		return false
	}
	if prefix, ok := strings.CutSuffix(m.Resource, "*"); ok {
		return strings.HasPrefix(resource, prefix)
	}
	return m.Resource == "" || m.Resource == resource
}
