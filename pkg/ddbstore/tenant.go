package ddbstore

import (
	"context"
	"fmt"
)

// Tenant is a tenant as it is stored. Its overrides are text that this package
// does not look into; "" for none.
type Tenant struct {
	ID        string
	Plan      string // name of its plan
	Status    TenantStatus
	Overrides string
	Version   int64
	Change    Change // that led to this version
}

// TenantStatus says whether a tenant is served.
type TenantStatus string

// The statuses.
const (
	Active    TenantStatus = "active"
	Suspended TenantStatus = "suspended"
)

const (
	attrPlan      = "plan"
	attrStatus    = "status"
	attrOverrides = "overrides"
)

func tenantKey(id string) string { return "TENANT#" + id }

// Tenant returns the current version of a tenant. It costs half a read unit per
// 4 KB of overrides.
func (c *Config) Tenant(ctx context.Context, id string) (Tenant, error) {
	it, err := c.get(ctx, tenantKey(id))
	if err != nil {
		return Tenant{}, fmt.Errorf("read tenant %q: %w", id, err)
	}
	d := decoder{it: it}
	t := Tenant{
		ID:        id,
		Plan:      d.text(attrPlan),
		Status:    TenantStatus(d.text(attrStatus)),
		Overrides: d.text(attrOverrides),
	}
	t.Version, t.Change = d.change()
	if d.err != nil {
		return Tenant{}, fmt.Errorf("read tenant %q: %w", id, d.err)
	}
	return t, nil
}

// PutTenant makes t the version after t.Version and returns it.
func (c *Config) PutTenant(ctx context.Context, t Tenant, ch Change) (Tenant, error) {
	switch {
	case t.ID == "":
		return Tenant{}, fmt.Errorf("write tenant: it needs an id")
	case t.Plan == "":
		return Tenant{}, fmt.Errorf("write tenant %q: it needs a plan", t.ID)
	case t.Status != Active && t.Status != Suspended:
		return Tenant{}, fmt.Errorf("write tenant %q: status %q: want %q or %q", t.ID, t.Status, Active, Suspended)
	}
	version, err := c.put(ctx, tenantKey(t.ID), item{
		attrPlan:      text(t.Plan),
		attrStatus:    text(string(t.Status)),
		attrOverrides: text(t.Overrides),
	}, t.Version, ch)
	if err != nil {
		return Tenant{}, fmt.Errorf("write tenant %q: %w", t.ID, err)
	}
	t.Version, t.Change = version, ch
	return t, nil
}
