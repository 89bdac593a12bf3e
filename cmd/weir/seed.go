package main

import (
	"context"
	"errors"
	"fmt"

	"weir/internal/directory"
	"weir/internal/plan"
	"weir/pkg/ddbstore"
)

// seed writes what a plans file says into a config table, keys as hashes only.
// What is there already and says the same keeps its version; what the file does
// not mention is left alone.
func seed(ctx context.Context, c *ddbstore.Config, f *plan.File, now int64) error {
	ch := ddbstore.Change{Author: "weir dev", Reason: "plans file", At: now}
	for name, p := range f.Plans {
		if err := seedPlan(ctx, c, name, p, ch); err != nil {
			return err
		}
	}
	for _, t := range f.Tenants {
		if err := seedTenant(ctx, c, t, ch); err != nil {
			return err
		}
		for _, key := range t.Keys {
			if err := seedKey(ctx, c, t.ID, key, ch); err != nil {
				return err
			}
		}
	}
	return nil
}

func seedPlan(ctx context.Context, c *ddbstore.Config, name string, p *plan.Plan, ch ddbstore.Change) error {
	body, err := p.MarshalJSON()
	if err != nil {
		return fmt.Errorf("seed plan %s: %w", name, err)
	}
	is, err := found(c.Plan(ctx, name))
	if err != nil || is.Version > 0 && is.Body == string(body) {
		return err
	}
	_, err = c.PutPlan(ctx, ddbstore.Plan{Name: name, Body: string(body), Version: is.Version}, ch)
	return err
}

func seedTenant(ctx context.Context, c *ddbstore.Config, t plan.Tenant, ch ddbstore.Change) error {
	want := ddbstore.Tenant{ID: t.ID, Plan: t.Plan, Status: ddbstore.Active}
	if t.Suspended {
		want.Status = ddbstore.Suspended
	}
	if !t.Overrides.IsZero() {
		overrides, err := t.Overrides.MarshalJSON()
		if err != nil {
			return fmt.Errorf("seed tenant %s: %w", t.ID, err)
		}
		want.Overrides = string(overrides)
	}
	is, err := found(c.Tenant(ctx, t.ID))
	if err != nil || is.Version > 0 && is.Plan == want.Plan && is.Status == want.Status && is.Overrides == want.Overrides {
		return err
	}
	want.Version = is.Version
	_, err = c.PutTenant(ctx, want, ch)
	return err
}

func seedKey(ctx context.Context, c *ddbstore.Config, tenant, key string, ch ddbstore.Change) error {
	h := ddbstore.Hash(directory.HashOf(key))
	is, err := found(c.Credential(ctx, h))
	if err != nil || is.Version > 0 && is.Tenant == tenant && is.Expires == 0 {
		return err
	}
	_, err = c.PutCredential(ctx, ddbstore.Credential{
		Hash: h, Tenant: tenant, Label: "from a plans file", Created: ch.At, Version: is.Version,
	}, ch)
	return err
}

// found makes of what is not there the zero value, which has version 0.
func found[T any](v T, err error) (T, error) {
	if errors.Is(err, ddbstore.ErrNotFound) {
		return v, nil
	}
	return v, err
}
