package authorizer

import (
	"fmt"
	"runtime"
)

// logPanic logs where a panic came from. Its value is left out: it may have been
// made of what a client sent.
func (h *Handler) logPanic(p any, requestID string) {
	h.log.Error("panic recovered", "requestId", requestID, "type", fmt.Sprintf("%T", p), "stack", callers())
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
