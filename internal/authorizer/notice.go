package authorizer

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"weir/internal/limiter"
	"weir/internal/telemetry"
)

// noticeEvery is how often, at most, the log says of one limit that it would have
// refused requests, or held some.
const noticeEvery = 10 * time.Second

// notice logs, now and then, what limits in shadow would have refused and what
// was held.
func (h *Handler) notice(ctx context.Context, now int64, requestID string, at *progress, d limiter.Decision) {
	if !d.Allowed { // then a shadow need not have been asked, and nobody waited
		return
	}
	for i := range d.Results {
		switch r := &d.Results[i]; {
		case r.Mode == limiter.Shadow && !r.Allowed && !r.Unknown:
			h.tell(ctx, now, "a limit in shadow would have refused the request", requestID, at, i, slog.String("retryAfter", retryAfter(r.Wait)))
		case r.Mode == limiter.Enforce && r.Hold > 0:
			h.tell(ctx, now, "the request was held for its token", requestID, at, i, slog.String("held", milliseconds(r.Hold)))
		}
	}
}

// tell logs msg about limit i of a request, and how many requests there were like
// it since it was last said.
func (h *Handler) tell(ctx context.Context, now int64, msg, requestID string, at *progress, i int, more slog.Attr) {
	l := at.limits[i]
	n, due := h.notices.count(now, topic{msg, at.who.plan, l.Name})
	if due {
		h.requestLog(ctx, requestID).Info(msg, "tenant", at.who.tenant, "plan", at.who.plan, "reason", l.Name, "scope", scope(l.Key), more, "requests", n)
	}
}

// requestLog returns the log for lines about one request.
func (h *Handler) requestLog(ctx context.Context, requestID string) *slog.Logger {
	return h.log.With("requestId", safe(requestID), "traceId", telemetry.TraceID(ctx))
}

// topic is what is counted together.
type topic struct{ msg, plan, limit string }

// maxTopics bounds what is remembered; the configuration does, usually.
const maxTopics = 10_000

// notices counts requests by topic. The zero value is empty.
type notices struct {
	mu     sync.Mutex
	topics map[topic]*tally
}

type tally struct {
	requests int64 // since it was last told
	toldAt   int64
}

// count counts a request and reports whether it is time to tell, and of how many.
func (n *notices) count(now int64, t topic) (requests int64, due bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := n.topics[t]
	if c == nil {
		if n.topics == nil || len(n.topics) >= maxTopics {
			n.topics = make(map[topic]*tally)
		}
		c = new(tally)
		n.topics[t] = c
	}
	c.requests++
	if age := now - c.toldAt; c.toldAt != 0 && age >= 0 && age < int64(noticeEvery) {
		return 0, false
	}
	requests, c.requests, c.toldAt = c.requests, 0, now
	return requests, true
}
