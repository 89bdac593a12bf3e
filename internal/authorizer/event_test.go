package authorizer

import (
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/internal/request"
)

const eventsDir = "../../events"

// eventNames returns the names of all files in events/ that are an API Gateway's,
// without .json. The others, reconciler-*, are not for an authorizer.
func eventNames(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(eventsDir, "apigw-*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no events in %s: %v", eventsDir, err)
	}
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = strings.TrimSuffix(filepath.Base(p), ".json")
	}
	return names
}

func readEvent(t testing.TB, name string) json.RawMessage {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(eventsDir, name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The kinds of events by the start of their files' names, longest first.
var eventKinds = []struct {
	prefix    string
	kind      request.Kind
	typ       string
	version   string
	eventType string
}{
	{"apigw-custom-auth-request-type-request", request.RESTRequest, "REQUEST", "", ""},
	{"apigw-custom-auth-request", request.RESTToken, "TOKEN", "", ""},
	{"apigw-v2-custom-authorizer-v2-request", request.HTTPv2, "REQUEST", "2.0", ""},
	{"apigw-v2-custom-authorizer-v1-request", request.HTTPv1, "REQUEST", "1.0", ""},
	{"apigw-websocket-custom-authorizer-request", request.WebSocket, "REQUEST", "", "CONNECT"},
	{"apigw-v2-request-not-an-authorizer", 0, "", "2.0", ""},
}

// TestEventsAreWhatTheyAreNamed says that a file has the type and version in its
// name, so that a payload of another version cannot stand in for it.
func TestEventsAreWhatTheyAreNamed(t *testing.T) {
	for _, name := range eventNames(t) {
		var e struct {
			Type           string
			Version        string
			RequestContext struct{ EventType string }
		}
		raw := readEvent(t, name)
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		known := false
		for _, k := range eventKinds {
			if !strings.HasPrefix(name, k.prefix) {
				continue
			}
			known = true
			if e.Type != k.typ || e.Version != k.version || e.RequestContext.EventType != k.eventType {
				t.Errorf("%s: type %q, version %q, eventType %q; want %q, %q, %q", name, e.Type, e.Version, e.RequestContext.EventType, k.typ, k.version, k.eventType)
			}
			got, err := parse(raw)
			if got.Kind != k.kind || (err != nil) != (k.kind == 0) {
				t.Errorf("%s: parsed as kind %d, %v; want %d", name, got.Kind, err, k.kind)
			}
			break
		}
		if !known {
			t.Errorf("%s: no kind of event has this name", name)
		}
	}
}

func TestParse(t *testing.T) {
	const restARN = "arn:aws:execute-api:us-east-1:123456789012:a1b2c3d4e5/dev/GET/v1/users/42"
	v4, v6 := netip.MustParseAddr("203.0.113.7"), netip.MustParseAddr("2001:db8:85a3:1:2:8a2e:370:7334")
	tests := []struct {
		event string
		want  request.Request
		key   []string // values of x-api-key
	}{
		{
			"apigw-custom-auth-request-type-request",
			request.Request{Kind: request.RESTRequest, ID: "c6af9ac6-7b61-11e6-9a41-93e8deadbeef", Method: "GET", Path: "/v1/users/42", Resource: "/v1/users/{id}", IP: v4, ARN: restARN},
			[]string{"acme-dev-key-1"},
		},
		{
			"apigw-custom-auth-request-type-request-ipv6",
			request.Request{Kind: request.RESTRequest, ID: "c6af9ac6-7b61-11e6-9a41-93e8deadbeef", Method: "GET", Path: "/v1/users/42", Resource: "/v1/users/{id}", IP: v6, ARN: restARN},
			[]string{"acme-dev-key-1"},
		},
		{
			"apigw-custom-auth-request-type-request-path-like-websocket",
			request.Request{Kind: request.RESTRequest, ID: "c6af9ac6-7b61-11e6-9a41-93e8deadbeef", Method: "GET", Path: "/files/$connect", Resource: "/{proxy+}", IP: v4, ARN: "arn:aws:execute-api:us-east-1:123456789012:a1b2c3d4e5/dev/GET/files/$connect"},
			[]string{"acme-dev-key-1"},
		},
		{
			"apigw-custom-auth-request-bearer",
			request.Request{Kind: request.RESTToken, Method: "GET", Path: "/v1/users/42", Resource: "/v1/users/42", Token: "acme-dev-key-1", ARN: restARN},
			nil,
		},
		{
			"apigw-v2-custom-authorizer-v2-request",
			request.Request{Kind: request.HTTPv2, ID: "JKJaXmPLvHcESHA=", Method: "GET", Path: "/v1/users/42", Resource: "/v1/users/{id}", IP: v4, ARN: "arn:aws:execute-api:us-east-1:123456789012:h1i2j3k4l5/$default/GET/v1/users/42"},
			[]string{"acme-dev-key-1"},
		},
		{
			"apigw-v2-custom-authorizer-v2-request-default-route",
			request.Request{Kind: request.HTTPv2, ID: "JKJaXmPLvHcESHA=", Method: "GET", Path: "/v1/other", Resource: "$default", IP: v4, ARN: "arn:aws:execute-api:us-east-1:123456789012:h1i2j3k4l5/dev/GET/v1/other"},
			[]string{"acme-dev-key-1"},
		},
		{
			"apigw-v2-custom-authorizer-v1-request",
			request.Request{Kind: request.HTTPv1, ID: "JKJaXmPLvHcESHA=", Method: "GET", Path: "/v1/users/42", Resource: "/v1/users/{id}", IP: v4, ARN: "arn:aws:execute-api:us-east-1:123456789012:h1i2j3k4l5/$default/GET/v1/users/42"},
			[]string{"acme-dev-key-1"},
		},
		{
			"apigw-websocket-custom-authorizer-request",
			request.Request{Kind: request.WebSocket, ID: "U8Kz9Fo9oAMFsGw=", Resource: "$connect", IP: v4, ARN: "arn:aws:execute-api:us-east-1:123456789012:w1x2y3z4a5/dev/$connect"},
			[]string{"acme-dev-key-1"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.event, func(t *testing.T) {
			got, err := parse(readEvent(t, tt.event))
			if err != nil {
				t.Fatal(err)
			}
			if key := got.Headers["x-api-key"]; strings.Join(key, "|") != strings.Join(tt.key, "|") {
				t.Errorf("x-api-key: got %q, want %q", key, tt.key)
			}
			headers := got.Headers
			got.Headers = nil
			if g, w := toJSON(t, got), toJSON(t, tt.want); g != w {
				t.Errorf("got  %s\nwant %s", g, w)
			}
			for name := range headers {
				if name != strings.ToLower(name) {
					t.Errorf("header %q is not in lower case", name)
				}
			}
		})
	}
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestParseOddEvents(t *testing.T) {
	tests := []struct {
		name string
		raw  string
		want request.Kind // 0 for none
	}{
		{"null", `null`, 0},
		{"a string", `"REQUEST"`, 0},
		{"an array", `[{"type":"REQUEST"}]`, 0},
		{"nothing", ``, 0},
		{"cut off", `{"type":"REQUEST"`, 0},
		{"empty", `{}`, 0},
		{"version of the future", `{"type":"REQUEST","version":"3.0"}`, 0},
		{"lower-case type", `{"type":"request"}`, 0},
		{"nothing but a type", `{"type":"REQUEST"}`, request.RESTRequest},
		{"null headers", `{"type":"REQUEST","headers":null,"multiValueHeaders":null,"requestContext":null}`, request.RESTRequest},
		{"fields of other types", `{"type":"REQUEST","headers":7,"multiValueHeaders":{"a":"b"},"requestContext":[],"path":{}}`, request.RESTRequest},
		{"no event type", `{"type":"REQUEST","methodArn":"arn:aws:execute-api:us-east-1:1:api/dev/$connect"}`, request.WebSocket},
		{"verb in the ARN", `{"type":"REQUEST","httpMethod":"GET","methodArn":"arn:aws:execute-api:us-east-1:1:api/dev/GET/$connect"}`, request.RESTRequest},
		{"a TOKEN event for a path like WebSocket's", `{"type":"TOKEN","methodArn":"arn:aws:execute-api:us-east-1:1:api/dev/GET/$connect"}`, request.RESTToken},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parse([]byte(tt.raw))
			if got.Kind != tt.want || (err != nil) != (tt.want == 0) {
				t.Errorf("got kind %d, %v; want %d", got.Kind, err, tt.want)
			}
		})
	}
}

func TestParseARN(t *testing.T) {
	tests := []struct {
		arn          string
		method, path string
	}{
		{"arn:aws:execute-api:us-east-1:1:api/dev/GET/v1/users/42", "GET", "/v1/users/42"},
		{"arn:aws:execute-api:us-east-1:1:api/dev/get/", "GET", "/"},
		{"arn:aws:execute-api:us-east-1:1:api/dev/GET", "GET", "/"},
		{"arn:aws-cn:execute-api:cn-north-1:1:api/dev/POST/a:b//c", "POST", "/a:b//c"},
		{"arn:aws:execute-api:us-east-1:1:api/dev", "", ""},
		{"arn:aws:execute-api", "", ""},
		{"", "", ""},
	}
	for _, tt := range tests {
		if got := parseARN(tt.arn); got.method != tt.method || got.path != tt.path {
			t.Errorf("%q: got %+v, want %q %q", tt.arn, got, tt.method, tt.path)
		}
	}
}

func TestBearer(t *testing.T) {
	tests := []struct{ token, want string }{
		{"key", "key"},
		{"Bearer key", "key"},
		{"bearer  key ", "key"},
		{" key\t", "key"},
		{"Bearerkey", "Bearerkey"},
		{"Bearer", "Bearer"},
		{"Basic key", "Basic key"},
		{"", ""},
	}
	for _, tt := range tests {
		if got := bearer(tt.token); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.token, got, tt.want)
		}
	}
}

func TestWithoutStage(t *testing.T) {
	tests := []struct{ path, stage, want string }{
		{"/dev/users", "dev", "/users"},
		{"/dev", "dev", "/"},
		{"/developers", "dev", "/developers"},
		{"/users", "dev", "/users"},
		{"/$default/users", "$default", "/$default/users"},
		{"/users", "", "/users"},
	}
	for _, tt := range tests {
		if got := withoutStage(tt.path, tt.stage); got != tt.want {
			t.Errorf("%q at stage %q: got %q, want %q", tt.path, tt.stage, got, tt.want)
		}
	}
}
