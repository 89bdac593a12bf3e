package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"weir/internal/devgateway"
	"weir/internal/directory"
	"weir/internal/memstore"
	"weir/internal/plan"
)

// api is the whole of Weir behind a local API Gateway, with the repository's
// plans and template, on a clock that stands still.
type api struct {
	*httptest.Server
	now   atomic.Int64
	store *memstore.Store

	mu      sync.Mutex
	records []devgateway.Record // of the requests so far
}

func newAPI(t *testing.T) *api {
	t.Helper()
	return newAPIOf(t, "examples/plans.yaml")
}

func newAPIOf(t *testing.T, plansFile string) *api {
	t.Helper()
	file := func(name string) []byte {
		b, err := os.ReadFile(repository + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	plans, err := plan.Parse(plansFile, file(plansFile))
	if err != nil {
		t.Fatal(err)
	}
	dir, err := directory.NewStatic(plans)
	if err != nil {
		t.Fatal(err)
	}
	template, err := devgateway.ParseTemplate("template.yaml", file("template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	a := &api{store: memstore.New(localRegion)}
	a.now.Store(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC).UnixNano())
	h, err := stack{
		plans:          plans,
		directory:      dir,
		store:          a.store,
		region:         localRegion,
		template:       template,
		sourceIPHeader: sourceIPHeader,
		log:            slog.New(slog.DiscardHandler),
		record: func(r devgateway.Record) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.records = append(a.records, r)
			if len(r.Warnings) > 0 {
				t.Errorf("the template and the authorizer do not fit: %v", r.Warnings)
			}
		},
		now: a.now.Load,
	}.handler()
	if err != nil {
		t.Fatal(err)
	}
	a.Server = httptest.NewServer(h)
	t.Cleanup(a.Close)
	return a
}

func (a *api) client(key, ip string) client {
	return client{base: a.URL, key: key, ip: ip, http: a.Client()}
}

// do sends a request that must be answered.
func (c client) do(t *testing.T, method, path string) reply {
	t.Helper()
	r, err := c.send(t.Context(), method, path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// is checks some of a reply.
func (r reply) is(t *testing.T, status int, headers map[string]string) {
	t.Helper()
	if r.status != status {
		t.Errorf("status %d, want %d: %s", r.status, status, r.body)
	}
	for name, want := range headers {
		if got := r.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestBurstThenRefusedThenServed(t *testing.T) {
	a := newAPI(t)
	hooli := a.client("hooli-dev-key-1", "")
	for i := range 10 {
		hooli.do(t, "GET", "/v1/things").is(t, 200, map[string]string{
			"X-RateLimit-Limit": "10", "X-RateLimit-Remaining": strconv.Itoa(9 - i), "Retry-After": "",
		})
	}
	r := hooli.do(t, "GET", "/v1/things")
	r.is(t, 429, map[string]string{
		"Content-Type":          "application/json",
		"Cache-Control":         "no-store",
		"Retry-After":           "1",
		"X-RateLimit-Limit":     "10",
		"X-RateLimit-Remaining": "0",
		"X-RateLimit-Scope":     "tenant",
		"X-RateLimit-Reason":    "api",
		"x-amzn-ErrorType":      "AccessDeniedException",
	})
	for _, name := range []string{"RateLimit", "RateLimit-Policy", "X-RateLimit-Reset"} {
		if r.header.Get(name) == "" {
			t.Errorf("no %s", name)
		}
	}
	var body struct {
		Code, Message, Scope, Reason, RequestID string
		RetryAfter                              int
	}
	d := json.NewDecoder(strings.NewReader(r.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil {
		t.Fatalf("body %s: %v", r.body, err)
	}
	if body.Code != "rate_limited" || body.RetryAfter != 1 || body.Message == "" || body.RequestID != r.header.Get("x-amzn-RequestId") {
		t.Errorf("body is %s", r.body)
	}

	a.now.Add(int64(time.Second))
	hooli.do(t, "GET", "/v1/things").is(t, 200, nil)
}

func TestNeighbourIsNotAffected(t *testing.T) {
	a := newAPI(t)
	hooli, acme := a.client("hooli-dev-key-1", ""), a.client("acme-dev-key-1", "")
	for range 50 {
		hooli.do(t, "GET", "/v1/things")
	}
	acme.do(t, "GET", "/v1/things").is(t, 200, map[string]string{"X-RateLimit-Remaining": "99"})
}

func TestTwoLimitsOnOneRequest(t *testing.T) {
	a := newAPI(t)
	acme := a.client("acme-dev-key-1", "")
	follow := func() reply { return acme.do(t, "POST", "/v1/users/7/follow") }
	for range 200 { // api refuses from the 101st on unless time passes
		follow().is(t, 200, nil)
		a.now.Add(int64(10 * time.Millisecond))
	}
	for range 30 {
		follow().is(t, 429, map[string]string{"X-RateLimit-Reason": "follow", "Retry-After": "16"})
	}
	// Of the other limit nothing was charged: a GET is no follow.
	acme.do(t, "GET", "/v1/users/7/follow").is(t, 200, map[string]string{"X-RateLimit-Remaining": "99"})
}

func TestWhoIsNotServed(t *testing.T) {
	a := newAPI(t)
	a.client("nobody", "").do(t, "GET", "/").is(t, 401, map[string]string{
		"WWW-Authenticate": `ApiKey realm="api"`, "x-amzn-ErrorType": "UnauthorizedException", "Retry-After": "",
	})
	r := a.client("initech-dev-key-1", "").do(t, "GET", "/")
	r.is(t, 429, map[string]string{"X-RateLimit-Reason": "suspended", "Retry-After": "3600"})
	if !strings.Contains(r.body, `"code":"tenant_suspended"`) {
		t.Errorf("body %s", r.body)
	}
}

// TestGuessingKeys: 401 becomes 429 after a while, for the address that guesses
// and for no other, and for no right key.
func TestGuessingKeys(t *testing.T) {
	a := newAPI(t)
	guess := a.client("nobody", "192.0.2.66")
	status := map[int]int{}
	for range 80 {
		r := guess.do(t, "GET", "/")
		status[r.status]++
		if r.status == 429 && r.header.Get("Retry-After") != "1" {
			t.Errorf("Retry-After is %q", r.header.Get("Retry-After"))
		}
	}
	if status[401] != 60 || status[429] != 20 {
		t.Errorf("answers by status: %v, want 60 times 401 and 20 times 429", status)
	}
	a.client("nobody", "192.0.2.67").do(t, "GET", "/").is(t, 401, nil)
}

func TestAnonymousByAddress(t *testing.T) {
	a := newAPI(t)
	exhaust := func(ip string) {
		t.Helper()
		for range 5 {
			a.client("", ip).do(t, "GET", "/").is(t, 200, map[string]string{"X-RateLimit-Limit": "5"})
		}
		a.client("", ip).do(t, "GET", "/").is(t, 429, map[string]string{"X-RateLimit-Scope": "ip"})
	}
	exhaust("198.51.100.1")
	exhaust("198.51.100.2")
	exhaust("2001:db8:1:2::1")
	a.client("", "2001:db8:1:2:ffff::9").do(t, "GET", "/").is(t, 429, nil) // the same /64
	a.client("", "2001:db8:1:3::1").do(t, "GET", "/").is(t, 200, nil)
}

// TestKeyHeaderOnTheWire sends what an HTTP library would not.
func TestKeyHeaderOnTheWire(t *testing.T) {
	a := newAPI(t)
	tests := []struct {
		name, headers string
		want          int
	}{
		{"lower case", "x-api-key: acme-dev-key-1\r\n", 200},
		{"upper case", "X-API-KEY: acme-dev-key-1\r\n", 200},
		{"twice", "x-api-key: acme-dev-key-1\r\nX-Api-Key: hooli-dev-key-1\r\n", 401},
		{"right, then wrong", "X-Api-Key: acme-dev-key-1\r\nX-Api-Key: nobody\r\n", 401},
		{"joined", "x-api-key: acme-dev-key-1, hooli-dev-key-1\r\n", 401},
		{"in another header", "Authorization: acme-dev-key-1\r\n", 200}, // anonymous
		{"quotes", "x-api-key: \",\"limited\":false,\"\r\n", 401},
		{"not ASCII", "x-api-key: \xffkey\r\n", 401},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", a.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprintf(conn, "GET /v1/things HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s\r\n", tt.headers)
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != tt.want {
				t.Errorf("status %d, want %d: %s", resp.StatusCode, tt.want, body)
			}
			if !json.Valid(body) {
				t.Errorf("the body is not JSON: %s", body)
			}
		})
	}
}

func TestResources(t *testing.T) {
	f, err := plan.Parse("p", []byte(`plans: {p: {limits: [
		{name: a, rate: 1/s}, {name: b, rate: 1/s, match: {resource: "/x/{id}"}}, {name: c, rate: 1/s, match: {resource: "/y/*"}}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := resources(f); !slices.Equal(got, []string{"/x/{id}", "/y/*"}) {
		t.Errorf("resources = %q", got)
	}
}
