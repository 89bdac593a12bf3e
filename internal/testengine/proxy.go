package testengine

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"
)

// Proxy stands in front of an Engine, counts what passes, and misbehaves when told.
type Proxy struct {
	server *httptest.Server
	calls  atomic.Int64
	fault  atomic.Pointer[Fault]
}

// Fault serves a request in the engine's place; next is the engine.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// Proxy returns a new proxy, which ends with the test.
func (e *Engine) Proxy(tb testing.TB) *Proxy {
	tb.Helper()
	u, err := url.Parse(e.endpoint)
	if err != nil {
		tb.Fatal(err)
	}
	engine := httputil.NewSingleHostReverseProxy(u)
	engine.Transport = &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 2 * time.Second}
	p := &Proxy{}
	p.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.calls.Add(1)
		if f := p.fault.Load(); f != nil && *f != nil {
			(*f)(w, r, engine)
			return
		}
		engine.ServeHTTP(w, r)
	}))
	tb.Cleanup(func() {
		p.server.CloseClientConnections()
		p.server.Close()
	})
	return p
}

// Endpoint returns the proxy's URL.
func (p *Proxy) Endpoint() string { return p.server.URL }

// Calls returns how many requests have arrived.
func (p *Proxy) Calls() int { return int(p.calls.Load()) }

// Set makes f serve all requests from now on; nil ends that.
func (p *Proxy) Set(f Fault) { p.fault.Store(&f) }

// Answer returns a Fault that answers with a DynamoDB error document, in place
// of doing what was asked.
func Answer(status int, body string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.Header().Set("X-Amzn-Requestid", "FAULT")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// Throttle is DynamoDB's answer for a partition that gets too many writes.
var Throttle = Answer(http.StatusBadRequest, `{
	"__type": "com.amazonaws.dynamodb.v20120810#ThrottlingException",
	"message": "Throughput exceeds the current capacity of one or more partitions.",
	"throttlingReasons": [{"reason": "TableWriteKeyRangeThroughputExceeded", "resource": "arn:aws:dynamodb:us-east-1:000000000000:table/t"}]
}`)

// LoseAnswer does what was asked and closes the connection without a word.
func LoseAnswer(_ http.ResponseWriter, r *http.Request, next http.Handler) {
	next.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// Stall does nothing until the client gives up.
func Stall(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
	_, _ = io.Copy(io.Discard, r.Body) // else the server does not notice that the client left
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}
