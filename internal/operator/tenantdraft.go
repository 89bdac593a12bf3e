package operator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"weir/internal/plan"
	"weir/pkg/ddbstore"
)

// TenantDraft is a tenant as it is to be, beside what it is now.
type TenantDraft struct {
	Base     ddbstore.Tenant
	Put      ddbstore.Tenant
	Fields   []FieldDiff // that differ; none if the tenant is so already
	Over     []Over
	Warnings []string // about its overrides on its plan
}

// DraftTenants applies an edit to tenants and finds out whom it would hit. That a
// tenant, the plan or a limit of it does not exist is an error: then nothing is to
// be written.
func (p Preview) DraftTenants(ctx context.Context, ids []string, e TenantEdit) ([]TenantDraft, error) {
	plans := planCache{config: p.Config}
	if e.Plan != "" {
		if _, err := plans.get(ctx, e.Plan); err != nil {
			return nil, err
		}
	}
	drafts := make([]TenantDraft, len(ids))
	err := each(ctx, len(ids), p.Progress, func(ctx context.Context, i int) error {
		s, err := p.Config.Tenant(ctx, ids[i])
		if errors.Is(err, ddbstore.ErrNotFound) {
			return nil // its draft stays empty
		}
		if err == nil {
			drafts[i], err = p.draftTenant(ctx, &plans, s, e)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var absent []string
	for i, id := range ids {
		if drafts[i].Base.ID == "" {
			absent = append(absent, id)
		}
	}
	if len(absent) > 0 {
		return nil, fmt.Errorf("there is no tenant %s; `weir tenant list` lists them, `weir tenant create` makes one", some(absent))
	}
	return drafts, nil
}

// some joins ids, not all of them if they are many.
func some(ids []string) string {
	const most = 10
	if len(ids) <= most {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
}

func (p Preview) draftTenant(ctx context.Context, plans *planCache, s ddbstore.Tenant, e TenantEdit) (TenantDraft, error) {
	d := TenantDraft{Base: s}
	was, err := TenantOf(s)
	if err != nil {
		return d, err
	}
	put, will, err := e.Of(s)
	if err != nil {
		return d, err
	}
	d.Put, d.Fields = put, tenantFields(s, put)
	if len(d.Fields) == 0 {
		return d, nil
	}
	from, err := plans.get(ctx, was.Plan)
	if err != nil {
		return d, fmt.Errorf("tenant %s: %w", s.ID, err)
	}
	to, err := plans.get(ctx, will.Plan)
	if err != nil {
		return d, fmt.Errorf("tenant %s: %w", s.ID, err)
	}
	for name := range e.Limits {
		if _, had := was.Overrides.Limits[name]; !had && limitNamed(to, name) == nil {
			o := plan.Overrides{Limits: map[string]plan.LimitOverride{name: e.Limits[name]}}
			return d, fmt.Errorf("tenant %s: %s", s.ID, strings.Join(o.Warnings(to), "; "))
		}
	}
	d.Warnings = will.Overrides.Warnings(to)
	if p.Buckets == nil || will.Suspended {
		return d, nil
	}
	d.Over, err = p.over(ctx, was, from, will, to, e.Carry)
	return d, err
}

// tenantFields returns what differs between two versions of a tenant.
func tenantFields(from, to ddbstore.Tenant) []FieldDiff {
	fields := func(t ddbstore.Tenant) []field {
		all := []field{{"plan", t.Plan}, {"status", string(t.Status)}}
		for _, f := range fieldsOf([]byte(t.Overrides), "") {
			if f != (field{"mode", plan.Enforce.String()}) && f != (field{"hold", "0s"}) { // the defaults
				all = append(all, f)
			}
		}
		return all
	}
	return compare(fields(from), fields(to))
}

// planCache reads each plan once.
type planCache struct {
	config *ddbstore.Config
	mu     sync.Mutex
	plans  map[string]*plan.Plan
}

func (c *planCache) get(ctx context.Context, name string) (*plan.Plan, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.plans[name]; p != nil {
		return p, nil
	}
	_, p, err := readPlan(ctx, c.config, name)
	if err == nil && p == nil {
		err = NoPlan(ctx, c.config, name)
	}
	if err != nil {
		return nil, err
	}
	if c.plans == nil {
		c.plans = map[string]*plan.Plan{}
	}
	c.plans[name] = p
	return p, nil
}

// OwnFields returns what a tenant has of its own, as differences from nothing.
func OwnFields(t ddbstore.Tenant) []FieldDiff {
	none := t
	none.Overrides = ""
	return tenantFields(none, t)
}

// NewTenant returns a tenant as it is to be created, and warnings about what it
// has of its own. Its plan must exist, with the limits that are overridden.
func NewTenant(ctx context.Context, c *ddbstore.Config, id string, e TenantEdit) (ddbstore.Tenant, []string, error) {
	plans := planCache{config: c}
	p, err := plans.get(ctx, e.Plan)
	if err != nil {
		return ddbstore.Tenant{}, nil, err
	}
	put, t, err := e.Of(ddbstore.Tenant{ID: id, Plan: e.Plan, Status: ddbstore.Active})
	if err != nil {
		return put, nil, err
	}
	warnings := t.Overrides.Warnings(p)
	for name := range e.Limits {
		if limitNamed(p, name) == nil {
			return put, nil, errors.New(strings.Join(warnings, "; "))
		}
	}
	_, err = c.Tenant(ctx, id)
	if err == nil {
		return put, nil, fmt.Errorf("%w: tenant %s exists already; change it with `weir tenant set`", ErrRefused, id)
	}
	if !errors.Is(err, ddbstore.ErrNotFound) {
		return put, nil, err
	}
	return put, warnings, nil
}
