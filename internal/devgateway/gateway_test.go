package devgateway

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// allowAll is an authorizer's answer that lets everything pass.
func allowAll(values map[string]any) any {
	return map[string]any{
		"principalId": "acme",
		"policyDocument": map[string]any{
			"Version":   "2012-10-17",
			"Statement": []any{map[string]any{"Effect": "Allow", "Action": "execute-api:Invoke", "Resource": "*"}},
		},
		"context": values,
	}
}

// deny is an answer with an explicit Deny.
func deny(values map[string]any) any {
	return json.RawMessage(fmt.Sprintf(
		`{"principalId":"acme","policyDocument":{"Statement":[{"Effect":"Deny","Action":"*","Resource":"*"}]},"context":%s}`, marshal(values)))
}

func marshal(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// gateway starts a gateway with an authorizer that always returns result and err.
func gateway(t *testing.T, o Options, result any, err error) (*httptest.Server, *[]Record) {
	t.Helper()
	var mu sync.Mutex
	records := &[]Record{}
	o.Log = func(r Record) { mu.Lock(); defer mu.Unlock(); *records = append(*records, r) }
	if o.Authorizer == nil {
		o.Authorizer = func(context.Context, json.RawMessage) (any, error) { return result, err }
	}
	g, nerr := New(o)
	if nerr != nil {
		t.Fatal(nerr)
	}
	s := httptest.NewServer(g)
	t.Cleanup(s.Close)
	return s, records
}

func get(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func TestOutcomes(t *testing.T) {
	tests := []struct {
		name   string
		result any
		err    error
		status int
		typ    string
	}{
		{"allow", allowAll(nil), nil, 200, ""},
		{"deny", deny(nil), nil, 403, "ACCESS_DENIED"},
		{"Unauthorized", nil, errors.New("Unauthorized"), 401, "UNAUTHORIZED"},
		{"Unauthorized with more text", nil, errors.New("Unauthorized: no key"), 500, "AUTHORIZER_CONFIGURATION_ERROR"},
		{"Unauthorized in another case", nil, errors.New("unauthorized"), 500, "AUTHORIZER_CONFIGURATION_ERROR"},
		{"nothing", nil, nil, 500, "AUTHORIZER_CONFIGURATION_ERROR"},
		{"array in context", allowAll(map[string]any{"a": []int{1}}), nil, 500, "AUTHORIZER_CONFIGURATION_ERROR"},
		{"unmarshallable", func() {}, nil, 500, "AUTHORIZER_CONFIGURATION_ERROR"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, records := gateway(t, Options{}, tt.result, tt.err)
			resp, _ := get(t, s.URL+"/x")
			if resp.StatusCode != tt.status {
				t.Errorf("status %d, want %d", resp.StatusCode, tt.status)
			}
			r := (*records)[0]
			if r.Status != tt.status || r.Type != tt.typ {
				t.Errorf("logged %d %s, want %d %s", r.Status, r.Type, tt.status, tt.typ)
			}
			if (r.Err != nil) != (tt.status == 500) {
				t.Errorf("logged error %v", r.Err)
			}
			if id := resp.Header.Get("x-amzn-requestid"); len(id) != 36 {
				t.Errorf("x-amzn-RequestId is %q", id)
			}
		})
	}
}

func TestAuthorizerFaultsStayInside(t *testing.T) {
	panics := func(context.Context, json.RawMessage) (any, error) { panic("secret") }
	fails := func(context.Context, json.RawMessage) (any, error) { return nil, errors.New("secret") }
	hangs := func(ctx context.Context, _ json.RawMessage) (any, error) { <-ctx.Done(); return nil, ctx.Err() }
	for name, a := range map[string]Authorizer{"panic": panics, "error": fails, "timeout": hangs} {
		s, records := gateway(t, Options{Authorizer: a, Timeout: time.Millisecond}, nil, nil)
		resp, body := get(t, s.URL)
		if resp.StatusCode != 500 || body != `{"message":null}` {
			t.Errorf("%s: got %d %s", name, resp.StatusCode, body)
		}
		if (*records)[0].Err == nil {
			t.Errorf("%s: the cause is not logged", name)
		}
	}
}

// TestClientGoesAway: a Lambda function runs to its end whether or not somebody
// still waits for the answer, and what it charged is charged.
func TestClientGoesAway(t *testing.T) {
	entered, gone, result := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	g, err := New(Options{Authorizer: func(ctx context.Context, _ json.RawMessage) (any, error) {
		close(entered)
		<-gone
		result <- ctx.Err()
		return allowAll(nil), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(context.Background())
	go g.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil).WithContext(ctx))
	<-entered
	leave()
	close(gone)
	if err := <-result; err != nil {
		t.Errorf("the authorizer's context ended with the client's: %v", err)
	}
}

func TestEcho(t *testing.T) {
	s, _ := gateway(t, Options{Resources: []string{"/v1/users/{id}"}}, allowAll(map[string]any{"tenant": "acme", "plan": "pro", "remaining": 7, "limited": false}), nil)
	resp, body := get(t, s.URL+"/v1/users/7?q=secret")
	if got := resp.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
	var got echo
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	if got.Method != "GET" || got.Path != "/v1/users/7" || got.Resource != "/v1/users/{id}" || got.Tenant != "acme" || got.Plan != "pro" {
		t.Errorf("echo is %+v", got)
	}
	if got.Authorizer["remaining"] != "7" || got.Authorizer["limited"] != "false" || got.Authorizer["principalId"] != "acme" {
		t.Errorf("context is %v", got.Authorizer)
	}
	if strings.Contains(body, "secret") {
		t.Error("the query is echoed")
	}
}

// TestEvent sends raw bytes, as clients may send what net/http would not.
func TestEvent(t *testing.T) {
	var event Event
	authorize := func(_ context.Context, raw json.RawMessage) (any, error) {
		return allowAll(nil), json.Unmarshal(raw, &event)
	}
	now := time.Date(2026, 11, 30, 21, 0, 0, 0, time.UTC)
	s, _ := gateway(t, Options{
		Authorizer:     authorize,
		Resources:      []string{"/v1/users/{id}/follow"},
		SourceIPHeader: "X-Test-Ip",
		Now:            func() time.Time { return now },
	}, nil, nil)
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /v1/users/a%%20b/follow?x=1&x=2&y= HTTP/1.1\r\nHost: api.example.test\r\n"+
		"x-api-key: one\r\nX-API-KEY: two\r\nX-Test-Ip: 2001:db8::7\r\nX-Forwarded-For: 203.0.113.1\r\nContent-Length: 2\r\n\r\nhi")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%v %v", resp, err)
	}
	check := func(what string, got, want any) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	check("type", event.Type, "REQUEST")
	check("methodArn", event.MethodARN, "arn:aws:execute-api:us-east-1:123456789012:weirdev000/dev/POST/v1/users/a%20b/follow")
	check("resource", event.Resource, "/v1/users/{id}/follow")
	check("path", event.Path, "/v1/users/a%20b/follow")
	check("pathParameters", event.PathParameters, map[string]string{"id": "a b"})
	check("headers[X-Api-Key]", event.Headers["X-Api-Key"], "two")
	check("multiValueHeaders[X-Api-Key]", event.MultiValueHeaders["X-Api-Key"], []string{"one", "two"})
	check("Host", event.Headers["Host"], "api.example.test")
	check("X-Forwarded-For", event.Headers["X-Forwarded-For"], "203.0.113.1, 2001:db8::7")
	check("query", event.QueryStringParameters, map[string]string{"x": "2", "y": ""})
	check("multi query", event.MultiValueQueryStringParameters["x"], []string{"1", "2"})
	c := event.RequestContext
	check("sourceIp", c.Identity.SourceIP, "2001:db8::7")
	check("resourcePath", c.ResourcePath, event.Resource)
	check("httpMethod", c.HTTPMethod, "POST")
	check("requestTime", c.RequestTime, "30/Nov/2026:21:00:00 +0000")
	check("requestTimeEpoch", c.RequestTimeEpoch, now.UnixMilli())
	check("domainName", c.DomainName, "api.example.test")
	check("requestId", c.RequestID, resp.Header.Get("x-amzn-requestid"))
	if _, ok := event.Headers["X-Test-Ip"]; ok {
		t.Error("the authorizer sees the stand-in for the address")
	}
}

