package devgateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"time"
)

// Authorizer is a Lambda authorizer's handler. What it returns is marshalled to
// JSON; of an error, only the text matters.
type Authorizer func(ctx context.Context, event json.RawMessage) (any, error)

// Options of a Gateway. Only Authorizer is needed.
type Options struct {
	Authorizer Authorizer
	Template   *Template // nil: AWS's own gateway responses
	Resources  []string  // resource templates of the API besides / and /{proxy+}

	// Timeout is the authorizer function's; 3 s if 0.
	Timeout time.Duration

	// SourceIPHeader names a request header that stands in for the client's
	// address, to try limits by IP from one machine. The authorizer does not get
	// to see it. "" (the default) believes the connection only, as AWS does.
	SourceIPHeader string

	Now func() time.Time // time.Now if nil
	Log func(Record)     // called once per request, by many goroutines; may be nil
}

// Record is what became of one request.
type Record struct {
	Time       time.Time
	Took       time.Duration
	Method     string
	Path       string
	Status     int
	Type       string            // of the gateway response; "" if the backend answered
	Authorizer map[string]string // the answer's context; nil if there was none
	Err        error             // why the authorizer's answer was not usable
	Warnings   []string          // about the template
}

// Gateway is the HTTP handler. It is safe for concurrent use.
type Gateway struct {
	o      Options
	routes routes
}

// New returns a Gateway; the error says which resource template is malformed.
func New(o Options) (*Gateway, error) {
	if o.Authorizer == nil {
		return nil, errors.New("devgateway: no authorizer")
	}
	table, err := newRoutes(o.Resources)
	if err != nil {
		return nil, fmt.Errorf("devgateway: %w", err)
	}
	if o.Template == nil {
		o.Template = &Template{}
	}
	if o.Timeout == 0 {
		o.Timeout = 3 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = func(Record) {}
	}
	return &Gateway{o: o, routes: table}, nil
}

// Bounds of API Gateway.
const (
	maxBody      = 10 << 20 // bytes of a request body
	maxMethodARN = 1600     // bytes
)

var methods = []string{
	http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodOptions,
	http.MethodPatch, http.MethodPost, http.MethodPut,
}

// ServeHTTP implements http.Handler.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := g.o.Now()
	v, fault := g.admit(r, start)
	rec := Record{Time: start, Method: r.Method, Path: v.event.Path, Status: http.StatusOK, Authorizer: v.authorizer}
	h := w.Header()
	setHeader(h, "x-amzn-RequestId", v.event.RequestContext.RequestID)
	setHeader(h, "x-amz-apigw-id", v.event.RequestContext.ExtendedRequestID)
	if fault != nil {
		v.err = fault
		rec.Type, rec.Err = string(fault.typ), fault.cause
		rec.Status, rec.Warnings = g.o.Template.write(w, v)
	} else {
		for _, name := range mapHeaders(h, g.o.Template.successHeaders(v.event.Resource), v) {
			rec.Warnings = append(rec.Warnings, "the integration response uses "+name+", which is not set")
		}
		writeEcho(w, v.event, v.authorizer)
	}
	rec.Took = g.o.Now().Sub(start)
	g.o.Log(rec)
}

// admit takes a request as far as the backend; fault says why it does not get
// there. The event in the variables is never nil.
func (g *Gateway) admit(r *http.Request, now time.Time) (v variables, fault *gatewayError) {
	to, params, found := g.routes.match(r.URL.EscapedPath())
	source, header := g.source(r)
	v.event = newEvent(r, header, to, params, source, now)
	switch {
	case !found || !slices.Contains(methods, r.Method):
		return v, errNoMethod()
	case len(v.event.MethodARN) > maxMethodARN:
		return v, errURITooLong()
	case r.ContentLength > maxBody:
		return v, errTooLarge()
	}
	a, fault := g.authorize(r.Context(), v.event)
	if fault != nil {
		return v, fault
	}
	v.authorizer = a.context
	if verdict := a.policy.evaluate(v.event.MethodARN); verdict != allow {
		return v, errAccessDenied(verdict)
	}
	// The body is the backend's; only its size matters here.
	if n, err := io.Copy(io.Discard, io.LimitReader(r.Body, maxBody+1)); err == nil && n > maxBody {
		return v, errTooLarge()
	}
	return v, nil
}

// authorize calls the authorizer and checks its answer.
func (g *Gateway) authorize(ctx context.Context, e *Event) (answer, *gatewayError) {
	event, err := json.Marshal(e)
	if err != nil {
		return answer{}, errAuthorizer(fmt.Errorf("marshal event: %w", err))
	}
	// A client that goes away does not stop a Lambda function.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), g.o.Timeout)
	defer cancel()
	result, err := g.call(ctx, event)
	switch {
	case ctx.Err() != nil:
		return answer{}, errAuthorizer(fmt.Errorf("the authorizer took longer than its timeout of %v", g.o.Timeout))
	case err != nil && err.Error() == "Unauthorized":
		return answer{}, errUnauthorized()
	case err != nil:
		return answer{}, errAuthorizer(fmt.Errorf("the authorizer failed: %w", err))
	}
	raw, err := json.Marshal(result)
	if err != nil {
		return answer{}, errAuthorizer(fmt.Errorf("marshal answer: %w", err))
	}
	a, err := parseAnswer(raw)
	if err != nil {
		return answer{}, errAuthorizer(err)
	}
	return a, nil
}

// call invokes the authorizer; a panic is an error, as it is to Lambda.
func (g *Gateway) call(ctx context.Context, event json.RawMessage) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return g.o.Authorizer(ctx, event)
}

// source returns the client's address and the headers for the authorizer.
func (g *Gateway) source(r *http.Request) (netip.Addr, http.Header) {
	header := r.Header.Clone()
	if g.o.SourceIPHeader == "" {
		return peer(r), header
	}
	header.Del(g.o.SourceIPHeader)
	if ip, err := netip.ParseAddr(r.Header.Get(g.o.SourceIPHeader)); err == nil {
		return ip.Unmap().WithZone(""), header
	}
	return peer(r), header
}
