package operator

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"weir/internal/plan"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// Preview finds out whom a change would hit. It reads and changes nothing.
type Preview struct {
	Config   *ddbstore.Config
	Buckets  *Buckets // nil if levels are not to be looked at
	Now      int64    // ns since the Unix epoch
	Most     int      // tenants of a plan whose buckets are looked at; all are counted
	Progress func(looked, of int)
}

// tenantPage is how many ids are listed at a time.
const tenantPage = 1000

// Plan completes a draft: how many tenants are on the plan, and who of them would
// be over its limits. carry says what the change makes of levels.
func (p Preview) Plan(ctx context.Context, d *PlanDraft, carry bucket.Carry) error {
	if d.New() {
		return nil
	}
	ids, err := TenantsOn(ctx, p.Config, d.Base.Name)
	if err != nil {
		return err
	}
	d.Tenants = ids
	if p.Buckets == nil || d.Diff.Kind == Same {
		return nil
	}
	ids = ids[:min(len(ids), p.Most)]
	to := *d.Will
	to.Name, to.Stamp = d.Was.Name, d.Was.Stamp
	over := make([][]Over, len(ids))
	var gone atomic.Int64 // since they were listed
	err = each(ctx, len(ids), p.Progress, func(ctx context.Context, i int) error {
		s, err := p.Config.Tenant(ctx, ids[i])
		if errors.Is(err, ddbstore.ErrNotFound) {
			gone.Add(1)
			return nil
		}
		if err != nil {
			return err
		}
		t, err := TenantOf(s)
		if err != nil {
			return err
		}
		over[i], err = p.over(ctx, t, d.Was, t, &to, carry)
		return err
	})
	d.Looked, d.Over = len(ids)-int(gone.Load()), slices.Concat(over...)
	return err
}

// over returns which limits a tenant would be over, which was one and will be the
// other, by their names.
func (p Preview) over(ctx context.Context, was plan.Tenant, from *plan.Plan, will plan.Tenant, to *plan.Plan, carry bucket.Carry) ([]Over, error) {
	before, _ := plan.Effective(from, was, p.Now)
	after, _ := plan.Effective(to, will, p.Now)
	over, err := p.Buckets.over(ctx, was.ID, before, after, carry, p.Now)
	slices.SortFunc(over, func(a, b Over) int { return cmp.Compare(a.Limit, b.Limit) })
	return over, err
}

// TenantsOn returns the ids of all tenants on a plan.
func TenantsOn(ctx context.Context, c *ddbstore.Config, name string) ([]string, error) {
	return allPages(func(after string) (ddbstore.Page, error) { return c.TenantsOn(ctx, name, after, tenantPage) })
}

// AllTenants returns the ids of all tenants.
func AllTenants(ctx context.Context, c *ddbstore.Config) ([]string, error) {
	return allPages(func(after string) (ddbstore.Page, error) { return c.Tenants(ctx, after, tenantPage) })
}

func allPages(page func(after string) (ddbstore.Page, error)) ([]string, error) {
	var ids []string
	for after := ""; ; {
		p, err := page(after)
		if err != nil {
			return nil, err
		}
		ids = append(ids, p.IDs...)
		if after = p.Next; after == "" {
			return ids, nil
		}
	}
}

// Tenants counts the tenants among the limits that some would be over.
func Tenants(over []Over) int {
	ids := map[string]bool{}
	for _, o := range over {
		ids[o.Tenant] = true
	}
	return len(ids)
}
