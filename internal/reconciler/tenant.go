package reconciler

import (
	"context"
	"errors"
	"fmt"

	"weir/internal/directory"
	"weir/internal/plan"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// Rows are the rows of buckets in one table. *ddbstore.Store is one.
type Rows interface {
	// Row returns the row that this Region writes, read consistently.
	Row(ctx context.Context, key string) (bucket.Row, bool, error)
	// Rescale brings that row to another limit; an Outcome without Status says
	// that there is none.
	Rescale(ctx context.Context, key string, c bucket.Rescale) (bucket.Outcome, error)
	// Charge is limiter.Store's.
	Charge(ctx context.Context, key string, c bucket.Charge) (bucket.Outcome, error)
}

// source is where the reconciler looks up what holds: plans and tenants, read
// consistently.
type source interface {
	Tenant(ctx context.Context, id string) (plan.Tenant, error)
	Plan(ctx context.Context, name string) (*plan.Plan, error)
}

var _ source = directory.Source(nil)

// target is a bucket of a tenant, and the limit it is to have.
type target struct {
	key    string
	limit  bucket.Limit
	strict bool
}

// targets returns the buckets of a tenant that can be found without a request:
// those whose key follows from the tenant. The others are brought to a limit by
// their next charge. It also returns what brings their rows to what holds at now;
// Limit and Now are left to the call.
func targets(p *plan.Plan, t plan.Tenant, now int64) (all []target, to bucket.Rescale) {
	eff, ver := plan.Effective(p, t, now)
	for i := range eff.Limits {
		l := &eff.Limits[i]
		if key, ok := l.TenantKey(t.ID); ok {
			all = append(all, target{key: key, limit: l.Bucket, strict: l.Consistency == plan.Strict})
		}
	}
	return all, bucket.Rescale{Ver: ver, Carry: eff.Carry, Since: plan.Since(p, t, now)}
}

// table returns where a bucket's row is. Without a strict table strict limits are
// kept with the others.
func (r *Reconciler) table(strict bool) Rows {
	if strict && r.strict != nil {
		return r.strict
	}
	return r.rows
}

// tenant brings the rows of a tenant to what the configuration says of it now, and
// returns since when that holds. A tenant that does not exist has nothing to be
// brought to.
func (r *Reconciler) tenant(ctx context.Context, id string) (Tally, int64, error) {
	t, err := r.readTenant(ctx, id)
	if errors.Is(err, directory.ErrNotFound) {
		return Tally{}, 0, nil
	}
	if err != nil {
		return Tally{}, 0, fmt.Errorf("tenant %s: %w", id, err)
	}
	p, err := r.readPlan(ctx, t.Plan)
	if err != nil {
		return Tally{}, 0, fmt.Errorf("tenant %s, plan %s: %w", id, t.Plan, err)
	}
	n, err := r.bring(ctx, p, t)
	return n, plan.Since(p, t, r.now()), err
}

// bring brings the rows of a tenant that is on a plan to what holds for it.
func (r *Reconciler) bring(ctx context.Context, p *plan.Plan, t plan.Tenant) (n Tally, err error) {
	all, to := targets(p, t, r.now())
	for _, b := range all {
		status, err := r.rescale(ctx, b, to)
		if err != nil {
			return n, fmt.Errorf("tenant %s: %w", t.ID, err)
		}
		switch status {
		case bucket.Charged:
			n.Changed++
		case bucket.Outdated:
			n.Skipped++
		}
	}
	return n, nil
}

// rescale brings the row of a bucket to its limit, as to says.
func (r *Reconciler) rescale(ctx context.Context, b target, to bucket.Rescale) (status bucket.Status, err error) {
	err = r.pace.try(ctx, func() error {
		to.Limit, to.Now = b.limit, r.now()
		out, err := r.table(b.strict).Rescale(ctx, b.key, to)
		status = out.Status
		return err
	}, ddbstore.ErrConflict)
	return status, err
}

func (r *Reconciler) readTenant(ctx context.Context, id string) (t plan.Tenant, err error) {
	err = r.pace.try(ctx, func() (err error) { t, err = r.source.Tenant(ctx, id); return err })
	return t, err
}

func (r *Reconciler) readPlan(ctx context.Context, name string) (p *plan.Plan, err error) {
	err = r.pace.try(ctx, func() (err error) { p, err = r.source.Plan(ctx, name); return err })
	return p, err
}
