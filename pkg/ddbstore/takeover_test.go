package ddbstore_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"weir/internal/replicator"
	"weir/pkg/ddbstore"
)

// replicated returns a config table in two Regions, what replicates it, and a
// writer in each.
func replicated(t *testing.T, regions ...string) (*replicator.Replicator, string, []*ddbstore.Config) {
	t.Helper()
	e, table := tables(t), newTable(t)
	var writers []*ddbstore.Config
	for _, region := range regions {
		if err := ddbstore.CreateTables(t.Context(), e.Client(region), table+"-buckets", table); err != nil {
			t.Fatal(err)
		}
		writers = append(writers, ddbstore.NewConfig(e.Client(region), table).In(region).Consistent())
	}
	r, err := replicator.New(t.Context(), replicator.Options{Endpoint: e.Endpoint(), Table: table, Regions: regions, Poll: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return r, table, writers
}

// TestTakeOver: a Region takes the home over from one that is cut off and goes on
// writing. Once they hear each other, both know the new home, and agree.
func TestTakeOver(t *testing.T) {
	const dublin, virginia = "eu-west-1", "us-east-1"
	r, table, writers := replicated(t, dublin, virginia)
	there, here := writers[0], writers[1]
	ctx := t.Context()
	settle := func() {
		t.Helper()
		if err := r.Drain(ctx); err != nil {
			t.Fatal(err)
		}
		if a, b := dumpIn(t, dublin, table), dumpIn(t, virginia, table); !maps.Equal(a, b) {
			t.Errorf("the Regions differ:\n%v\n%v", a, b)
		}
	}
	pro := write(t, there, ddbstore.Plan{Name: "pro", Body: "1"})
	settle()
	_, err := here.PutPlan(ctx, pro, change)
	wantHomeError(t, err, dublin, virginia)

	r.Pause(r.Around(virginia)...)
	if err := here.MoveHome(ctx, virginia, change); err != nil {
		t.Fatal(err)
	}
	write(t, here, ddbstore.Tenant{ID: "acme", Plan: "pro", Status: ddbstore.Active})
	pro.Body = "2"
	pro = write(t, there, pro) // as it does not know better
	r.Resume()
	settle()

	wantHome(t, there, virginia)
	wantHome(t, here, virginia)
	_, err = there.PutPlan(ctx, pro, change)
	wantHomeError(t, err, virginia, dublin)
	pro.Body = "3"
	if p := write(t, here, pro); p.Version != 3 || p.Stamp <= pro.Stamp {
		t.Errorf("the next change is %+v, after %+v", p, pro)
	}
	settle()
	if got, err := there.PlanHistory(ctx, "pro", 10); err != nil || len(got) != 3 {
		t.Errorf("history %+v, %v, want three versions", got, err)
	}
}