// TestSourceIPHeaderIsOptIn: without the option nobody can pretend to be
// somewhere else.
func TestSourceIPHeaderIsOptIn(t *testing.T) {
	var event Event
	s, _ := gateway(t, Options{Authorizer: func(_ context.Context, raw json.RawMessage) (any, error) {
		return allowAll(nil), json.Unmarshal(raw, &event)
	}}, nil, nil)
	r, _ := http.NewRequest("GET", s.URL, nil)
	r.Header.Set("X-Forwarded-For", "198.51.100.1")
	r.Header.Set("X-Test-Ip", "198.51.100.1")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := event.RequestContext.Identity.SourceIP; got != "127.0.0.1" {
		t.Errorf("sourceIp is %s", got)
	}
}

func TestRefusedBeforeTheAuthorizer(t *testing.T) {
	calls := 0
	s, _ := gateway(t, Options{Authorizer: func(context.Context, json.RawMessage) (any, error) {
		calls++
		return allowAll(nil), nil
	}}, nil, nil)
	long := "/" + strings.Repeat("x", maxMethodARN)
	tests := []struct {
		method, path string
		length       int64
		status       int
	}{
		{"TRACE", "/", 0, 403},
		{"PROPFIND", "/", 0, 403},
		{"GET", long, 0, 414},
		{"POST", "/", maxBody + 1, 413},
	}
	for _, tt := range tests {
		conn, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", tt.method, tt.path, tt.length)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != tt.status {
			t.Errorf("%s %.10s: status %d, want %d", tt.method, tt.path, resp.StatusCode, tt.status)
		}
	}
	if calls != 0 {
		t.Errorf("the authorizer was called %d times", calls)
	}
}

