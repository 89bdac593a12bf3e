package authorizer

import (
	"weir/internal/limiter"
	"weir/internal/plan"
)

// check is what the limiter is asked about one limit of a plan of version ver.
func (h *Handler) check(l *plan.Limit, s plan.Subject, ver int64) limiter.Check {
	return limiter.Check{
		Name:        l.Name,
		Key:         l.BucketKey(s),
		Limit:       l.Bucket,
		Cost:        l.Cost,
		Ver:         ver,
		Consistency: h.consistency(l),
		Share:       l.Share,
	}
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
