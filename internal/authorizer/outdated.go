package authorizer

import (
	"weir/internal/directory"
	"weir/internal/limiter"
)

// seer is a Directory that can be told that it is behind: that a bucket is at a
// version above that of the Entry. *directory.Cached is one.
type seer interface {
	Seen(now int64, tenant, plan string, ver int64)
}

// outdated tells the directory if a bucket has shown that what it knows of the
// caller is old. The request itself is decided by the limit that is in force.
func (h *Handler) outdated(now int64, e directory.Entry, checks []limiter.Check, d limiter.Decision) {
	if h.seer == nil {
		return
	}
	newest := e.Ver
	for i := range min(len(d.Results), len(checks)) {
		if checks[i].Ver != 0 {
			newest = max(newest, d.Results[i].Ver)
		}
	}
	if newest > e.Ver {
		h.seer.Seen(now, e.Tenant.ID, e.Plan.Name, newest)
	}
}
