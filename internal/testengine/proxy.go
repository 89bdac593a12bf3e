package testengine

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Proxy stands in front of an Engine, counts what passes, and misbehaves when told.
type Proxy struct {
	addr   string
	engine http.Handler
	calls  atomic.Int64
	fault  atomic.Pointer[Fault]

	mu     sync.Mutex
	server *http.Server // nil while down
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
	engine.ErrorLog = log.New(io.Discard, "", 0) // clients that give up are what tests are about
	p := &Proxy{addr: "127.0.0.1:0", engine: engine}
	p.Up(tb)
	tb.Cleanup(p.Down)
	return p
}

// Endpoint returns the proxy's URL.
func (p *Proxy) Endpoint() string { return "http://" + p.addr }

// Calls returns how many requests have arrived.
func (p *Proxy) Calls() int { return int(p.calls.Load()) }

// Set makes f serve all requests from now on; nil ends that.
func (p *Proxy) Set(f Fault) { p.fault.Store(&f) }

// Down resets every connection and refuses new ones.
func (p *Proxy) Down() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server != nil {
		p.server.Close()
		p.server = nil
	}
}

// Up ends Down, at the same address.
func (p *Proxy) Up(tb testing.TB) {
	tb.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server != nil {
		return
	}
	l, err := net.Listen("tcp", p.addr)
	if err != nil {
		tb.Fatal(err)
	}
	p.addr = l.Addr().String()
	p.server = &http.Server{Handler: http.HandlerFunc(p.serve), ReadHeaderTimeout: time.Minute}
	go p.server.Serve(l) //nolint:errcheck // it ends with Down
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	p.calls.Add(1)
	if f := p.fault.Load(); f != nil && *f != nil {
		(*f)(w, r, p.engine)
		return
	}
	p.engine.ServeHTTP(w, r)
}
