// Package doctor knows what would make a deployment of Weir not limit without
// anybody noticing: an authorizer whose answers are cached, a refusal that is not
// a 429, a reconciler that reads no stream. It judges a description of the
// deployment; where that comes from is another's business: [Read] makes one of
// CloudFormation templates, `weir doctor` of what is deployed, and the constructs
// in infra/attach refuse by the same rules before anything is.
package doctor

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity of a finding.
type Severity string

// The severities.
const (
	Broken  Severity = "broken"  // it does not limit, or not as configured
	Risky   Severity = "risky"   // it limits, and something that protects it is missing
	Unknown Severity = "unknown" // it could not be looked at
)

// Finding is one thing that is wrong.
type Finding struct {
	Severity Severity `json:"severity"`
	Rule     string   `json:"rule"`  // a short name, as "authorizer-cached"
	Where    string   `json:"where"` // which resource, in which Region
	What     string   `json:"what"`
	Fix      string   `json:"fix"`
}

func (f Finding) String() string {
	return fmt.Sprintf("%s: %s: %s %s (%s)", f.Severity, f.Where, f.What, f.Fix, f.Rule)
}

// Deployment is what is looked at: the parts of Weir in all its Regions.
type Deployment struct {
	Regions []string // that were looked at; the first is the primary one
	Parts   []Part
	Tables  []Table
	Lag     []Lag
	Home    *Home // nil if it was not looked at
}

// Part is what one Region has.
type Part struct {
	Region     string
	Authorizer *Function
	Reconciler *Function
	APIs       []API
	Sources    []Source // event sources of the reconciler
}

// check collects findings.
type check struct{ found []Finding }

func (c *check) add(s Severity, rule, where, what, fix string) {
	c.found = append(c.found, Finding{Severity: s, Rule: rule, Where: where, What: what, Fix: fix})
}

func (c *check) broken(rule, where, what, fix string) { c.add(Broken, rule, where, what, fix) }
func (c *check) risky(rule, where, what, fix string)  { c.add(Risky, rule, where, what, fix) }

// Check returns what is wrong, the worst first.
func Check(d Deployment) []Finding {
	var c check
	for _, p := range d.Parts {
		c.part(d, p)
	}
	c.tables(d)
	c.lag(d)
	c.home(d)
	return c.sorted()
}

// CheckAPI returns what is wrong with one API by itself, the worst first.
func CheckAPI(a API) []Finding {
	var c check
	c.api(a)
	return c.sorted()
}

func (c *check) sorted() []Finding {
	order := []Severity{Broken, Risky, Unknown}
	slices.SortStableFunc(c.found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Severity), slices.Index(order, b.Severity)), cmp.Compare(a.Where, b.Where), cmp.Compare(a.Rule, b.Rule))
	})
	return c.found
}

func (c *check) part(d Deployment, p Part) {
	if p.Authorizer == nil {
		c.broken("authorizer-missing", p.Region, "there is no authorizer function.", "Deploy the Region's stack.")
	} else {
		c.function(d, p.Region, "authorizer", *p.Authorizer)
	}
	if p.Reconciler == nil {
		c.broken("reconciler-missing", p.Region, "there is no reconciler function: plan changes reach no row.", "Deploy the Region's stack.")
	} else {
		c.function(d, p.Region, "reconciler", *p.Reconciler)
		c.sources(p)
	}
	if len(p.APIs) == 0 {
		c.risky("api-missing", p.Region, "no API calls the authorizer.", "Attach it: docs/operations.md, Attach.")
	}
	for _, a := range p.APIs {
		c.api(a)
	}
}
