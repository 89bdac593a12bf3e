package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// DefaultSample is how many refusals a process logs in a minute, at most.
const DefaultSample = 10

// refusals logs some of the requests that were refused: of each busy tenant the
// first in an interval, and no more than a number of lines a minute. A flood is
// in the metrics; the log says what one request of it looks like.
type refusals struct {
	log  *slog.Logger
	most int  // a minute; none if 0
	all  bool // the level is debug

	mu      sync.Mutex
	minute  int64
	lines   int // in that minute
	omitted int // since the last line
}

func newRefusals(log *slog.Logger, most int) *refusals {
	return &refusals{log: log, most: most, all: log.Enabled(context.Background(), slog.LevelDebug)}
}

// note logs a refusal if it is to be logged. first says that it is the first of its
// tenant in an interval.
func (f *refusals) note(ctx context.Context, d *Decision, x *Detail, first bool) {
	if !first && !f.all {
		return
	}
	level, omitted := slog.LevelDebug, 0
	if !f.all {
		var left bool
		if omitted, left = f.take(d.Now); !left {
			return
		}
		level = slog.LevelInfo
	}
	f.log.LogAttrs(ctx, level, "request refused",
		slog.String("requestId", clean(x.RequestID)),
		slog.String("traceId", TraceID(ctx)),
		slog.String("tenant", clean(d.Tenant)),
		slog.String("plan", clean(d.Plan)),
		slog.String("code", d.Reason.String()),
		slog.String("scope", clean(x.Scope)),
		slog.String("reason", clean(d.Limit)),
		slog.String("retryAfter", clean(x.RetryAfter)),
		slog.String("source", d.Source.String()),
		slog.String("method", clean(x.Method)),
		slog.String("resource", clean(x.Resource)),
		slog.String("network", maskIP(x.IP)),
		slog.Int("omitted", omitted),
	)
}

// take reports whether there is a line left in this minute, and returns how many
// there would have been since the last one.
func (f *refusals) take(now int64) (omitted int, left bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if minute := now / int64(time.Minute); minute != f.minute {
		f.minute, f.lines = minute, 0
	}
	if f.lines >= f.most {
		f.omitted++
		return 0, false
	}
	f.lines++
	omitted, f.omitted = f.omitted, 0
	return omitted, true
}
