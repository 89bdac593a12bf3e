package onewrite_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"weir/internal/onewrite"
)

// opaque is a body of which net/http knows nothing.
type opaque struct{ io.Reader }

func (opaque) Close() error { return nil }

// counted counts the writes of a connection.
type counted struct {
	net.Conn
	writes *atomic.Int64
}

func (c counted) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

func TestOneWrite(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}))
	defer srv.Close()
	var writes atomic.Int64
	tr := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		return counted{conn, &writes}, err
	}}
	defer tr.CloseIdleConnections()
	send := func(c interface {
		Do(*http.Request) (*http.Response, error)
	}, body string) int64 {
		t.Helper()
		before := writes.Load()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL, opaque{strings.NewReader(body)})
		if err != nil {
			t.Fatal(err)
		}
		req.ContentLength = int64(len(body))
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if got, err := io.ReadAll(resp.Body); err != nil || string(got) != body {
			t.Errorf("echo of %q = %q, %v", body, got, err)
		}
		return writes.Load() - before
	}
	plain := &http.Client{Transport: tr}
	if n := send(plain, "body"); n < 2 {
		t.Errorf("net/http alone sends an opaque body in %d write: this package is no longer needed", n)
	}
	if n := send(onewrite.Client{Next: plain}, "body"); n != 1 {
		t.Errorf("%d writes, want 1", n)
	}
	send(onewrite.Client{Next: plain}, "")
	send(onewrite.Client{Next: plain}, strings.Repeat("x", 2<<20)) // over the limit
}

func TestShortBodyIsAnError(t *testing.T) {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:0", opaque{strings.NewReader("abc")})
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = 4
	if resp, err := (onewrite.Client{Next: http.DefaultClient}).Do(req); err == nil {
		resp.Body.Close()
		t.Error("a body shorter than its length was sent")
	}
}
