package authorizer

import (
	"weir/internal/directory"
	"weir/internal/limiter"
	"weir/internal/plan"
	"weir/pkg/bucket"
)

// version is what a plan is charged under. The zero version is none.
type version struct {
	ver   int64 // of directory.Entry
	since int64 // when that came into force, ns since the Unix epoch
	carry bucket.Carry
}

// versionOf returns the version of what e has.
func versionOf(e directory.Entry, now int64) version {
	return version{e.Ver, plan.Since(e.Plan, e.Tenant, now), e.Plan.Carry}
}

// check is what the limiter is asked about one limit of a plan of version v. A
// bucket that tenants share has no version: each would bring his own, and all but
// the newest would be outdated for good.
func (h *Handler) check(l *plan.Limit, s plan.Subject, v version) limiter.Check {
	if !l.PerTenant() {
		v = version{}
	}
	return limiter.Check{
		Name:        l.Name,
		Key:         l.BucketKey(s),
		Limit:       l.Bucket,
		Cost:        l.Cost,
		Ver:         v.ver,
		Since:       v.since,
		Carry:       v.carry,
		Consistency: h.consistency(l),
		Share:       l.Share,
		Hold:        l.Hold,
		Initial:     l.Initial,
		Mode:        modeOf(l.Mode),
		OnError:     onErrorOf(l.OnError),
	}
}

func modeOf(m plan.Mode) limiter.Mode {
	switch m {
	case plan.Shadow:
		return limiter.Shadow
	case plan.Off:
		return limiter.Off
	}
	return limiter.Enforce
}

func onErrorOf(o plan.OnError) limiter.OnError {
	switch o {
	case plan.Local:
		return limiter.AdmitLocal
	case plan.Deny:
		return limiter.Deny
	}
	return limiter.Admit
}

// consistency returns how l is to be kept. Where strict limits cannot be kept as
// such they are global: of what is left that comes nearest, and nobody is refused
// for what the deployment lacks.
func (h *Handler) consistency(l *plan.Limit) limiter.Consistency {
	switch l.Consistency {
	case plan.Regional:
		return limiter.Regional
	case plan.Strict:
		if h.strict {
			return limiter.Strict
		}
		h.loosened.Do(func() {
			h.log.Warn("a strict limit is kept as a global one, as will be all others: set WEIR_STRICT_TABLE to a table that is strongly consistent across Regions", "limit", l.Name)
		})
	}
	return limiter.Global
}
