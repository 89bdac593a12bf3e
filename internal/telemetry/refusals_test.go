package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"weir/internal/telemetry/metric"
)

func observe(t *testing.T, level slog.Level, sample int) (*Observer, *bytes.Buffer) {
	t.Helper()
	var lines bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&lines, &slog.HandlerOptions{Level: level}))
	return NewObserver(ObserverOptions{Recorder: New(Options{}), Log: log, Sample: sample}), &lines
}

func refusal(now int64, tenant string) Decision {
	return Decision{Now: now, Tenant: tenant, Plan: "pro", Limit: "api", Reason: RateLimited, Source: Memory}
}

// invocation is the context of a Lambda invocation with a trace header.
func invocation(header any) context.Context {
	return context.WithValue(context.Background(), any(TraceHeaderKey), header)
}

// TestRefusalLine: a line says what is needed to find out more, and nothing that a
// client made up reaches the terminal of whoever reads it.
func TestRefusalLine(t *testing.T) {
	o, lines := observe(t, slog.LevelInfo, 0)
	d := refusal(t0, "acme\x1b[2J\"\u202e\n{")
	o.Answered(invocation("Root=1-6b0cd5a0-0123456789abcdef01234567;Parent=53995c3f42cd8ad8;Sampled=0"), nil, d, Detail{
		RequestID: "id\nlevel=ERROR", Scope: "tenant:ip", RetryAfter: "2",
		Method: "GET", Resource: "/v1/{proxy+}", IP: netip.MustParseAddr("2001:db8:1:2::3%eth0"),
	})
	if n := strings.Count(lines.String(), "\n"); n != 1 {
		t.Fatalf("%d lines: %s", n, lines)
	}
	var got map[string]any
	if err := json.Unmarshal(lines.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"level": "INFO", "msg": "request refused", "requestId": "id_level=ERROR", "traceId": "1-6b0cd5a0-0123456789abcdef01234567",
		"tenant": "acme_[2J_____{", "plan": "pro", "code": "rate_limited", "scope": "tenant:ip", "reason": "api", "retryAfter": "2", "source": "memory",
		"method": "GET", "resource": "/v1/{proxy+}", "network": "2001:db8:1::/48", "omitted": 0.0,
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}

// TestRefusalsAreSampled: of each tenant the first in an interval, and no more than
// so many lines a minute; whoever is left out is counted.
func TestRefusalsAreSampled(t *testing.T) {
	o, lines := observe(t, slog.LevelInfo, 3)
	now := t0
	send := func(n int, tenant string) int {
		lines.Reset()
		for range n {
			now += int64(time.Millisecond)
			o.Answered(context.Background(), nil, refusal(now, tenant), Detail{})
		}
		return strings.Count(lines.String(), "request refused")
	}
	if n := send(1000, "a"); n < 1 || n > 3 {
		t.Errorf("%d lines for a flood of one tenant, want one to three", n)
	}
	for i := range 20 {
		send(1, fmt.Sprint("b", i))
	}
	now = t0 + minute
	if n := send(1, "c"); n != 1 || strings.Contains(lines.String(), `"omitted":0`) {
		t.Errorf("a minute later: %d lines, %s; want one that says how many were omitted", n, lines)
	}
	lines.Reset()
	for _, r := range []Reason{OK, Unchecked, Unauthorized} {
		d := refusal(now+minute, "d")
		d.Reason = r
		o.Answered(context.Background(), nil, d, Detail{})
	}
	if lines.Len() > 0 {
		t.Errorf("what is no refusal is logged: %s", lines)
	}
}

// TestOneFlood: a flood of one tenant is a line in an interval, or one for each
// stripe, however many lines there may be.
func TestOneFlood(t *testing.T) {
	o, lines := observe(t, slog.LevelInfo, 1000)
	for i := range int64(10_000) {
		o.Answered(context.Background(), nil, refusal(t0+i*1_000_000, "a"), Detail{})
	}
	if n := strings.Count(lines.String(), "\n"); n < 1 || n > len(o.recorder.stripes) {
		t.Errorf("%d lines, want one to %d", n, len(o.recorder.stripes))
	}
}

func TestNoRefusalsInTheLog(t *testing.T) {
	o, lines := observe(t, slog.LevelInfo, -1)
	o.Answered(context.Background(), nil, refusal(t0, "a"), Detail{})
	if lines.Len() > 0 {
		t.Errorf("logged: %s", lines)
	}
}

// TestAllRefusalsAtDebug, and none above info.
func TestRefusalsByLevel(t *testing.T) {
	for level, want := range map[slog.Level]int{slog.LevelDebug: 50, slog.LevelWarn: 0} {
		o, lines := observe(t, level, 5)
		for i := range int64(50) {
			o.Answered(context.Background(), nil, refusal(t0+i, "a"), Detail{})
		}
		if n := strings.Count(lines.String(), "\n"); n != want {
			t.Errorf("%v: %d lines for 50 refusals, want %d", level, n, want)
		}
	}
}

func TestTraceID(t *testing.T) {
	for header, want := range map[any]string{
		"Root=1-6b0cd5a0-0123456789abcdef01234567;Parent=53995c3f42cd8ad8;Sampled=1": "1-6b0cd5a0-0123456789abcdef01234567",
		"Sampled=1; Root=1-6b0cd5a0-0123456789abcdef01234567":                        "1-6b0cd5a0-0123456789abcdef01234567",
		"Root=1-6b0cd5a0-0123456789ABCDEF01234567":                                   metric.NoName,
		"Root=1\n":    metric.NoName,
		"Self=1;Root": metric.NoName,
		"":            metric.NoName,
		7:             metric.NoName,
	} {
		if got := TraceID(invocation(header)); got != want {
			t.Errorf("%v: %q, want %q", header, got, want)
		}
	}
	for header, want := range map[string]bool{"Root=1;Sampled=1": true, "Sampled=1": true, "Root=1;Sampled=1;Lineage=a": true, "Root=1;Sampled=0": false, "Root=1;Sampled=?": false, "": false, "NotSampled=1": false} {
		if got := Sampled(header); got != want {
			t.Errorf("%q: sampled %t, want %t", header, got, want)
		}
	}
}

func TestMaskIP(t *testing.T) {
	for ip, want := range map[string]string{"203.0.113.7": "203.0.113.0/24", "::ffff:203.0.113.7": "203.0.113.0/24", "2001:db8:1:2::3": "2001:db8:1::/48"} {
		if got := maskIP(netip.MustParseAddr(ip)); got != want {
			t.Errorf("%s: %s, want %s", ip, got, want)
		}
	}
	if got := maskIP(netip.Addr{}); got != metric.NoName {
		t.Errorf("no address: %s", got)
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", " ", ":x", "acme", "a\"b\\c", "\x00\x7f\u202e", strings.Repeat("x", 200), "  \x01"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := clean(s)
		if got == "" || len(got) > maxText || got[0] == ':' || strings.TrimSpace(got) == "" {
			t.Errorf("%q becomes %q", s, got)
		}
		for i := range len(got) {
			if !plain(got[i]) {
				t.Errorf("%q becomes %q", s, got)
			}
		}
		if len(s) <= maxText && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz-") == "" && s != "" && got != s {
			t.Errorf("%q becomes %q", s, got)
		}
	})
}
