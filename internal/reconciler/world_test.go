package reconciler

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"weir/internal/directory"
	"weir/internal/plan"
	"weir/internal/testengine"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

const here, there = "eu-west-1", "us-east-1"

// t0 is a time: 2026-12-01T12:00:00Z.
const t0 = int64(1_796_126_400_000_000_000)

func limitOf(t testing.TB, perSecond, burst int64) bucket.Limit {
	t.Helper()
	l, err := bucket.NewLimit(bucket.Rate{Count: perSecond, Period: time.Second}, burst)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// world is the tables of one Region, and a reconciler on them whose clock stands
// still until a test moves it.
type world struct {
	t      testing.TB
	client *dynamodb.Client
	config *ddbstore.Config
	rows   *ddbstore.Store
	strict *ddbstore.Store
	clock  atomic.Int64
	log    *strings.Builder
	tables struct{ buckets, config, strict string }
	seen   *recorder
	*Reconciler
}

// recorder is an Observer that a test looks at.
type recorder struct {
	mu      sync.Mutex
	batches []Batch
	applied []Applied
	reports []Report
}

func (r *recorder) Batch(b Batch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches = append(r.batches, b)
}

func (r *recorder) Applied(a Applied) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.applied = append(r.applied, a)
}

func (r *recorder) Scheduled(o Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reports = append(r.reports, o)
}

// rowsChanged returns how many rows all changes together have changed so far.
func (r *recorder) rowsChanged() (n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.applied {
		n += a.Rows.Changed
	}
	return n
}

var worlds atomic.Int64

// newWorld creates tables nobody has used yet. change, if not nil, changes the
// reconciler's options.
func newWorld(t testing.TB, change func(*Options)) *world {
	t.Helper()
	client := testengine.Start(t).Client(here)
	n := worlds.Add(1)
	buckets, config, strict := fmt.Sprint("buckets-", n), fmt.Sprint("config-", n), fmt.Sprint("strict-", n)
	if err := ddbstore.CreateTables(t.Context(), client, buckets, config); err != nil {
		t.Fatal(err)
	}
	if err := ddbstore.CreateStrictTable(t.Context(), client, strict); err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, client: client, log: new(strings.Builder), seen: new(recorder),
		config: ddbstore.NewConfig(client, config).Consistent().In(here),
		rows:   ddbstore.New(client, buckets, here), strict: ddbstore.NewStrict(client, strict),
	}
	w.tables.buckets, w.tables.config, w.tables.strict = buckets, config, strict
	w.clock.Store(t0)
	o := Options{
		Region: here, Regions: []string{here, there}, Config: w.config, Source: directory.FromTable(w.config), Rows: w.rows, Strict: w.strict,
		Grace: 5 * time.Second, Now: w.clock.Load, Log: slog.New(slog.NewJSONHandler(w.log, nil)), Observer: w.seen,
		Sweep: func(ctx context.Context, now int64) (int, error) { return ddbstore.Sweep(ctx, client, strict, now) },
	}
	if change != nil {
		change(&o)
	}
	w.Reconciler = New(o)
	return w
}

func (w *world) pass(d time.Duration) { w.clock.Add(int64(d)) }

func (w *world) change() ddbstore.Change {
	return ddbstore.Change{Author: "test", Reason: "test", At: w.now()}
}

// body is a plan's body as it is stored.
func body(t testing.TB, limits string) string {
	t.Helper()
	p, err := plan.ParsePlan("p", []byte(`{"limits":`+limits+`}`))
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// api is the body of a plan with one limit.
func api(t testing.TB, perSecond, burst int) string {
	t.Helper()
	return body(t, fmt.Sprintf(`[{"name":"api","rate":"%d/s","burst":%d}]`, perSecond, burst))
}

// putPlan makes the plan what p says, whatever version there is.
func (w *world) putPlan(p ddbstore.Plan) ddbstore.Plan {
	w.t.Helper()
	old, _ := w.config.Plan(w.t.Context(), p.Name)
	p.Version = old.Version
	p, err := w.config.PutPlan(w.t.Context(), p, w.change())
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) putTenant(tn ddbstore.Tenant) ddbstore.Tenant {
	w.t.Helper()
	old, _ := w.config.Tenant(w.t.Context(), tn.ID)
	tn.Version = old.Version
	if tn.Status == "" {
		tn.Status = ddbstore.Active
	}
	tn, err := w.config.PutTenant(w.t.Context(), tn, w.change())
	if err != nil {
		w.t.Fatal(err)
	}
	return tn
}

// use charges n tokens to the row of a bucket, under a limit and a version.
func (w *world) use(s *ddbstore.Store, key string, l bucket.Limit, ver, n int64) {
	w.t.Helper()
	inc, _ := l.Charge(n, 0)
	out, err := s.Charge(w.t.Context(), key, bucket.Charge{Limit: l, Now: w.now(), Tokens: n, Inc: inc, Ver: ver})
	if err != nil || out.Status != bucket.Charged {
		w.t.Fatalf("charge %d to %s: %v, %v", n, key, out.Status, err)
	}
}

// rowOf returns the row of a bucket.
func (w *world) rowOf(s *ddbstore.Store, key string) bucket.Row {
	w.t.Helper()
	row, found, err := s.Row(w.t.Context(), key)
	if err != nil || !found {
		w.t.Fatalf("row of %s: found %v, %v", key, found, err)
	}
	return row
}

// batch hands the reconciler records, numbered from 1, and returns the sequence
// numbers that failed.
func (w *world) batch(records ...json.RawMessage) []string {
	w.t.Helper()
	event, err := json.Marshal(map[string]any{"Records": records})
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := w.Handle(w.t.Context(), event)
	if err != nil {
		w.t.Fatal(err)
	}
	var failed []string
	for _, f := range out.(Response).BatchItemFailures {
		failed = append(failed, f.ItemIdentifier)
	}
	return failed
}

// tick is a run of the schedule.
func (w *world) tick() Report {
	w.t.Helper()
	out, err := w.Handle(w.t.Context(), json.RawMessage(`{"source":"aws.events"}`))
	if err != nil {
		w.t.Fatal(err)
	}
	return out.(Report)
}
