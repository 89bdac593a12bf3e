package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// api is a deployed API.
type api struct {
	endpoint string // of the emulator
	url      string // as CloudFormation tells it: https://ID.execute-api.REGION.amazonaws.com/STAGE/
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
	host, stage, ok := strings.Cut(strings.TrimPrefix(a.url, "https://"), "/")
	if !ok {
		t.Fatalf("URL of the API: %q", a.url)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.endpoint+"/"+strings.TrimSuffix(stage, "/")+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = strings.SplitN(host, ".", 2)[0] + ".execute-api.localhost"
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

// exhaust asks until the API refuses and returns the refusal.
func (a api) exhaust(t *testing.T, key string, most int) answer {
	t.Helper()
	for range most {
		got := a.get(t, "/things", key)
		if got.status == http.StatusTooManyRequests {
			return got
		}
		if got.status != http.StatusOK {
			t.Fatalf("status %d: %s", got.status, got.body)
		}
	}
	t.Fatalf("%d requests were all served", most)
	return answer{}
}

// expectServed checks an answer of 200: that the rate-limit headers are mapped.
func expectServed(t *testing.T, got answer) {
	t.Helper()
	if got.status != http.StatusOK {
		t.Fatalf("status %d, want 200: %s", got.status, got.body)
	}
	for _, h := range []string{"RateLimit", "RateLimit-Policy", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
		if got.header.Get(h) == "" {
			t.Errorf("200 without %s", h)
		}
	}
	if got.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("200 without CORS: %v", got.header)
	}
}

// expectUnauthorized checks an answer of 401.
func expectUnauthorized(t *testing.T, got answer) {
	t.Helper()
	var body struct{ Code, Message, RequestID string }
	if err := json.Unmarshal([]byte(got.body), &body); err != nil {
		t.Errorf("body %s: %v", got.body, err)
	}
	if got.status != http.StatusUnauthorized || body.Code != "unauthorized" || body.RequestID == "" {
		t.Errorf("status %d, body %s, want 401 unauthorized", got.status, got.body)
	}
	if !strings.HasPrefix(got.header.Get("WWW-Authenticate"), "ApiKey") || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", got.header)
	}
}

// expectRefused checks as much of a 429 as the emulator fills in.
func expectRefused(t *testing.T, got answer) {
	t.Helper()
	if got.status != http.StatusTooManyRequests || got.header.Get("Cache-Control") != "no-store" || got.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("status %d, headers %v, want a 429 that is not stored, with CORS", got.status, got.header)
	}
	if exposed := got.header.Get("Access-Control-Expose-Headers"); !strings.HasPrefix(exposed, "Retry-After,RateLimit,") {
		t.Errorf("exposed headers %q", exposed)
	}
	if !strings.HasPrefix(got.body, `{"code":"`) || !strings.Contains(got.body, `"requestId":"`) {
		t.Errorf("body %s, want that of the template", got.body)
	}
}
