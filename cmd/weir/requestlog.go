package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"weir/internal/devgateway"
)

// requestLog prints a short line for each request. It is safe for concurrent use.
type requestLog struct {
	w     io.Writer
	quiet bool // only what went wrong

	mu     sync.Mutex
	warned map[string]bool // warnings are printed once
}

func newRequestLog(w io.Writer, quiet bool) *requestLog {
	return &requestLog{w: w, quiet: quiet, warned: map[string]bool{}}
}

func (l *requestLog) write(r devgateway.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.quiet || r.Err != nil {
		fmt.Fprintf(l.w, "%s %d %-6s %-28s %s (%s)\n",
			r.Time.Format("15:04:05.000"), r.Status, r.Method, r.Path, outcome(r), r.Took.Round(10*time.Microsecond))
	}
	for _, warning := range r.Warnings {
		if !l.warned[warning] {
			l.warned[warning] = true
			fmt.Fprintln(l.w, "warning:", warning)
		}
	}
}

// outcome says who asked and what the authorizer thought of it.
func outcome(r devgateway.Record) string {
	if r.Err != nil {
		return "authorizer: " + strings.TrimSpace(r.Err.Error())
	}
	c := r.Authorizer
	if c == nil {
		return strings.ToLower(strings.ReplaceAll(r.Type, "_", " "))
	}
	who := c["tenant"] + "/" + c["plan"]
	if r.Type == "" {
		held := ""
		if ms := c["held"]; ms != "" && ms != "0" {
			held = ", held " + ms + " ms"
		}
		return fmt.Sprintf("%s %s: %s of %s left%s", who, c["reason"], c["remaining"], c["limit"], held)
	}
	return fmt.Sprintf("%s %s: %s, retry after %s s", who, c["reason"], c["code"], c["retryAfter"])
}
