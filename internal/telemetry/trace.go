package telemetry

import (
	"context"
	"strings"

	"weir/internal/telemetry/metric"
)

// Tracer traces requests. Package xray has one; without it nothing is traced.
type Tracer interface {
	// Begin begins the trace of a request, in the context for the calls that it
	// makes. Of a request that is not sampled the Span is nil and the context is
	// ctx: it must cost next to nothing.
	Begin(ctx context.Context) (context.Context, Span)
}

// Span is the trace of one request.
type Span interface {
	// End says what the request came to and sends the trace.
	End(d *Decision)
}

// TraceHeaderKey is under what aws-lambda-go keeps the trace header of an
// invocation in its context.
const TraceHeaderKey = "x-amzn-trace-id"

// TraceHeader returns the trace header of an invocation, "" if it has none.
func TraceHeader(ctx context.Context) string {
	h, _ := ctx.Value(TraceHeaderKey).(string)
	return h
}

// Sampled reports whether a trace header says that the request is traced.
func Sampled(header string) bool {
	const yes = "Sampled=1" // Lambda says nothing else that begins so
	return strings.Contains(header, ";"+yes) || strings.HasPrefix(header, yes)
}

// TraceID returns the trace id of an invocation, metric.NoName if it has none that
// looks like one.
func TraceID(ctx context.Context) string {
	id := field(TraceHeader(ctx), "Root")
	if len(id) != len("1-00000000-000000000000000000000000") || strings.Trim(id, "0123456789abcdef-") != "" {
		return metric.NoName
	}
	return id
}

// field returns a field of a header such as Root=1-...;Parent=...;Sampled=1.
func field(header, name string) string {
	for header != "" {
		var f string
		f, header, _ = strings.Cut(header, ";")
		if key, value, ok := strings.Cut(strings.TrimSpace(f), "="); ok && key == name {
			return value
		}
	}
	return ""
}

// Annotation is what a trace can be searched by.
type Annotation struct{ Key, Value string }

// Annotations returns what a trace says of a decision.
func (d *Decision) Annotations() []Annotation {
	return []Annotation{
		{"tenant", clean(d.Tenant)},
		{"plan", clean(d.Plan)},
		{"limit", clean(d.Limit)},
		{"outcome", d.Reason.outcome().String()},
		{"reason", d.Reason.String()},
		{"source", d.Source.String()},
	}
}
