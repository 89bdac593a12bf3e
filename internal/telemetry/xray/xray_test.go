package xray

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	sdk "github.com/aws/aws-xray-sdk-go/v2/xray"

	"weir/internal/telemetry"
)

const (
	traceID = "1-6b0cd5a0-0123456789abcdef01234567"
	parent  = "53995c3f42cd8ad8"
)

// lambdaContext is that of an invocation.
func lambdaContext(sampled string) context.Context {
	//lint:ignore SA1029 the key is aws-lambda-go's
	return context.WithValue(context.Background(), telemetry.TraceHeaderKey, "Root="+traceID+";Parent="+parent+";Sampled="+sampled) //nolint:staticcheck
}

// daemon is where subsegments are sent.
type daemon struct {
	t    testing.TB
	conn *net.UDPConn
}

func newDaemon(t testing.TB) *daemon {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := sdk.Configure(sdk.Config{DaemonAddr: conn.LocalAddr().String()}); err != nil {
		t.Fatal(err)
	}
	return &daemon{t, conn}
}

// next returns the next document, nil if none comes in time.
func (d *daemon) next(within time.Duration) *document {
	d.t.Helper()
	buf := make([]byte, 64<<10)
	if err := d.conn.SetReadDeadline(time.Now().Add(within)); err != nil {
		d.t.Fatal(err)
	}
	n, err := d.conn.Read(buf)
	if os.IsTimeout(err) {
		return nil
	} else if err != nil {
		d.t.Fatal(err)
	}
	header, body, ok := bytes.Cut(buf[:n], []byte("\n"))
	if !ok || string(header) != `{"format": "json", "version": 1}` {
		d.t.Fatalf("not for the daemon: %s", buf[:n])
	}
	var doc document
	if err := json.Unmarshal(body, &doc); err != nil {
		d.t.Fatalf("%v: %s", err, body)
	}
	return &doc
}

type document struct {
	Name, ID, Type string
	TraceID        string  `json:"trace_id"`
	ParentID       string  `json:"parent_id"`
	StartTime      float64 `json:"start_time"`
	EndTime        float64 `json:"end_time"`
	Annotations    map[string]string
	Namespace      string
	AWS            map[string]any
	HTTP           struct{ Response struct{ Status int } }
	Subsegments    []document
}

var hex16 = regexp.MustCompile(`^[0-9a-f]{16}$`)

func (d *document) check(t testing.TB, name string) {
	t.Helper()
	if d.Name != name || !hex16.MatchString(d.ID) || d.StartTime <= 0 || d.EndTime < d.StartTime {
		t.Errorf("not a subsegment %s: %+v", name, d)
	}
}

// table answers every call as DynamoDB does one that updates nothing.
func table(t testing.TB, seen *http.Header) *dynamodb.Client {
	t.Helper()
	var mu sync.Mutex
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		*seen = r.Header.Clone()
		mu.Unlock()
		w.Header().Set("X-Amzn-RequestId", "REQ")
		io.WriteString(w, "{}")
	}))
	t.Cleanup(s.Close)
	cfg := aws.Config{Region: "eu-west-1", BaseEndpoint: &s.URL, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")}
	if err := Instrument(&cfg.APIOptions); err != nil {
		t.Fatal(err)
	}
	return dynamodb.NewFromConfig(cfg)
}

func open(t testing.TB) (telemetry.Tracer, *bytes.Buffer) {
	t.Helper()
	var lines bytes.Buffer
	tr := Open(func(string) string { return "" }, slog.New(slog.NewJSONHandler(&lines, nil)))
	if tr == nil {
		t.Fatal("no tracer")
	}
	return tr, &lines
}

var decision = telemetry.Decision{Tenant: "acme\x1b[2J", Plan: "pro", Limit: "api", Reason: telemetry.RateLimited, Source: telemetry.Store}

func call(t testing.TB, ctx context.Context, c *dynamodb.Client) {
	t.Helper()
	if _, err := c.ListTables(ctx, &dynamodb.ListTablesInput{}); err != nil {
		t.Error(err)
	}
}

// TestSampled: a sampled request is a subsegment with annotations, and its calls
// are below it, marked for whoever is called.
func TestSampled(t *testing.T) {
	d := newDaemon(t)
	tr, lines := open(t)
	var header http.Header
	client := table(t, &header)
	ctx, s := tr.Begin(lambdaContext("1"))
	call(t, ctx, client)
	s.End(&decision)

	doc := d.next(5 * time.Second)
	if doc == nil {
		t.Fatal("nothing was sent")
	}
	doc.check(t, segmentName)
	if doc.TraceID != traceID || doc.ParentID != parent || doc.Type != "subsegment" {
		t.Errorf("not below Lambda's segment: %+v", doc)
	}
	want := map[string]string{"tenant": "acme_[2J", "plan": "pro", "limit": "api", "outcome": "refused", "reason": "rate_limited", "source": "store"}
	if fmt.Sprint(doc.Annotations) != fmt.Sprint(want) {
		t.Errorf("annotations %v, want %v", doc.Annotations, want)
	}
	if len(doc.Subsegments) != 1 {
		t.Fatalf("%d subsegments, want one", len(doc.Subsegments))
	}
	sub := doc.Subsegments[0]
	sub.check(t, "DynamoDB")
	if sub.Namespace != "aws" || sub.AWS["operation"] != "ListTables" || sub.AWS["region"] != "eu-west-1" || sub.HTTP.Response.Status != 200 {
		t.Errorf("not a call: %+v", sub)
	}
	if h := header.Get("X-Amzn-Trace-Id"); !strings.Contains(h, "Root="+traceID) || !strings.Contains(h, "Parent="+sub.ID) || !strings.Contains(h, "Sampled=1") {
		t.Errorf("the call says %q", h)
	}
	if lines.Len() > 0 {
		t.Errorf("it is not quiet: %s", lines)
	}
}

