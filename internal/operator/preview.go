package operator

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

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
	l := look{Preview: p, of: len(ids)}
	err = each(ctx, len(ids), func(ctx context.Context, i int) error {
		s, err := p.Config.Tenant(ctx, ids[i])
		if errors.Is(err, ddbstore.ErrNotFound) {
			return nil // gone since it was listed
		}
		if err != nil {
			return err
		}
		t, err := TenantOf(s)
		if err != nil {
			return err
		}
		return l.at(ctx, t, d.Was, t, &to, carry)
	})
	d.Looked, d.Over = l.looked, l.sorted()
	return err
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

// look collects who would be over.
type look struct {
	Preview
	of     int
	mu     sync.Mutex
	looked int
	over   []Over
}

// at looks at one tenant, which was one and will be the other.
func (l *look) at(ctx context.Context, was plan.Tenant, from *plan.Plan, will plan.Tenant, to *plan.Plan, carry bucket.Carry) error {
	before, _ := plan.Effective(from, was, l.Now)
	after, _ := plan.Effective(to, will, l.Now)
	over, err := l.Buckets.over(ctx, was.ID, before, after, carry, l.Now)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.looked++
	l.over = append(l.over, over...)
	if l.Progress != nil {
		l.Progress(l.looked, l.of)
	}
	return nil
}

func (l *look) sorted() []Over {
	slices.SortFunc(l.over, func(a, b Over) int {
		return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Limit, b.Limit))
	})
	return l.over
}

// Tenants counts the tenants among the limits that some would be over.
func Tenants(over []Over) int {
	ids := map[string]bool{}
	for _, o := range over {
		ids[o.Tenant] = true
	}
	return len(ids)
}
