package directory

import (
	"context"
	"errors"
	"fmt"

	"weir/internal/plan"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// Table is the Source and the Feed of a config table.
type Table struct{ config configTable }

var (
	_ Source = (*Table)(nil)
	_ Feed   = (*Table)(nil)
)

// configTable is what a Table reads of a *ddbstore.Config.
type configTable interface {
	Credential(context.Context, ddbstore.Hash) (ddbstore.Credential, error)
	Tenant(ctx context.Context, id string) (ddbstore.Tenant, error)
	Plan(ctx context.Context, name string) (ddbstore.Plan, error)
	Changes(ctx context.Context, since int64, most int) ([]ddbstore.Changed, bool, error)
}

var _ configTable = (*ddbstore.Config)(nil)

// FromTable returns the Table of a config table.
func FromTable(c *ddbstore.Config) *Table { return &Table{c} }

// Credential implements Source.
func (t *Table) Credential(ctx context.Context, h Hash) (Credential, error) {
	stored, err := t.config.Credential(ctx, h)
	if err != nil {
		return Credential{}, notFound(err)
	}
	c := Credential{Tenant: stored.Tenant, Expires: stored.Expires, Stamp: stored.Stamp}
	switch stored.Status {
	case ddbstore.CredentialActive:
	case ddbstore.CredentialRevoked, ddbstore.CredentialExpired:
		c.Revoked = true
	default:
		return Credential{}, fmt.Errorf("%w: a credential has status %q", ErrInvalid, stored.Status)
	}
	return c, nil
}

// Tenant implements Source.
func (t *Table) Tenant(ctx context.Context, id string) (plan.Tenant, error) {
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
	carry, err := bucket.ParseCarry(tn.Carry)
	if err != nil {
		return plan.Tenant{}, fmt.Errorf("%w: tenant %q: %w", ErrInvalid, id, err)
	}
	return plan.Tenant{
		ID: tn.ID, Plan: tn.Plan, Suspended: tn.Status == ddbstore.Suspended, Overrides: overrides,
		Ver: tn.Version, Stamp: tn.Stamp, Carry: carry,
	}, nil
}

// Plan implements Source.
func (t *Table) Plan(ctx context.Context, name string) (*plan.Plan, error) {
	stored, err := t.config.Plan(ctx, name)
	if err != nil {
		return nil, notFound(err)
	}
	p, err := plan.ParsePlan(name, []byte(stored.Body))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if p.Next, err = plan.ParseRollout(name, []byte(stored.Next)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if p.Carry, err = bucket.ParseCarry(stored.Carry); err != nil {
		return nil, fmt.Errorf("%w: plan %q: %w", ErrInvalid, name, err)
	}
	p.Ver, p.Stamp = stored.Version, stored.Stamp
	return p, nil
}

// Changes implements Feed.
func (t *Table) Changes(ctx context.Context, since int64, most int) ([]Change, bool, error) {
	found, more, err := t.config.Changes(ctx, since, most)
	if err != nil {
		return nil, false, err
	}
	changes := make([]Change, len(found))
	for i, ch := range found {
		changes[i] = Change{Kind: Kind(ch.Kind), ID: ch.ID, Stamp: ch.Stamp}
	}
	return changes, more, nil
}

// notFound translates ErrNotFound and leaves every other error as it is.
func notFound(err error) error {
	if errors.Is(err, ddbstore.ErrNotFound) {
		return ErrNotFound
	}
	return err
}
