package authorizer

import (
	"context"
	"fmt"
	"runtime"

	"weir/internal/limiter"
)

// afterPanic is the answer when Weir itself is broken. It is as with a store that
// is down: a caller who is known is let through, unless a limit says that what
// cannot be checked is refused. One who is not known is refused.
func (p *progress) afterPanic() verdict {
	if p.who == nobody {
		return verdict{fields: refused(nobody, codeUnavailable, reasonNone, reasonUnavailable, retryUnavailable)}
	}
	for i := range p.checks {
		c := &p.checks[i]
		if c.Mode == limiter.Enforce && c.OnError == limiter.Deny {
			r := limiter.Result{Name: c.Name, Limit: c.Limit, Unknown: true, Remaining: -1, Wait: retryUnavailable}
			f := decided(p.who, p.limits[i:], limiter.Decision{Results: []limiter.Result{r}})
			return verdict{over: true, fields: f}
		}
	}
	f := decided(p.who, nil, limiter.Decision{Allowed: true, Tightest: -1})
	f.Code, f.Message = codeUnchecked, messages[codeUnchecked]
	return verdict{allowed: true, fields: f}
}

// logPanic logs where a panic came from. Its value is left out: it may have been
// made of what a client sent.
func (h *Handler) logPanic(ctx context.Context, p any, requestID string) {
	h.requestLog(ctx, requestID).Error("panic recovered", "type", fmt.Sprintf("%T", p), "stack", callers())
}

// callers returns the functions on the stack of a panic, innermost first.
func callers() []string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs[:])])
	var names []string
	for {
		f, more := frames.Next()
		if f.Function != "" {
			names = append(names, fmt.Sprintf("%s:%d", f.Function, f.Line))
		}
		if !more {
			return names
		}
	}
}