func TestChunkedBodyIsBounded(t *testing.T) {
	s, _ := gateway(t, Options{}, allowAll(nil), nil)
	body := io.LimitReader(zeros{}, maxBody+1)
	resp, err := http.Post(s.URL, "text/plain", io.NopCloser(body)) // of unknown length: chunked
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 413 {
		t.Errorf("status %d, want 413", resp.StatusCode)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestHeaderCasing: names go out as the template writes them.
func TestHeaderCasing(t *testing.T) {
	tpl := parse(t, api("ACCESS_DENIED:\n  StatusCode: 429\n  ResponseParameters:\n    Headers:\n      X-RateLimit-Limit: context.authorizer.limit\n      content-type: \"'application/problem+json'\"\n      X-AMZN-ERRORTYPE: \"'Mine'\""))
	s, _ := gateway(t, Options{Template: tpl}, deny(map[string]any{"limit": 5}), nil)
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	raw, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"HTTP/1.1 429", "\r\nX-RateLimit-Limit: 5\r\n", "\r\nContent-Type: application/problem+json\r\n", "\r\nx-amzn-RequestId: "} {
		if !strings.Contains(string(raw), line) {
			t.Errorf("no %q in\n%s", line, raw)
		}
	}
	for _, name := range []string{"content-type:", "x-amzn-errortype:"} {
		if n := strings.Count(strings.ToLower(string(raw)), name); n != 1 {
			t.Errorf("%d times %s in\n%s", n, name, raw)
		}
	}
}

func TestServeShutsDownInOrder(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-release
		fmt.Fprint(w, "done")
	})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, ln, h) }()
	answered := make(chan string, 1)
	go func() {
		resp, err := http.Get("http://" + ln.Addr().String())
		if err != nil {
			answered <- err.Error()
			return
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		answered <- string(b)
	}()
	<-entered
	stop()
	close(release)
	if got := <-answered; got != "done" {
		t.Errorf("the request in flight got %q", got)
	}
	if err := <-served; err != nil {
		t.Errorf("Serve = %v", err)
	}
	if _, err := net.Dial("tcp", ln.Addr().String()); err == nil {
		t.Error("still listening")
	}
}

func TestServeReportsAClosedListener(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	if err := Serve(context.Background(), ln, http.NotFoundHandler()); err == nil {
		t.Error("Serve on a closed listener returned nil")
	}
}

func TestNewNeedsAnAuthorizer(t *testing.T) {
	if _, err := New(Options{}); err == nil {
		t.Error("New without an authorizer succeeded")
	}
}

// TestConcurrent is for the race detector.
func TestConcurrent(t *testing.T) {
	s, records := gateway(t, Options{}, allowAll(map[string]any{"tenant": "acme"}), nil)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				resp, err := http.Get(s.URL + "/x")
				if err != nil {
					t.Error(err)
					return
				}
				resp.Body.Close()
			}
		})
	}
	wg.Wait()
	if n := len(*records); n != 160 {
		t.Errorf("%d records, want 160", n)
	}
	if i := slices.IndexFunc(*records, func(r Record) bool { return r.Status != 200 }); i >= 0 {
		t.Errorf("a request got %d", (*records)[i].Status)
	}
}
