package testbootstrap

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// Traced is a Function whose invocations have a trace header. The emulator has no
// use for one, so it is put in on the way between the emulator's runtime API and
// the function.
type Traced struct {
	*Function
	header *atomic.Value // of the invocation under way
}

// StartTraced is Start of a Traced.
func StartTraced(tb testing.TB, bootstrap string, env ...string) *Traced {
	tb.Helper()
	header := new(atomic.Value)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	// The emulator tells the function where its API is; the function is sent here
	// instead, and says where that was.
	script := filepath.Join(tb.TempDir(), "bootstrap")
	text := fmt.Sprintf("#!/bin/sh\nexport AWS_LAMBDA_RUNTIME_API=%s/$AWS_LAMBDA_RUNTIME_API\nexec '%s'\n", ln.Addr(), bootstrap)
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		tb.Fatal(err)
	}
	server := &http.Server{Handler: traceProxy(header)}
	go func() { _ = server.Serve(ln) }() // until it is closed
	f := Start(tb, script, env...)
	tb.Cleanup(func() {
		f.Stop()
		server.Close()
	})
	return &Traced{f, header}
}

// traceProxy passes requests on to the address that is the first part of their
// path, and puts the header into the answers that are invocations.
func traceProxy(header *atomic.Value) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			addr, path, _ := strings.Cut(strings.TrimPrefix(r.In.URL.Path, "/"), "/")
			r.Out.URL = &url.URL{Scheme: "http", Host: addr, Path: "/" + path, RawQuery: r.In.URL.RawQuery}
			r.Out.Host = addr
		},
		ModifyResponse: func(r *http.Response) error {
			if h, _ := header.Load().(string); h != "" && strings.HasSuffix(r.Request.URL.Path, "/invocation/next") {
				r.Header.Set("Lambda-Runtime-Trace-Id", h)
			}
			return nil
		},
		ErrorLog: log.New(io.Discard, "", 0), // of a function that ends while it waits for an invocation
	}
}

// InvokeTraced is Invoke with a trace header such as Lambda gives an invocation; ""
// for none. Only one call is made at a time.
func (f *Traced) InvokeTraced(ctx context.Context, payload []byte, header string) (Reply, error) {
	f.header.Store(header)
	return f.Invoke(ctx, payload)
}
