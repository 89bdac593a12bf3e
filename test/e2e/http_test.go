package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
)

// api is a deployed API.
type api struct {
	base string // URL of its stage
	host string // what requests name it by; "" for the host of base
}

// api returns the API of a URL that CloudFormation tells:
// https://ID.execute-api.REGION.amazonaws.com/STAGE/. Where the emulator is, it has
// the name ID.execute-api.localhost.
func (w *world) api(t *testing.T, output string) api {
	t.Helper()
	u, err := url.Parse(output)
	if err != nil || u.Scheme != "https" || !strings.Contains(u.Host, ".execute-api.") {
		t.Fatalf("URL of the API: %q", output)
	}
	id, _, _ := strings.Cut(u.Host, ".")
	return api{base: w.Endpoint() + strings.TrimSuffix(u.Path, "/"), host: id + ".execute-api.localhost"}
}

// answer is what a client got.
type answer struct {
	status int
	header http.Header
	body   string
}

// client waits long: the first request starts an execution environment.
var client = http.Client{Timeout: 30 * time.Second}

// get asks the API, with a key unless it is "".
func (a api) get(t *testing.T, path, key string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = a.host
	if key != "" {
		req.Header.Set("x-api-key", key)
	}
	return do(t, req)
}

func do(t *testing.T, req *http.Request) answer {
	t.Helper()
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(body)}
}

// exhaust asks until the API refuses, and returns the refusal. It fails if more
// requests are served than may be.
func (a api) exhaust(t *testing.T, key string, most int) answer {
	t.Helper()
	for served := 0; ; served++ {
		got := a.get(t, "/things", key)
		switch {
		case got.status == http.StatusTooManyRequests:
			return got
		case got.status != http.StatusOK:
			t.Fatalf("status %d: %s", got.status, got.body)
		case served == most:
			t.Fatalf("request %d is served, of a bucket that had %d", served+1, most)
		}
	}
}

// until asks until an answer is as wanted, for a while: what changed must first be
// seen by the processes that serve.
func (a api) until(t *testing.T, what, key string, wanted func(answer) bool) {
	t.Helper()
	began := time.Now()
	for {
		got := a.get(t, "/things", key)
		if wanted(got) {
			t.Logf("%s: %s after %v", a.host, what, time.Since(began).Round(time.Millisecond))
			return
		}
		if time.Since(began) > 30*time.Second {
			t.Fatalf("%s: not %s in 30 s: %d %v %s", a.host, what, got.status, got.header, got.body)
		}
	}
}

// expectServed checks an answer of 200: the headers, with values, and the echo.
func expectServed(t *testing.T, got answer, limit, remaining int) {
	t.Helper()
	if got.status != http.StatusOK {
		t.Fatalf("status %d, want 200: %s", got.status, got.body)
	}
	expectHeaders(t, got, map[string]string{
		"X-RateLimit-Limit":           strconv.Itoa(limit),
		"X-RateLimit-Remaining":       strconv.Itoa(remaining),
		"RateLimit":                   `"api";r=` + strconv.Itoa(remaining) + ";t=",
		"RateLimit-Policy":            `"api";q=`,
		"Access-Control-Allow-Origin": "*",
	})
	if reset, err := strconv.Atoi(got.header.Get("X-RateLimit-Reset")); err != nil || reset < 1 {
		t.Errorf("X-RateLimit-Reset is %q", got.header.Get("X-RateLimit-Reset"))
	}
	var echo struct {
		Tenant, Plan, Method, RequestID string
		Limited                         *bool
	}
	if err := json.Unmarshal([]byte(got.body), &echo); err != nil {
		t.Fatalf("body %s: %v", got.body, err)
	}
	if echo.Tenant == "" || echo.Plan == "" || echo.Method != http.MethodGet || echo.RequestID == "" || echo.Limited == nil || *echo.Limited {
		t.Errorf("body %s", got.body)
	}
}

// expectUnauthorized checks an answer of 401.
func expectUnauthorized(t *testing.T, got answer) {
	t.Helper()
	var body struct{ Code, Message, RequestID string }
	if err := json.Unmarshal([]byte(got.body), &body); err != nil {
		t.Errorf("body %s: %v", got.body, err)
	}
	if got.status != http.StatusUnauthorized || body.Code != "unauthorized" || body.Message == "" || body.RequestID == "" {
		t.Errorf("status %d, body %s, want 401 unauthorized", got.status, got.body)
	}
	expectHeaders(t, got, map[string]string{"WWW-Authenticate": "ApiKey ", "Cache-Control": "no-store", "Access-Control-Allow-Origin": "*"})
}

// expectRefused checks an answer of 429: what a client is told, and that header and
// body say the same.
func expectRefused(t *testing.T, got answer, limit int) {
	t.Helper()
	var body struct {
		Code, Message, Scope, Reason, RequestID string
		RetryAfter                              int
	}
	if err := json.Unmarshal([]byte(got.body), &body); err != nil {
		t.Fatalf("status %d, body %s: %v", got.status, got.body, err)
	}
	if got.status != http.StatusTooManyRequests || body.Code != "rate_limited" || body.Message == "" || body.Scope != "tenant" || body.Reason != "api" || body.RequestID == "" {
		t.Errorf("status %d, body %s", got.status, got.body)
	}
	if after, err := strconv.Atoi(got.header.Get("Retry-After")); err != nil || after < 1 || after != body.RetryAfter {
		t.Errorf("Retry-After %q, body %s", got.header.Get("Retry-After"), got.body)
	}
	expectHeaders(t, got, map[string]string{
		"X-RateLimit-Limit":             strconv.Itoa(limit),
		"X-RateLimit-Remaining":         "0",
		"X-RateLimit-Scope":             "tenant",
		"X-RateLimit-Reason":            "api",
		"RateLimit":                     `"api";r=0;t=`,
		"RateLimit-Policy":              `"api";q=`,
		"Cache-Control":                 "no-store",
		"Access-Control-Allow-Origin":   "*",
		"Access-Control-Expose-Headers": "Retry-After,RateLimit,",
	})
}

// expectHeaders checks how values begin.
func expectHeaders(t *testing.T, got answer, want map[string]string) {
	t.Helper()
	for name, begins := range want {
		if value := got.header.Get(name); !strings.HasPrefix(value, begins) {
			t.Errorf("%d with %s: %q, want %s...", got.status, name, value, begins)
		}
	}
}
