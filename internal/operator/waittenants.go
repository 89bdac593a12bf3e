package operator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"weir/internal/plan"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// WatchTenants waits until the rows of tenants are what the configuration says, in
// every Region, as far as one Region's replica shows.
type WatchTenants struct {
	Config  *ddbstore.Config
	Buckets Buckets
	IDs     []string
	Now     func() int64
	Every   time.Duration // how often to look
	Most    time.Duration // how long
	Show    func(done, of int)
}

// Wait returns when there is nothing left to wait for. If that takes too long, or
// ctx ends, the error says for whom there is. The change itself is made, and the
// reconcilers go on.
func (w WatchTenants) Wait(ctx context.Context) error {
	rest := w.IDs
	err := poll(ctx, w.Every, w.Most, func() (bool, error) {
		left, err := w.behind(ctx, rest)
		if err != nil {
			return false, err
		}
		rest = left
		if w.Show != nil {
			w.Show(len(w.IDs)-len(rest), len(w.IDs))
		}
		return len(rest) == 0, nil
	})
	if err != nil {
		return fmt.Errorf("the change is made, but not every row has it yet (are the reconcilers running?): %s: %w", some(rest), err)
	}
	return nil
}

// behind returns the tenants of whom a row is not what the configuration says.
func (w WatchTenants) behind(ctx context.Context, ids []string) ([]string, error) {
	plans, done := planCache{config: w.Config}, make([]bool, len(ids))
	err := each(ctx, len(ids), nil, func(ctx context.Context, i int) (err error) {
		done[i], err = w.done(ctx, &plans, ids[i])
		return err
	})
	var left []string
	for i, id := range ids {
		if !done[i] {
			left = append(left, id)
		}
	}
	return left, err
}

// done reports whether every row of a tenant's buckets is of the version that
// holds, or full: then there is nothing to bring to it.
func (w WatchTenants) done(ctx context.Context, plans *planCache, id string) (bool, error) {
	s, err := w.Config.Tenant(ctx, id)
	if err != nil {
		return false, err
	}
	t, err := TenantOf(s)
	if err != nil {
		return false, err
	}
	p, err := plans.get(ctx, t.Plan)
	if err != nil {
		return false, err
	}
	now := w.Now()
	eff, ver := plan.Effective(p, t, now)
	for i := range eff.Limits {
		l := &eff.Limits[i]
		key, ok := l.TenantKey(id)
		if !ok || l.Mode == plan.Off || l.Bucket.IsUnlimited() {
			continue
		}
		rows, err := w.Buckets.of(l).Rows(ctx, key)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(rows, func(r bucket.Row) bool { return r.Ver < ver && r.TAT > now }) {
			return false, nil
		}
	}
	return true, nil
}
