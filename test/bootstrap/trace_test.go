package bootstrap_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"weir/internal/testbootstrap"
)

const (
	traceID = "1-6b0cd5a0-0123456789abcdef01234567"
	parent  = "53995c3f42cd8ad8"
)

// subsegment is what X-Ray's daemon is sent, or a part of it.
type subsegment struct {
	Name, ID, Type, Namespace string
	TraceID                   string  `json:"trace_id"`
	ParentID                  string  `json:"parent_id"`
	StartTime                 float64 `json:"start_time"`
	EndTime                   float64 `json:"end_time"`
	Annotations               map[string]string
	AWS                       map[string]any
	HTTP                      struct{ Response struct{ Status int } }
	Subsegments               []subsegment
}

var segmentID = regexp.MustCompile(`^[0-9a-f]{16}$`)

// wellFormed checks what the documentation of segment documents asks for.
func (s *subsegment) wellFormed(t *testing.T) {
	t.Helper()
	if s.Name == "" || !segmentID.MatchString(s.ID) || s.StartTime < 1e9 || s.EndTime < s.StartTime || s.EndTime > float64(time.Now().Unix()+60) {
		t.Errorf("not well-formed: %+v", s)
	}
	for i := range s.Subsegments {
		s.Subsegments[i].wellFormed(t)
	}
}

// daemon listens where X-Ray's daemon would.
func daemon(t *testing.T) *net.UDPConn {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// sent returns the next document that the daemon is sent, nil if there is none.
func sent(t *testing.T, conn *net.UDPConn, within time.Duration) *subsegment {
	t.Helper()
	buf := make([]byte, 64<<10)
	if err := conn.SetReadDeadline(time.Now().Add(within)); err != nil {
		t.Fatal(err)
	}
	n, err := conn.Read(buf)
	if os.IsTimeout(err) {
		return nil
	} else if err != nil {
		t.Fatal(err)
	}
	header, body, _ := bytes.Cut(buf[:n], []byte("\n"))
	if string(header) != `{"format": "json", "version": 1}` {
		t.Fatalf("not for the daemon: %s", buf[:n])
	}
	var s subsegment
	if err := json.Unmarshal(body, &s); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return &s
}

func traced(t *testing.T, f *testbootstrap.Traced, event []byte, sampled int) {
	t.Helper()
	header := fmt.Sprintf("Root=%s;Parent=%s;Sampled=%d", traceID, parent, sampled)
	if r, err := f.InvokeTraced(t.Context(), event, header); err != nil || r.Err != "" {
		t.Fatalf("%v, %s\n%s", err, r.Err, f.Log())
	}
}

// TestTraces: of a sampled request X-Ray's daemon is sent what it came to and the
// calls that it made; of others nothing.
func TestTraces(t *testing.T) {
	conn := daemon(t)
	env := append(dynamoDB(t, plansFile(t, slowPlans)), "AWS_XRAY_DAEMON_ADDRESS="+conn.LocalAddr().String())
	f := testbootstrap.StartTraced(t, bootstrap, env...)
	good := event(t, "apigw-custom-auth-request-type-request")

	traced(t, f, good, 0)
	if s := sent(t, conn, 300*time.Millisecond); s != nil {
		t.Fatalf("a request that is not sampled is traced: %+v", s)
	}
	for i, want := range []struct {
		outcome, reason string
		calls           []string // at least, in any order
	}{
		{"allowed", "ok", []string{"UpdateItem"}},
		{"allowed", "ok", nil}, {"allowed", "ok", nil}, {"allowed", "ok", nil},
		{"refused", "rate_limited", nil},
	} {
		traced(t, f, good, 1)
		s := sent(t, conn, 5*time.Second)
		if s == nil {
			t.Fatalf("request %d: nothing was sent\n%s", i, f.Log())
		}
		s.wellFormed(t)
		if s.Name != "decide" || s.Type != "subsegment" || s.TraceID != traceID || s.ParentID != parent {
			t.Errorf("request %d: not below Lambda's segment: %+v", i, s)
		}
		for k, v := range map[string]string{"tenant": "acme", "plan": "small", "limit": "api", "outcome": want.outcome, "reason": want.reason} {
			if s.Annotations[k] != v {
				t.Errorf("request %d: annotation %s is %q, want %q", i, k, s.Annotations[k], v)
			}
		}
		if src, called := s.Annotations["source"], len(s.Subsegments) > 0; src != "store" && src != "memory" || called && src == "memory" && i == 0 {
			t.Errorf("request %d: source %q with %d calls", i, src, len(s.Subsegments))
		}
		var operations []string
		for _, c := range s.Subsegments {
			op, _ := c.AWS["operation"].(string)
			operations = append(operations, op)
			if c.Name != "DynamoDB" || c.Namespace != "aws" || c.AWS["region"] != region || c.HTTP.Response.Status == 0 {
				t.Errorf("request %d: not a call: %+v", i, c)
			}
		}
		for _, op := range want.calls {
			if !strings.Contains(fmt.Sprint(operations), op) {
				t.Errorf("request %d: calls %v, want %v among them", i, operations, want.calls)
			}
		}
	}
	if log := f.Log(); strings.Contains(strings.ToLower(log), "xray") || strings.Contains(log, "Emitter") {
		t.Errorf("tracing is not quiet:\n%s", log)
	}
}

// TestTracesWithoutDaemon: nobody listens, nothing is configured, or it is turned
// off: requests are served, and nothing is said about it.
func TestTracesWithoutDaemon(t *testing.T) {
	conn := daemon(t)
	addr := conn.LocalAddr().String()
	for name, env := range map[string][]string{
		"nobody listens": {"AWS_XRAY_DAEMON_ADDRESS=127.0.0.1:9"},
		"turned off":     {"AWS_XRAY_DAEMON_ADDRESS=" + addr, "AWS_XRAY_SDK_DISABLED=TRUE"},
		"strict context": {"AWS_XRAY_DAEMON_ADDRESS=127.0.0.1:9", "AWS_XRAY_CONTEXT_MISSING=RUNTIME_ERROR"},
	} {
		t.Run(name, func(t *testing.T) {
			f := testbootstrap.StartTraced(t, bootstrap, append(dynamoDB(t, plansFile(t, slowPlans)), env...)...)
			good := event(t, "apigw-custom-auth-request-type-request")
			for range 3 {
				traced(t, f, good, 1)
			}
			if _, err := f.InvokeTraced(t.Context(), good, ""); err != nil {
				t.Fatal(err)
			}
			f.Stop()
			if log := f.Log(); strings.Contains(strings.ToLower(log), "xray") || strings.Contains(log, "panic") || strings.Contains(log, "refused") && strings.Contains(log, "udp") {
				t.Errorf("it is not quiet:\n%s", log)
			}
		})
	}
	if s := sent(t, conn, 100*time.Millisecond); s != nil {
		t.Errorf("it is turned off, and sent %+v", s)
	}
}
