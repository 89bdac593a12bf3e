package directory

import (
	"context"
	"errors"
	"fmt"

	"weir/internal/plan"
)

// Cached is the directory of a Source, most of it from memory: a change of the
// source is seen within Options.TTL, a new credential within Options.MissingTTL.
// While the source fails, what was last known is served on, marked as Stale;
// who is not known is an error. It is safe for concurrent use, and its memory is
// bounded.
type Cached struct {
	credentials *cache[Hash, Credential]
	tenants     *cache[string, plan.Tenant]
	plans       *cache[string, *plan.Plan]
	anonymous   string
}

var _ Directory = (*Cached)(nil)

// NewCached returns a Cached directory of s.
func NewCached(s Source, o Options) *Cached {
	p := newPolicy(o)
	most := orDefault(o.MaxEntries, 10_000)
	return &Cached{
		credentials: newCache(p, most, s.Credential),
		tenants:     newCache(p, most, s.Tenant),
		plans:       newCache(p, maxPlans, s.Plan),
		anonymous:   o.Anonymous,
	}
}

// ByCredential implements Directory. A credential whose tenant does not exist is
// ErrUnknown. A tenant whose plan does not is a *MissingPlanError.
func (c *Cached) ByCredential(ctx context.Context, now int64, h Hash) (Entry, error) {
	cred, stale1, err := c.credentials.get(ctx, now, h)
	if err != nil {
		return Entry{}, wrap("look up credential", err)
	}
	if cred.expired(now) {
		return Entry{}, ErrUnknown
	}
	t, stale2, err := c.tenants.get(ctx, now, cred.Tenant)
	if err != nil {
		return Entry{}, wrap("look up tenant", err)
	}
	e, err := c.withPlan(ctx, now, Entry{Tenant: t}, t.Plan)
	e.Stale = e.Stale || stale1 || stale2
	return e, err
}

// Anonymous implements Directory. The error is a *MissingPlanError if the plan
// of Options does not exist.
func (c *Cached) Anonymous(ctx context.Context, now int64) (Entry, error) {
	if c.anonymous == "" {
		return Entry{}, ErrUnknown
	}
	return c.withPlan(ctx, now, Entry{}, c.anonymous)
}

func (c *Cached) withPlan(ctx context.Context, now int64, e Entry, name string) (Entry, error) {
	p, stale, err := c.plans.get(ctx, now, name)
	switch {
	case errors.Is(err, ErrNotFound):
		return Entry{}, &MissingPlanError{Tenant: e.Tenant.ID, Plan: name}
	case err != nil:
		return Entry{}, fmt.Errorf("look up plan %s: %w", name, err)
	}
	e.Plan, e.Stale = p, stale
	return e, nil
}

// Remembers reports, without asking the source, whether h is a credential that
// is known to be good.
func (c *Cached) Remembers(now int64, h Hash) bool {
	return c.credentials.holds(h, func(cred Credential) bool { return !cred.expired(now) })
}

// PlanSeen tells c that a plan has version ver by now, as a row that was charged
// under it shows. If c holds an older one, the next request loads it anew.
func (c *Cached) PlanSeen(now int64, name string, ver int64) {
	c.plans.outdated(now, name, func(p *plan.Plan) bool { return p.Ver < ver })
}

func (c Credential) expired(now int64) bool { return c.Expires != 0 && now >= c.Expires }

// wrap turns the error of a lookup that began at a credential into the
// directory's: what is not there makes the credential unknown.
func wrap(operation string, err error) error {
	if errors.Is(err, ErrNotFound) {
		return ErrUnknown
	}
	return fmt.Errorf("%s: %w", operation, err)
}
