package ddbstore

import (
	"context"
	"errors"
	"fmt"
)

// PlanAt returns a plan as it was at a version, or ErrNotFound. Of versions that
// were written before there was a history only the current one is known.
func (c *Config) PlanAt(ctx context.Context, name string, version int64) (Plan, error) {
	it, err := c.at(ctx, planKey(name), version)
	if err != nil {
		return Plan{}, fmt.Errorf("read plan %q at version %d: %w", name, version, err)
	}
	return planOf(name, it)
}

// TenantAt is PlanAt for a tenant.
func (c *Config) TenantAt(ctx context.Context, id string, version int64) (Tenant, error) {
	it, err := c.at(ctx, tenantKey(id), version)
	if err != nil {
		return Tenant{}, fmt.Errorf("read tenant %q at version %d: %w", id, version, err)
	}
	return tenantOf(id, it)
}

// PlanHistory returns the versions of a plan, newest first and at most so many.
// It costs half a read unit per 4 KB of them.
func (c *Config) PlanHistory(ctx context.Context, name string, most int) ([]Plan, error) {
	plans, err := history(ctx, c, planKey(name), most, func(it item) (Plan, error) { return planOf(name, it) })
	if err != nil {
		return nil, fmt.Errorf("read history of plan %q: %w", name, err)
	}
	return plans, nil
}

// TenantHistory is PlanHistory for a tenant.
func (c *Config) TenantHistory(ctx context.Context, id string, most int) ([]Tenant, error) {
	tenants, err := history(ctx, c, tenantKey(id), most, func(it item) (Tenant, error) { return tenantOf(id, it) })
	if err != nil {
		return nil, fmt.Errorf("read history of tenant %q: %w", id, err)
	}
	return tenants, nil
}

// at returns what pk was at a version.
func (c *Config) at(ctx context.Context, pk string, version int64) (item, error) {
	it, err := c.get(ctx, pk, versionKey(version))
	if !errors.Is(err, ErrNotFound) {
		return it, err
	}
	it, err = c.get(ctx, pk, current)
	if d := (decoder{it: it}); err == nil && d.number(attrVersion) != version {
		return nil, ErrNotFound
	}
	return it, err
}

func history[T any](ctx context.Context, c *Config, pk string, most int, decode func(item) (T, error)) ([]T, error) {
	if err := checkMost(most); err != nil {
		return nil, err
	}
	items, _, err := c.query(ctx, span{pk: pk, prefix: "V#", newest: true}, most)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 { // it is from before there was a history, or not at all
		it, err := c.get(ctx, pk, current)
		if err != nil {
			return nil, err
		}
		items = []item{it}
	}
	versions := make([]T, len(items))
	for i, it := range items {
		if versions[i], err = decode(it); err != nil {
			return nil, err
		}
	}
	return versions, nil
}