// TestNotSampled: nothing is sent, and the SDK is not called.
func TestNotSampled(t *testing.T) {
	d := newDaemon(t)
	tr, lines := open(t)
	var header http.Header
	client := table(t, &header)
	for name, ctx := range map[string]context.Context{
		"not sampled": lambdaContext("0"), "undecided": lambdaContext("?"), "no header": context.Background(),
		//lint:ignore SA1029 the key is aws-lambda-go's
		"no text": context.WithValue(context.Background(), telemetry.TraceHeaderKey, 7), //nolint:staticcheck
	} {
		got, s := tr.Begin(ctx)
		if s != nil || got != ctx {
			t.Errorf("%s: it is traced", name)
		}
		call(t, got, client)
		if h := header.Get("X-Amzn-Trace-Id"); h != "" {
			t.Errorf("%s: the call says %q", name, h)
		}
	}
	if doc := d.next(50 * time.Millisecond); doc != nil {
		t.Errorf("sent: %+v", doc)
	}
	if lines.Len() > 0 {
		t.Errorf("it is not quiet: %s", lines)
	}
	tr0 := testing.AllocsPerRun(100, func() { tr.Begin(lambda0) })
	if tr0 != 0 {
		t.Errorf("%v allocations for a request that is not sampled", tr0)
	}
}

var lambda0 = lambdaContext("0")

// TestDisabled: the environment turns it off.
func TestDisabled(t *testing.T) {
	for _, v := range []string{"true", "TRUE"} {
		if Open(func(name string) string {
			if name == "AWS_XRAY_SDK_DISABLED" {
				return v
			}
			return ""
		}, slog.Default()) != nil {
			t.Errorf("AWS_XRAY_SDK_DISABLED=%s: there is a tracer", v)
		}
	}
}

// TestNoDaemon: what cannot be sent is nobody's problem.
func TestNoDaemon(t *testing.T) {
	d := newDaemon(t)
	d.conn.Close()
	tr, lines := open(t)
	var header http.Header
	client := table(t, &header)
	for range 3 { // the system says so with the second write
		ctx, s := tr.Begin(lambdaContext("1"))
		call(t, ctx, client)
		s.End(&decision)
	}
	if lines.Len() > 0 {
		t.Errorf("it is not quiet: %s", lines)
	}
}

// TestConcurrent: requests that are served at a time do not get into each other's
// traces.
func TestConcurrent(t *testing.T) {
	d := newDaemon(t)
	tr, _ := open(t)
	var header http.Header
	client := table(t, &header)
	const requests, calls = 20, 3
	var wg sync.WaitGroup
	for i := range requests {
		wg.Go(func() {
			ctx, s := tr.Begin(lambdaContext(fmt.Sprint(i % 2)))
			var each sync.WaitGroup
			for range calls { // the limits of a request are charged side by side
				each.Go(func() { call(t, ctx, client) })
			}
			each.Wait()
			if s != nil {
				e := decision
				e.Tenant = fmt.Sprint("t-", i)
				s.End(&e)
			}
		})
	}
	wg.Wait()
	seen := make(map[string]bool)
	for range requests / 2 {
		doc := d.next(5 * time.Second)
		if doc == nil {
			t.Fatalf("%d documents, want %d", len(seen), requests/2)
		}
		if doc.check(t, segmentName); len(doc.Subsegments) != calls {
			t.Errorf("%d subsegments, want %d", len(doc.Subsegments), calls)
		}
		seen[doc.Annotations["tenant"]] = true
	}
	if len(seen) != requests/2 {
		t.Errorf("traces of %v", seen)
	}
}

// BenchmarkBegin is what tracing costs a decision.
func BenchmarkBegin(b *testing.B) {
	tr := Open(func(string) string { return "" }, slog.New(slog.DiscardHandler))
	for _, sampled := range []string{"0", "1"} {
		b.Run("sampled="+sampled, func(b *testing.B) {
			ctx := lambdaContext(sampled)
			b.ReportAllocs()
			for b.Loop() {
				if _, s := tr.Begin(ctx); s != nil {
					s.End(&decision)
				}
			}
		})
	}
}
