package reconciler_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"weir/internal/replicator"
	"weir/internal/streampump"
	"weir/internal/testbootstrap"
	"weir/internal/testengine"
	"weir/pkg/ddbstore"
)

const abroad = "us-east-1"

// TestTwoRegions: a change made at home reaches the rows of the other Region by
// that Region's own reconciler; heartbeats tell each how late the other's writes are.
func TestTwoRegions(t *testing.T) {
	const lag = 200 * time.Millisecond
	e := testengine.Start(t)
	w := newWorld(t, "", nil, "WEIR_REGIONS="+region+","+abroad)
	client := e.Client(abroad)
	if err := ddbstore.CreateTables(t.Context(), client, w.buckets, w.tables); err != nil {
		t.Fatal(err)
	}
	other := &world{
		t: t, client: client, buckets: w.buckets, tables: w.tables,
		config: ddbstore.NewConfig(client, w.tables).Consistent(), rows: ddbstore.New(client, w.buckets, abroad),
		function: testbootstrap.Start(t, bootstrap, append(w.env, "AWS_REGION="+abroad)...),
	}
	o := mapping(t)
	o.Endpoint, o.Region, o.Table = e.Endpoint(), abroad, w.tables
	var err error
	if other.pump, err = streampump.New(t.Context(), o, other.invoke); err != nil {
		t.Fatal(err)
	}
	repl, err := replicator.New(t.Context(), replicator.Options{Endpoint: e.Endpoint(), Table: w.tables, Regions: []string{region, abroad}, Lag: lag})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- repl.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	w.start()
	other.start()
	settle := func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := repl.Drain(ctx); err != nil {
			t.Fatal(err)
		}
		w.drain()
		other.drain()
	}

	w.putPlan(ddbstore.Plan{Name: "pro", Body: api(100, 100)})
	w.putTenant(ddbstore.Tenant{ID: "acme", Plan: "pro"})
	settle()
	w.spend("acme", 60)
	other.spend("acme", 30)
	w.putPlan(ddbstore.Plan{Name: "pro", Body: api(200, 200), Carry: "additive"})
	settle()
	for region, rows := range map[string]*world{region: w, abroad: other} {
		row := rows.row("acme")
		if row.Limit != limitOf(t, 200, 200) || row.Region != region {
			t.Errorf("%s: %+v", region, row)
		}
	}
	if spent := other.row("acme").Spent; spent != 30 {
		t.Errorf("the other Region's row says %d are spent", spent)
	}

	var report struct {
		Home  string
		LagNs map[string]time.Duration
		Cut   []string
	}
	for _, r := range []*world{w, other, w} {
		answer, err := r.invoke(t.Context(), scheduleEvent(t))
		if err != nil {
			t.Fatalf("%v\n%s", err, r.function.Log())
		}
		report.LagNs, report.Cut = nil, nil
		if err := json.Unmarshal(answer, &report); err != nil {
			t.Fatal(err)
		}
		settle()
	}
	if report.Home != region || report.LagNs[abroad] < lag || report.Cut != nil {
		t.Errorf("home says %+v of the other, whose writes take %v", report, lag)
	}
	jobs, err := w.config.Jobs(t.Context(), abroad)
	if err != nil || len(jobs) == 0 {
		t.Errorf("the other Region's jobs cannot be seen at home: %+v, %v", jobs, err)
	}
}
