package authorizer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"weir/internal/directory"
	"weir/internal/limiter"
	"weir/internal/plan"
	"weir/internal/request"
	"weir/internal/telemetry/metric"
)

// ErrUnauthorized is the one error of a Handler. API Gateway answers 401 to this
// text and 500 to any other, so nothing may be added to it.
var ErrUnauthorized = errors.New("Unauthorized") //nolint:staticcheck // the text is API Gateway's

// Limiter decides; *limiter.Limiter does. A decision never fails: what the store
// could not tell is said in the Results.
type Limiter interface {
	Decide(ctx context.Context, now int64, checks []limiter.Check) limiter.Decision
}

// Defaults of Options.
const (
	DefaultKeyHeader = "x-api-key"

	// DefaultLookupTimeout is ten times what a limit may take: a caller who cannot
	// be identified in time is refused, and the first lookup of a cold process has
	// a connection to make.
	DefaultLookupTimeout = 10 * limiter.DefaultTimeout
)

// answerMargin is how long before the end of its time the function stops waiting
// for stores: running into it would be a 500 to the client.
const answerMargin = 250 * time.Millisecond

// Options of a Handler. The zero value is a working configuration.
type Options struct {
	KeyHeader      string        // of the API key; DefaultKeyHeader if ""
	HTTP           HTTPStyle     // how HTTP APIs are answered
	LookupTimeout  time.Duration // for finding out who calls; DefaultLookupTimeout if 0
	Strict         bool          // the limiter can keep strict limits; else they are global, and that is logged once
	BadCredentials *plan.Limit   // of failed credentials, by IP; plan.DefaultBadCredentials if nil
	Now            func() int64  // ns since the Unix epoch; the system's clock if nil
	Log            *slog.Logger  // slog.Default() if nil
	Observer       Observer      // told of every event; nobody if nil
}

// Handler answers authorizer events. It is safe for concurrent use.
type Handler struct {
	directory directory.Directory
	seer      seer // the directory, if it is one
	limiter   Limiter
	keyHeader string
	http      HTTPStyle
	lookup    time.Duration
	strict    bool
	loosened  sync.Once // when the first strict limit was kept as a global one
	bad       *plan.Limit
	guesses   guesses
	notices   notices
	now       func() int64
	log       *slog.Logger
	observer  Observer // nil for none
}

// New returns a Handler.
func New(d directory.Directory, l Limiter, o Options) *Handler {
	h := &Handler{
		directory: d,
		limiter:   l,
		keyHeader: lower(cmp.Or(o.KeyHeader, DefaultKeyHeader)),
		http:      o.HTTP,
		lookup:    o.LookupTimeout,
		strict:    o.Strict,
		bad:       o.BadCredentials,
		now:       o.Now,
		log:       o.Log,
		observer:  o.Observer,
	}
	h.seer, _ = d.(seer)
	if h.lookup <= 0 {
		h.lookup = DefaultLookupTimeout
	}
	if h.bad == nil {
		l := plan.DefaultBadCredentials()
		h.bad = &l
	}
	if h.now == nil {
		h.now = func() int64 { return time.Now().UnixNano() }
	}
	if h.log == nil {
		h.log = slog.Default()
	}
	return h
}

// Invoke is Handle for aws-lambda-go: it implements lambda.Handler.
func (h *Handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	return h.Handle(ctx, payload)
}

// Handle answers an event. The error is ErrUnauthorized or nil.
func (h *Handler) Handle(ctx context.Context, raw json.RawMessage) (answer json.RawMessage, err error) {
	var req request.Request
	var v verdict
	at, now := progress{who: nobody}, h.now()
	ctx, span := h.begin(ctx)
	defer func() {
		if p := recover(); p != nil {
			h.logPanic(ctx, p, req.ID)
			h.failed(now, metric.Panic)
			v = at.afterPanic()
			answer, err = h.http.encode(req.Kind, v), nil
		}
		h.answered(ctx, span, now, &req, at.who, &v, err)
	}()

	req, err = parse(raw)
	if err != nil {
		h.log.Error("event refused: the function is attached to something other than an authorizer")
		h.failed(now, metric.Unsupported)
		v = verdict{fields: refused(nobody, codeUnsupported, reasonNone, reasonUnsupported, retryNever)}
		return h.http.encode(0, v), nil
	}
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-answerMargin))
		defer cancel()
	}
	v, err = h.decide(ctx, now, &req, &at)
	if err != nil {
		return nil, err
	}
	return h.http.encode(req.Kind, v), nil
}

// progress is how far a request has come.
type progress struct {
	who    caller
	limits []*plan.Limit // that match it
	checks []limiter.Check
}

// decide returns the verdict on a request, or ErrUnauthorized with what it was
// decided by. It notes in at how
// far it has come.
func (h *Handler) decide(ctx context.Context, now int64, req *request.Request, at *progress) (verdict, error) {
	entry, err := h.identify(ctx, now, req)
	switch {
	case errors.Is(err, errGuessing):
		return h.guessing(now, req), nil
	case errors.Is(err, directory.ErrUnknown):
		return h.unauthorized(ctx, now, req)
	case err != nil:
		h.logLookup(ctx, now, err, req.ID)
		return verdict{fields: refused(nobody, codeUnavailable, reasonNone, reasonUnavailable, retryUnavailable)}, nil
	}
	at.who = caller{tenant: entry.Tenant.ID, plan: entry.Plan.Name}
	if entry.Tenant.Suspended {
		return verdict{fields: refused(at.who, codeSuspended, "tenant", reasonSuspended, retrySuspended)}, nil
	}

	subject := plan.Subject{
		Tenant:   entry.Tenant.ID,
		IP:       req.IP,
		Method:   req.Method,
		Resource: req.Resource,
		Header:   header(req.Headers),
	}
	at.limits = entry.Plan.Matching(req.Method, req.Resource)
	at.checks = make([]limiter.Check, len(at.limits))
	ver := versionOf(entry, now)
	for i, l := range at.limits {
		at.checks[i] = h.check(l, subject, ver)
	}
	d := h.limiter.Decide(ctx, now, at.checks)
	h.outdated(now, entry, at.checks, d)
	h.notice(ctx, now, req.ID, at, d)
	return verdict{allowed: d.Allowed, over: !d.Allowed, fields: decided(at.who, at.limits, d), decision: d}, nil
}

// logLookup says why a caller was not identified. A plan that is missing is for
// the operator to mend; of any other error only the kind is told, since the
// directory reports its source's failures itself.
func (h *Handler) logLookup(ctx context.Context, now int64, err error, requestID string) {
	if missing, ok := errors.AsType[*directory.MissingPlanError](err); ok {
		h.failed(now, metric.Contradiction)
		h.requestLog(ctx, requestID).Error("caller refused: the configuration contradicts itself", "error", missing.Error())
		return
	}
	h.failed(now, metric.Lookup)
	h.requestLog(ctx, requestID).Warn("caller not identified: the directory did not answer", "timeout", errors.Is(err, context.DeadlineExceeded))
}
