package ddbstore

import (
	"context"
	"fmt"
)

// Tenant is a tenant as it is stored. Its overrides and its carry are text that
// this package does not look into; "" for none.
type Tenant struct {
	ID        string
	Plan      string // name of its plan
	Status    TenantStatus
	Overrides string
	Carry     string // what becomes of its buckets when this changes their limits; "" is the default
	Version   int64  // 1, 2, 3 ...
	Stamp     int64  // see Config.Write; 0 if written before there were stamps
	Change    Change // that led to this version
}

// TenantStatus says whether a tenant is served.
type TenantStatus string

// The statuses of tenants.
const (
	Active    TenantStatus = "active"
	Suspended TenantStatus = "suspended"
)

const (
	attrPlan      = "plan"
	attrStatus    = "status"
	attrOverrides = "overrides"
)

// Tenant returns the current version of a tenant. It costs half a read unit per
// 4 KB of overrides.
func (c *Config) Tenant(ctx context.Context, id string) (Tenant, error) {
	it, err := c.get(ctx, tenantKey(id), current)
	if err != nil {
		return Tenant{}, fmt.Errorf("read tenant %q: %w", id, err)
	}
	return tenantOf(id, it)
}

// PutTenant makes t the version after t.Version and returns it: Write of one
// tenant.
func (c *Config) PutTenant(ctx context.Context, t Tenant, ch Change) (Tenant, error) {
	return putOne(ctx, c, ch, t)
}

func tenantOf(id string, it item) (Tenant, error) {
	d := decoder{it: it}
	t := Tenant{
		ID:        id,
		Plan:      d.text(attrPlan),
		Status:    TenantStatus(d.text(attrStatus)),
		Overrides: d.text(attrOverrides),
		Carry:     d.text(attrCarry),
		Version:   d.number(attrVersion),
		Stamp:     d.number(attrStamp),
		Change:    d.change(),
	}
	if d.err != nil {
		return Tenant{}, fmt.Errorf("read tenant %q: %w", id, d.err)
	}
	return t, nil
}

func (t Tenant) subject() subject { return subject{KindTenant, t.ID} }
func (t Tenant) base() int64      { return t.Version }

func (t Tenant) check() error {
	if err := checkID("an id", t.ID); err != nil {
		return err
	}
	if err := checkID("a plan", t.Plan); err != nil {
		return err
	}
	if t.Status != Active && t.Status != Suspended {
		return fmt.Errorf("status %q: want %q or %q", t.Status, Active, Suspended)
	}
	return nil
}

func (t Tenant) item() item {
	it := item{attrPlan: text(t.Plan), attrStatus: text(string(t.Status))}
	optional(it, attrOverrides, t.Overrides)
	optional(it, attrCarry, t.Carry)
	return it
}

// listed: a tenant is in the list of tenants, and in that of its plan.
func (t Tenant) listed(was item) (put []place, remove []place) {
	d := decoder{it: was}
	plan := d.text(attrPlan)
	if !stamped(was) {
		put = append(put, place{pk: tenantsKey, sk: t.ID})
	}
	if !stamped(was) || plan != t.Plan {
		put = append(put, place{pk: planKey(t.Plan), sk: memberKey(t.ID)})
	}
	if plan != "" && plan != t.Plan {
		remove = append(remove, place{pk: planKey(plan), sk: memberKey(t.ID)})
	}
	return put, remove
}

func (t Tenant) written(version, stamp int64, ch Change) Put {
	t.Version, t.Stamp, t.Change = version, stamp, ch
	return t
}
