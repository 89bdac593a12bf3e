package authorizer

import (
	"weir/internal/limiter"
	"weir/internal/plan"
)

// check is what the limiter is asked about one limit of a plan of version ver, for
// a tenant with overrides o.
func (h *Handler) check(l *plan.Limit, s plan.Subject, o plan.Overrides, ver int64) limiter.Check {
	mode, hold := o.Of(l)
	return limiter.Check{
		Name:        l.Name,
		Key:         l.BucketKey(s),
		Limit:       l.Bucket,
		Cost:        l.Cost,
		Ver:         ver,
		Consistency: h.consistency(l),
		Share:       l.Share,
		Hold:        hold,
		Initial:     l.Initial,
		Mode:        modeOf(mode),
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
