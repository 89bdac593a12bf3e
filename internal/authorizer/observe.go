package authorizer

import (
	"context"
	"time"

	"weir/internal/limiter"
	"weir/internal/request"
	"weir/internal/telemetry"
)

// Observer watches events; *telemetry.Observer does. It is called on the way of a
// request and must not block.
type Observer interface {
	// Begin is called when an event has come. The context it returns is for the
	// calls that the event makes, the Span, which may be nil, for Answered.
	Begin(ctx context.Context) (context.Context, telemetry.Span)

	// Answered is called once for each event, before its answer is returned.
	Answered(ctx context.Context, s telemetry.Span, d telemetry.Decision, x telemetry.Detail)

	// Failed is called when something happened that should not; kind is one of
	// package metric.
	Failed(now int64, kind string)
}

// begin tells the observer of an event, if there is one.
func (h *Handler) begin(ctx context.Context) (context.Context, telemetry.Span) {
	if h.observer == nil {
		return ctx, nil
	}
	return h.observer.Begin(ctx)
}

func (h *Handler) failed(now int64, kind string) {
	if h.observer != nil {
		h.observer.Failed(now, kind)
	}
}

// answered tells the observer what an event came to. An observer that panics costs
// nobody an answer.
func (h *Handler) answered(ctx context.Context, s telemetry.Span, now int64, req *request.Request, who caller, v *verdict, err error) {
	if h.observer == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			h.logPanic(ctx, p, req.ID)
		}
	}()
	d := telemetry.Decision{
		Now:    now,
		Held:   held(v.decision),
		Tenant: who.tenant,
		Plan:   who.plan,
		Reason: reasonOf(v, err),
	}
	d.Took = max(0, time.Duration(h.now()-now)-d.Held)
	d.Source, d.Blind = sourceOf(v.decision)
	if t := v.decision.Tightest; t >= 0 && t < len(v.decision.Results) {
		d.Limit = v.decision.Results[t].Name
	}
	if v.decision.Allowed {
		d.Shadows = shadows(v.decision)
	}
	h.observer.Answered(ctx, s, d, detailOf(req, v))
}

func detailOf(req *request.Request, v *verdict) telemetry.Detail {
	x := telemetry.Detail{RequestID: req.ID, Scope: v.fields.Scope, RetryAfter: v.fields.RetryAfter, Method: req.Method, Resource: req.Resource, IP: req.IP}
	if req.Kind == request.RESTToken {
		x.Resource = "" // it is the client's path
	}
	return x
}

// reasonOf returns why an answer is what it is.
func reasonOf(v *verdict, err error) telemetry.Reason {
	if err != nil {
		return telemetry.Unauthorized
	}
	if v.fields.Code == codeRateLimited && v.fields.Reason == reasonBadCredentials {
		return telemetry.BadCredentials
	}
	r, _ := telemetry.ReasonOf(string(v.fields.Code))
	return r
}

// sourceOf returns what decided, and whether some limit could not be checked.
func sourceOf(d limiter.Decision) (s telemetry.Source, blind bool) {
	if len(d.Results) == 0 {
		return telemetry.None, false
	}
	s = telemetry.Memory
	for i := range d.Results {
		switch r := &d.Results[i]; {
		case r.Unknown:
			return telemetry.Policy, true
		case !r.FromMemory:
			s = telemetry.Store
		}
	}
	return s, false
}

// shadows returns the limits in shadow that would have refused a request.
func shadows(d limiter.Decision) (names []string) {
	for i := range d.Results {
		if r := &d.Results[i]; r.Mode == limiter.Shadow && !r.Allowed && !r.Unknown {
			names = append(names, r.Name)
		}
	}
	return names
}
