package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"weir/internal/plan"
	"weir/pkg/ddbstore"
)

// Explanation is everything there is to know about a tenant's limits at a moment.
type Explanation struct {
	Tenant    string   `json:"tenant"`
	Status    string   `json:"status"`
	Plan      string   `json:"plan"`
	At        Instant  `json:"at"`
	Version   int64    `json:"ver"`               // what its buckets are charged under
	Rollout   string   `json:"rollout,omitempty"` // of the plan, if there is one
	Reached   bool     `json:"reached"`           // by the rollout
	Config    []Known  `json:"config"`            // the configuration, as Regions have it
	Limits    []Bucket `json:"limits"`
	Next      []Answer `json:"next"` // to the next request, by Region
	History   []Past   `json:"history"`
	Warnings  []string `json:"warnings,omitempty"`
	suspended bool
}

// Known is the configuration that a Region has.
type Known struct {
	Region        string `json:"region"`
	PlanVersion   int64  `json:"planVersion"`
	TenantVersion int64  `json:"tenantVersion"`
}

// Past is a change that led to what holds now.
type Past struct {
	What    string  `json:"what"` // plan or tenant
	ID      string  `json:"id"`
	Version int64   `json:"version"`
	At      Instant `json:"at"`
	Author  string  `json:"author"`
	Reason  string  `json:"reason"`
	stamp   int64
}

// Answer is what the next request would get in a Region.
type Answer struct {
	Region string `json:"region"`
	Decision
	Limit string `json:"limit,omitempty"` // that refuses it, or has the least left
}

// historyShown is how many changes of the plan and of the tenant are told.
const historyShown = 3

// Explainer explains tenants.
type Explainer struct {
	Places  []Place // the first is where the configuration is taken from
	Subject plan.Subject
	Request bool // Subject has the method and the resource of a request; else it is any that no match excludes
	Now     int64
}

// Place is a Region to look in.
type Place struct {
	Config  *ddbstore.Config
	Buckets Buckets
}

// Tenant explains a tenant. It reads, and charges nothing.
func (e Explainer) Tenant(ctx context.Context, id string) (*Explanation, error) {
	c := e.Places[0].Config
	s, err := c.Tenant(ctx, id)
	if errors.Is(err, ddbstore.ErrNotFound) {
		return nil, fmt.Errorf("there is no tenant %q; `weir tenant list` lists them", id)
	}
	if err != nil {
		return nil, err
	}
	t, err := TenantOf(s)
	if err != nil {
		return nil, err
	}
	stored, p, err := PlanRollout(ctx, c, t.Plan)
	if err != nil {
		return nil, fmt.Errorf("tenant %s: %w", id, err)
	}
	eff, ver := plan.Effective(p, t, e.Now)
	x := &Explanation{
		Tenant: id, Status: string(s.Status), Plan: t.Plan, At: Instant(e.Now), Version: ver,
		Reached: p.Next.Has(p.Name, id, e.Now), Warnings: t.Overrides.Warnings(eff), suspended: t.Suspended,
	}
	if p.Next != nil {
		x.Rollout = RolloutText(p.Next)
	}
	if x.History, err = past(ctx, c, stored.Name, id); err != nil {
		return nil, err
	}
	if err := e.known(ctx, x, stored, s); err != nil {
		return nil, err
	}
	e.Subject.Tenant = id
	for i := range eff.Limits {
		b, err := e.bucket(ctx, &eff.Limits[i], sources{p, t, s.Version, x.Reached}, ver, eff)
		if err != nil {
			return nil, err
		}
		x.Limits = append(x.Limits, b)
	}
	for i := range e.Places {
		x.Next = append(x.Next, e.answer(x, i))
	}
	return x, nil
}

// known tells which versions each Region has.
func (e Explainer) known(ctx context.Context, x *Explanation, p ddbstore.Plan, t ddbstore.Tenant) error {
	for i, place := range e.Places {
		if i > 0 {
			var err error
			if p, err = place.Config.Plan(ctx, p.Name); err != nil && !errors.Is(err, ddbstore.ErrNotFound) {
				return fmt.Errorf("%s: %w", place.Buckets.Region, err)
			}
			if t, err = place.Config.Tenant(ctx, x.Tenant); err != nil && !errors.Is(err, ddbstore.ErrNotFound) {
				return fmt.Errorf("%s: %w", place.Buckets.Region, err)
			}
			p.Name = x.Plan
		}
		x.Config = append(x.Config, Known{Region: place.Buckets.Region, PlanVersion: p.Version, TenantVersion: t.Version})
	}
	return nil
}

// past returns the last changes of a plan and a tenant, newest first.
func past(ctx context.Context, c *ddbstore.Config, name, id string) ([]Past, error) {
	plans, err := c.PlanHistory(ctx, name, historyShown)
	if err != nil {
		return nil, err
	}
	tenants, err := c.TenantHistory(ctx, id, historyShown)
	if err != nil {
		return nil, err
	}
	all := []Past{}
	for _, p := range plans {
		all = append(all, pastOf("plan", p.Name, p.Version, p.Stamp, p.Change))
	}
	for _, t := range tenants {
		all = append(all, pastOf("tenant", t.ID, t.Version, t.Stamp, t.Change))
	}
	slices.SortStableFunc(all, func(a, b Past) int { return cmp.Compare(b.stamp, a.stamp) })
	return all, nil
}

func pastOf(what, id string, version, stamp int64, ch ddbstore.Change) Past {
	return Past{What: what, ID: id, Version: version, At: Instant(ch.At), Author: ch.Author, Reason: ch.Reason, stamp: stamp}
}

// answer puts together what the limits that match say in the i-th place.
func (e Explainer) answer(x *Explanation, i int) Answer {
	a := Answer{Region: e.Places[i].Buckets.Region, Decision: Decision{Outcome: Passes, Why: "no limit matches"}}
	if x.suspended {
		a.Outcome, a.Why = Refused, "the tenant is suspended"
		return a
	}
	for _, b := range x.Limits {
		if !b.Matches || len(b.Views) <= i {
			continue
		}
		if d := b.Views[i].Next; a.Limit == "" || d.worse(a.Decision) {
			a.Decision, a.Limit = d, b.Limit
		}
	}
	return a
}
