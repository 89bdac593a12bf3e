package directory

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"weir/internal/plan"
)

// Cached is the directory of a Source, most of it from memory. What changes in the
// source is seen within about two seconds if there is a Feed of it, else within
// Options.TTL, a new credential within Options.MissingTTL. While the source fails,
// what was last known is served on, marked as Stale; who is not known is an error.
// It is safe for concurrent use, and its memory is bounded.
type Cached struct {
	credentials *cache[Hash, Credential]
	tenants     *cache[string, *holder]
	plans       *cache[string, *plan.Plan]
	anonymous   string  // plan of requests without a credential
	nobody      *holder // whose requests those are
	feed        *follower
}

var _ Directory = (*Cached)(nil)

// NewCached returns a Cached directory of s.
func NewCached(s Source, o Options) *Cached {
	p := newPolicy(o)
	most := orDefault(o.MaxEntries, 10_000)
	c := &Cached{
		credentials: newCache(p, most, s.Credential, func(cr Credential) edition { return edition{stamp: cr.Stamp} }),
		tenants:     newCache(p, most, holders(s), func(h *holder) edition { return edition{h.tenant.Stamp, h.tenant.Ver} }),
		plans:       newCache(p, maxPlans, s.Plan, func(p *plan.Plan) edition { return edition{p.Stamp, p.Ver} }),
		anonymous:   o.Anonymous,
		nobody:      new(holder),
	}
	if o.Feed != nil {
		c.feed = &follower{feed: o.Feed, refresh: p.refresh, retry: p.retry, log: p.log, apply: c.apply}
	}
	return c
}

// ByCredential implements Directory. A credential whose tenant does not exist is
// ErrUnknown. A tenant whose plan does not is a *MissingPlanError.
func (c *Cached) ByCredential(ctx context.Context, now int64, h Hash) (Entry, error) {
	c.follow(ctx, now)
	cred, stale1, err := c.credentials.get(ctx, now, h)
	if err != nil {
		return Entry{}, wrap("look up credential", err)
	}
	if !cred.good(now) {
		return Entry{}, ErrUnknown
	}
	t, stale2, err := c.tenants.get(ctx, now, cred.Tenant)
	if err != nil {
		return Entry{}, wrap("look up tenant", err)
	}
	e, err := c.withPlan(ctx, now, t, t.tenant.Plan)
	e.Stale = e.Stale || stale1 || stale2
	return e, err
}

// Anonymous implements Directory. The error is a *MissingPlanError if the plan
// of Options does not exist.
func (c *Cached) Anonymous(ctx context.Context, now int64) (Entry, error) {
	if c.anonymous == "" {
		return Entry{}, ErrUnknown
	}
	c.follow(ctx, now)
	return c.withPlan(ctx, now, c.nobody, c.anonymous)
}

func (c *Cached) withPlan(ctx context.Context, now int64, t *holder, name string) (Entry, error) {
	p, stale, err := c.plans.get(ctx, now, name)
	switch {
	case errors.Is(err, ErrNotFound):
		return Entry{}, &MissingPlanError{Tenant: t.tenant.ID, Plan: name}
	case err != nil:
		return Entry{}, fmt.Errorf("look up plan %s: %w", name, err)
	}
	e := Entry{Tenant: t.tenant, Stale: stale}
	e.Plan, e.Ver = t.effective(p, now)
	return e, nil
}

// Remembers reports, without asking the source, whether h is a credential that
// is known to be good.
func (c *Cached) Remembers(now int64, h Hash) bool {
	return c.credentials.holds(h, func(cred Credential) bool { return cred.good(now) })
}

// Seen tells c that a bucket of a tenant ("" for none) of a plan is at version ver
// by now, which is newer than that of the Entry. What of it is older here, the
// tenant or else its plan, is loaded anew with the next request, and then once a
// second until it is not. If neither is there is nothing to load: then a scheduled
// change came into force by another machine's clock, which is ahead.
func (c *Cached) Seen(now int64, tenant, name string, ver int64) {
	const pause = time.Second
	tenantVer, planVer := plan.Split(ver)
	has := func(t *holder) bool { return t.tenant.Ver >= tenantVer }
	if tenant != "" && !c.tenants.holds(tenant, has) {
		c.tenants.outdated(now, tenant, edition{ver: tenantVer}, pause)
		return // the version of the plan may be that of another one
	}
	has = func(t *holder) bool { return t.tenant.Ver > tenantVer }
	if !c.tenants.holds(tenant, has) {
		c.plans.outdated(now, name, edition{ver: planVer}, pause)
	}
}

// Age returns how long ago, by now, the Feed was last looked at with success; false
// without a Feed and before the first request.
func (c *Cached) Age(now int64) (time.Duration, bool) {
	if c.feed == nil {
		return 0, false
	}
	seen := c.feed.seen.Load()
	return time.Duration(max(0, now-seen)), seen != 0
}

func (c *Cached) follow(ctx context.Context, now int64) {
	if c.feed != nil {
		c.feed.follow(ctx, now)
	}
}

// apply makes the next requests load anew what has changed since it was loaded, or
// may have. Nothing is loaded here: of ten thousand tenants that change at once,
// those are loaded that are asked for.
func (c *Cached) apply(now int64, changes []Change, all bool) {
	const pause = time.Duration(lookEvery / 2) // looks are that far apart themselves, and loads follow them a little later
	for _, ch := range changes {
		is := edition{stamp: ch.Stamp}
		switch ch.Kind {
		case PlanChanged:
			c.plans.outdated(now, ch.ID, is, pause)
		case TenantChanged:
			c.tenants.outdated(now, ch.ID, is, pause)
		case CredentialChanged:
			var h Hash
			if n, err := hex.Decode(h[:], []byte(ch.ID)); err == nil && n == len(h) {
				c.credentials.outdated(now, h, is, pause)
			}
		}
	}
	if all {
		c.plans.outdatedAll(now)
		c.tenants.outdatedAll(now)
		c.credentials.outdatedAll(now)
	}
}

// wrap turns the error of a lookup that began at a credential into the
// directory's: what is not there makes the credential unknown.
func wrap(operation string, err error) error {
	if errors.Is(err, ErrNotFound) {
		return ErrUnknown
	}
	return fmt.Errorf("%s: %w", operation, err)
}
