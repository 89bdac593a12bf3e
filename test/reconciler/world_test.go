package reconciler_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"weir/internal/directory"
	"weir/internal/plan"
	"weir/internal/streampump"
	"weir/internal/testbootstrap"
	"weir/internal/testengine"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

const region = "eu-west-1"

// world is the tables of a Region, a reconciler, and the mapping between them.
type world struct {
	t               testing.TB
	client          *dynamodb.Client
	buckets, tables string
	config          *ddbstore.Config
	rows            *ddbstore.Store
	pump            *streampump.Pump
	env             []string

	mu       sync.Mutex
	function *testbootstrap.Function
}

var worlds atomic.Int64

// newWorld creates tables nobody has used yet, and starts a reconciler on them.
// endpoint is where it finds DynamoDB; "" is the engine itself.
func newWorld(t testing.TB, endpoint string, change func(*streampump.Options), env ...string) *world {
	t.Helper()
	e := testengine.Start(t)
	if endpoint == "" {
		endpoint = e.Endpoint()
	}
	n := worlds.Add(1)
	w := &world{t: t, client: e.Client(region), buckets: fmt.Sprint("buckets-", n), tables: fmt.Sprint("config-", n)}
	if err := ddbstore.CreateTables(t.Context(), w.client, w.buckets, w.tables); err != nil {
		t.Fatal(err)
	}
	w.config = ddbstore.NewConfig(w.client, w.tables).Consistent().In(region)
	w.rows = ddbstore.New(w.client, w.buckets, region)
	w.env = append([]string{
		"AWS_REGION=" + region, "AWS_ENDPOINT_URL_DYNAMODB=" + endpoint, "AWS_LAMBDA_FUNCTION_TIMEOUT=300",
		"WEIR_BUCKETS_TABLE=" + w.buckets, "WEIR_CONFIG_TABLE=" + w.tables,
	}, env...)
	w.function = testbootstrap.Start(t, bootstrap, w.env...)

	o := mapping(t)
	o.Endpoint, o.Region, o.Table = e.Endpoint(), region, w.tables
	if change != nil {
		change(&o)
	}
	var err error
	if w.pump, err = streampump.New(t.Context(), o, w.invoke); err != nil {
		t.Fatal(err)
	}
	return w
}

// invoke calls the reconciler that there is just now.
func (w *world) invoke(ctx context.Context, event []byte) ([]byte, error) {
	w.mu.Lock()
	f := w.function
	w.mu.Unlock()
	r, err := f.Invoke(ctx, event)
	if err == nil && r.Err != "" {
		err = errors.New(r.Err)
	}
	return r.Payload, err
}

// replace kills the reconciler and starts another.
func (w *world) replace() {
	w.t.Helper()
	w.function.Stop()
	f := testbootstrap.Start(w.t, bootstrap, w.env...)
	w.mu.Lock()
	w.function = f
	w.mu.Unlock()
}

// start lets the stream run until the test ends.
func (w *world) start() {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
	done := make(chan error, 1)
	go func() { done <- w.pump.Run(ctx) }()
	w.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	})
}

// drain waits until everything written so far has been delivered.
func (w *world) drain() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 2*time.Minute)
	defer cancel()
	if err := w.pump.Drain(ctx); err != nil {
		w.t.Fatalf("%v\n%s", err, w.function.Log())
	}
}

func now() int64 { return time.Now().UnixNano() }

func change() ddbstore.Change { return ddbstore.Change{Author: "test", Reason: "test", At: now()} }

func (w *world) putPlan(p ddbstore.Plan) ddbstore.Plan {
	w.t.Helper()
	old, _ := w.config.Plan(w.t.Context(), p.Name)
	p.Version = old.Version
	p, err := w.config.PutPlan(w.t.Context(), p, change())
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) putTenant(tn ddbstore.Tenant) {
	w.t.Helper()
	old, _ := w.config.Tenant(w.t.Context(), tn.ID)
	tn.Version = old.Version
	if tn.Status == "" {
		tn.Status = ddbstore.Active
	}
	if _, err := w.config.PutTenant(w.t.Context(), tn, change()); err != nil {
		w.t.Fatal(err)
	}
}

// api is the body of a plan with one limit, which refills so slowly that no test
// takes long enough to notice.
func api(perDay, burst int) string {
	return fmt.Sprintf(`{"limits":[{"name":"api","rate":"%d/d","burst":%d}]}`, perDay, burst)
}

func limitOf(t testing.TB, perDay, burst int64) bucket.Limit {
	t.Helper()
	l, err := bucket.NewLimit(bucket.Rate{Count: perDay, Period: 24 * time.Hour}, burst)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// effective returns what holds for a tenant.
func (w *world) effective(tenant string) (*plan.Plan, int64) {
	w.t.Helper()
	s := directory.FromTable(w.config)
	t, err := s.Tenant(w.t.Context(), tenant)
	if err != nil {
		w.t.Fatal(err)
	}
	p, err := s.Plan(w.t.Context(), t.Plan)
	if err != nil {
		w.t.Fatal(err)
	}
	return plan.Effective(p, t, now())
}

// spend charges n tokens to a tenant's bucket.
func (w *world) spend(tenant string, n int64) {
	w.t.Helper()
	eff, ver := w.effective(tenant)
	w.charge(tenant, eff.Limits[0].Bucket, ver, n)
}

func (w *world) charge(tenant string, l bucket.Limit, ver, n int64) {
	w.t.Helper()
	inc, _ := l.Charge(n, 0)
	out, err := w.rows.Charge(w.t.Context(), "api|"+tenant, bucket.Charge{Limit: l, Now: now(), Tokens: n, Inc: inc, Ver: ver})
	if err != nil || out.Status != bucket.Charged {
		w.t.Errorf("charge %d to %s: %v, %v", n, tenant, out.Status, err)
	}
}

func (w *world) row(tenant string) bucket.Row {
	w.t.Helper()
	row, found, err := w.rows.Row(w.t.Context(), "api|"+tenant)
	if err != nil || !found {
		w.t.Fatalf("row of %s: found %v, %v", tenant, found, err)
	}
	return row
}
