package directory

import (
	"context"
	"errors"
	"fmt"

	"weir/internal/plan"
	"weir/pkg/ddbstore"
)

// table is the Source of a config table.
type table struct{ config configTable }

// configTable is what a Source reads of a *ddbstore.Config.
type configTable interface {
	Credential(context.Context, ddbstore.Hash) (ddbstore.Credential, error)
	Tenant(ctx context.Context, id string) (ddbstore.Tenant, error)
	Plan(ctx context.Context, name string) (ddbstore.Plan, error)
}

var _ configTable = (*ddbstore.Config)(nil)

// FromTable returns the Source that reads the config table.
func FromTable(c *ddbstore.Config) Source { return table{c} }

func (t table) Credential(ctx context.Context, h Hash) (Credential, error) {
	c, err := t.config.Credential(ctx, h)
	if err != nil {
		return Credential{}, notFound(err)
	}
	return Credential{Tenant: c.Tenant, Expires: c.Expires}, nil
}

func (t table) Tenant(ctx context.Context, id string) (plan.Tenant, error) {
	tn, err := t.config.Tenant(ctx, id)
	switch {
	case err != nil:
		return plan.Tenant{}, notFound(err)
	case tn.Status != ddbstore.Active && tn.Status != ddbstore.Suspended:
		return plan.Tenant{}, fmt.Errorf("%w: tenant %q has status %q", ErrInvalid, id, tn.Status)
	}
	overrides, err := plan.ParseOverrides(id, []byte(tn.Overrides))
	if err != nil {
		return plan.Tenant{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return plan.Tenant{ID: tn.ID, Plan: tn.Plan, Suspended: tn.Status == ddbstore.Suspended, Overrides: overrides}, nil
}

func (t table) Plan(ctx context.Context, name string) (*plan.Plan, error) {
	stored, err := t.config.Plan(ctx, name)
	if err != nil {
		return nil, notFound(err)
	}
	p, err := plan.ParsePlan(name, []byte(stored.Body))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	p.Ver = stored.Version
	return p, nil
}

// notFound translates ErrNotFound and leaves every other error as it is.
func notFound(err error) error {
	if errors.Is(err, ddbstore.ErrNotFound) {
		return ErrNotFound
	}
	return err
}
