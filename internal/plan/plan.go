// Package plan holds plans and tenants: their types, and the strict parser of
// the file they are written in.
package plan

import (
	"net/netip"

	"weir/pkg/bucket"
)

// Plan is a named, versioned set of limits.
type Plan struct {
	Name   string
	Ver    int64 // grows with every change; 0 for a plan read from a file
	Limits []Limit
}

// Limit is one rule of a plan.
type Limit struct {
	Name   string
	Match  Match
	Key    Template     // default {tenant}
	Bucket bucket.Limit // rate and burst, checked
	Cost   int64        // tokens per request, default 1; 0 is allowed
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
}

// File is a plans file: plans, and in development tenants.
type File struct {
	Plans     map[string]*Plan
	Tenants   []Tenant
	Anonymous string // plan of requests without a credential; "" refuses them with 401
}

// Subject is what key templates are filled with.
type Subject struct {
	Tenant   string
	IP       netip.Addr
	Method   string
	Resource string
	Header   func(name string) string // name in lower case; "" if absent
}
