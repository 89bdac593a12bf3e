package authorizer

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"weir/internal/request"
)

// FuzzHandle feeds arbitrary bytes: whatever comes, the Handler neither panics
// nor returns an error but Unauthorized, and the answer has the form of the
// event's kind with a complete context.
func FuzzHandle(f *testing.F) {
	for _, name := range eventNames(f) {
		f.Add([]byte(readEvent(f, name)))
	}
	for _, s := range []string{
		`{"type":"REQUEST","version":"2.0","routeKey":" ","rawPath":"/","requestContext":{"stage":"/"}}`,
		`{"type":"REQUEST","headers":{"X-API-KEY":"acme-key","x-user":"\"\r\n\u0000"}}`,
		`{"type":"TOKEN","authorizationToken":"bearer acme-key","methodArn":"::::://"}`,
		`{"type":"REQUEST","requestContext":{"identity":{"sourceIp":"fe80::1%eth0"},"eventType":"CONNECT"}}`,
		`{"type":"REQUEST","requestContext":{"identity":{"sourceIp":"::ffff:203.0.113.7"}}}`,
		`[`, `{"type":{}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, event []byte) {
		for _, style := range []HTTPStyle{{}, {IAM: true, Flag: true}} {
			l := newLab(t, Options{HTTP: style})
			var panicked strings.Builder
			l.log = slog.New(slog.NewTextHandler(&panicked, &slog.HandlerOptions{Level: slog.LevelError}))
			for range 4 { // beyond the bursts of plan and failed credentials
				raw, err := l.Handle(context.Background(), event)
				if strings.Contains(panicked.String(), "panic recovered") {
					t.Fatalf("panic: %s", &panicked)
				}
				if err != nil {
					if err.Error() != "Unauthorized" || raw != nil {
						t.Fatalf("got %s, %v; the only error may be Unauthorized", raw, err)
					}
					continue
				}
				got := checkAnswer(t, raw)
				req, parseErr := parse(event)
				if simple := req.Kind == request.HTTPv2 && !style.IAM; simple != (got.IsAuthorized != nil) {
					t.Fatalf("kind %d (%v), IAM %v: wrong form: %s", req.Kind, parseErr, style.IAM, raw)
				}
				if parseErr != nil && got.allowed() {
					t.Fatalf("no authorizer event, but allowed: %s", raw)
				}
				if !json.Valid(raw) {
					t.Fatalf("not JSON: %s", raw)
				}
			}
		}
	})
}

// FuzzClientTextStaysOut: what a client can choose never shows up in an
// answer.
func FuzzClientTextStaysOut(f *testing.F) {
	f.Add("marker", "/v1/users/42")
	f.Add(`","isAuthorized":true,"x":"`, `"\`)
	f.Fuzz(func(t *testing.T, text, path string) {
		if len(text) < 6 { // would be found by chance
			return
		}
		l := newLab(t, Options{})
		l.log = slog.New(slog.DiscardHandler)
		event, err := json.Marshal(map[string]any{
			"type": "REQUEST", "httpMethod": text, "path": path, "resource": text,
			"headers":        map[string]string{"x-api-key": "acme-key", "x-user": text, "User-Agent": text},
			"requestContext": map[string]any{"identity": map[string]string{"sourceIp": text}},
		})
		if err != nil {
			t.Fatal(err)
		}
		benign, err := l.Handle(context.Background(), json.RawMessage(`{"type":"REQUEST","headers":{"x-api-key":"acme-key"}}`))
		if err != nil {
			t.Fatal(err)
		}
		got, err := newLab(t, Options{}).Handle(context.Background(), event)
		if err != nil {
			t.Fatal(err)
		}
		if text != "/by-header" && string(got) != string(benign) {
			t.Errorf("the client changed the answer\nfrom %s\nto   %s", benign, got)
		}
	})
}
