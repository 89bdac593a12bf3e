package directory

import (
	"context"
	"sync/atomic"

	"weir/internal/plan"
)

// holder is a tenant as it was loaded, and what holds for it, so that this need not
// be found out for every request.
type holder struct {
	tenant plan.Tenant
	last   atomic.Pointer[effect]
}

// effect is what plan.Effective returned for a holder's tenant.
type effect struct {
	of      *plan.Plan // as it was loaded: another version is another one
	inForce bool       // its scheduled change, on which time has an influence

	plan *plan.Plan
	ver  int64
}

// holders returns the holders of a source's tenants.
func holders(s Source) func(context.Context, string) (*holder, error) {
	return func(ctx context.Context, id string) (*holder, error) {
		t, err := s.Tenant(ctx, id)
		if err != nil {
			return nil, err
		}
		return &holder{tenant: t}, nil
	}
}

// effective returns what holds for the tenant of plan p at now.
func (h *holder) effective(p *plan.Plan, now int64) (*plan.Plan, int64) {
	inForce := p.Next.InForce(now)
	e := h.last.Load()
	if e == nil || e.of != p || e.inForce != inForce {
		e = &effect{of: p, inForce: inForce}
		e.plan, e.ver = plan.Effective(p, h.tenant, now)
		h.last.Store(e)
	}
	return e.plan, e.ver
}
