package operator

import (
	"fmt"

	"weir/internal/plan"
)

// sources is where the fields of a tenant's limits can come from.
type sources struct {
	plan    *plan.Plan
	tenant  plan.Tenant
	version int64 // of the tenant
	reached bool  // by the plan's rollout
}

// of tells where what holds of a limit comes from.
func (s sources) of(l *plan.Limit) map[string]string {
	base, was := fmt.Sprintf("plan %s, version %d", s.plan.Name, s.plan.Ver), s.plan
	if s.reached {
		was = s.plan.Next.Plan
		if s.plan.Next.Scheduled() {
			base = fmt.Sprintf("change of plan %s scheduled for %s", s.plan.Name, TimeText(s.plan.Next.From))
		} else {
			base = fmt.Sprintf("canary of plan %s, version %d", s.plan.Name, s.plan.Ver)
		}
	}
	own := fmt.Sprintf("override of the tenant, version %d", s.version)
	from := map[string]string{"rate": base, "burst": base, "mode": base, "hold": base}
	o := s.tenant.Overrides
	if lo, ok := o.Limits[l.Name]; ok {
		if lo.Rate != nil {
			from["rate"] = own
			if l.Percent != 0 {
				from["burst"] = fmt.Sprintf("%d%% of the rate's number; %s", l.Percent, base)
			}
		}
		if lo.Burst != nil {
			from["burst"] = own
		}
	}
	if in := limitNamed(was, l.Name); in != nil {
		if o.Mode > in.Mode {
			from["mode"] = own
		}
		if o.Hold > in.Hold {
			from["hold"] = own
		}
	}
	return from
}
