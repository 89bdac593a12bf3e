package ddbstore_test

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"weir/internal/testengine"
	"weir/pkg/ddbstore"
)

func TestJobs(t *testing.T) {
	ctx := t.Context()
	c, _ := newConfig(t)
	if got, err := c.Job(ctx, region, "pro"); !errors.Is(err, ddbstore.ErrNotFound) {
		t.Errorf("Job = %+v, %v, want ErrNotFound", got, err)
	}
	j, err := c.PutJob(ctx, ddbstore.Job{
		Region: region, ID: "pro", Plan: "pro", Stamp: t0, Cursor: "acme#1", Seen: 1, Changed: 2, Skipped: 3, Failed: 4, Started: 5, Updated: 6,
	})
	if err != nil || j.Version != 1 {
		t.Fatalf("PutJob = %+v, %v, want version 1", j, err)
	}
	if got, err := c.Job(ctx, region, "pro"); err != nil || got != j {
		t.Errorf("Job = %+v, %v, want %+v", got, err, j)
	}
	j.Cursor, j.Finished = "", 7
	if j, err = c.PutJob(ctx, j); err != nil || j.Version != 2 {
		t.Fatalf("PutJob = %+v, %v, want version 2", j, err)
	}
	for _, base := range []int64{0, 1, 3} {
		stale := j
		stale.Version = base
		if got, err := c.PutJob(ctx, stale); !errors.Is(err, ddbstore.ErrConflict) {
			t.Errorf("PutJob on version %d = %+v, %v, want ErrConflict", base, got, err)
		}
	}
	round, err := c.PutJob(ctx, ddbstore.Job{Region: region, ID: "~round"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.PutJob(ctx, ddbstore.Job{Region: "us-east-1", ID: "pro"}); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Jobs(ctx, region); err != nil || !reflect.DeepEqual(got, []ddbstore.Job{round, j}) {
		t.Errorf("Jobs = %+v, %v, want %+v and %+v", got, err, round, j)
	}
	for _, bad := range []ddbstore.Job{{ID: "x"}, {Region: region}, {Region: region, ID: "x", Version: -1}} {
		if got, err := c.PutJob(ctx, bad); err == nil || errors.Is(err, ddbstore.ErrConflict) {
			t.Errorf("PutJob = %+v, %v, want it refused", got, err)
		}
	}
}

// TestJobIsTakenOnce: of two who write the very same, one has written it. Who
// asks again after a lost answer is told that it was.
func TestJobIsTakenOnce(t *testing.T) {
	c, table := newConfig(t)
	var wg sync.WaitGroup
	var won atomic.Int64
	for range 6 {
		wg.Go(func() {
			switch _, err := c.PutJob(context.Background(), ddbstore.Job{Region: region, ID: "pro", Started: t0}); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, ddbstore.ErrConflict):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("%d wrote version 1, want one", won.Load())
	}

	p := tables(t).Proxy(t)
	var lost atomic.Bool
	p.Set(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if lost.CompareAndSwap(false, true) {
			testengine.LoseAnswer(w, r, next)
		}
		next.ServeHTTP(w, r)
	})
	c = ddbstore.NewConfig(client(p.Endpoint()), table)
	u, err := c.PutUsage(t.Context(), ddbstore.Usage{Tenant: "acme", Month: "2026-11", Region: region, Limits: map[string]ddbstore.Used{"api|acme": {Tokens: 1}}})
	if err != nil || u.Version != 1 || p.Calls() != 2 {
		t.Errorf("PutUsage = %+v, %v after %d calls, want version 1 after 2", u, err, p.Calls())
	}
}

func TestHeartbeats(t *testing.T) {
	ctx := t.Context()
	c, _ := newConfig(t)
	beat := func(region string, at int64) ddbstore.Heartbeat {
		return ddbstore.Heartbeat{Region: region, At: at, Lag: map[string]int64{"b": -1, "c": 5e9}, Cut: []string{"c", "d"}, Rows: 7, Drift: 1}
	}
	for _, at := range []int64{t0, t0 + 2, t0 + 1, t0 + 2} { // one comes late
		if err := c.PutHeartbeat(ctx, beat("a", at)); err != nil {
			t.Fatal(err)
		}
	}
	bare := ddbstore.Heartbeat{Region: "b", At: t0}
	if err := c.PutHeartbeat(ctx, bare); err != nil {
		t.Fatal(err)
	}
	want := []ddbstore.Heartbeat{bare, beat("a", t0+2)}
	if got, err := c.Heartbeats(ctx, []string{"b", "nowhere", "a"}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Heartbeats = %+v, %v, want %+v", got, err, want)
	}

	for _, s := range []ddbstore.Seen{{"a", "c", t0, 9}, {"a", "b", t0 + 1, 8}, {"a", "b", t0, 1e12}, {"b", "a", t0, 7}} {
		if err := c.PutSeen(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	seen := []ddbstore.Seen{{"a", "b", t0 + 1, 8}, {"a", "c", t0, 9}}
	if got, err := c.SeenBy(ctx, "a"); err != nil || !reflect.DeepEqual(got, seen) {
		t.Errorf("SeenBy = %+v, %v, want %+v", got, err, seen)
	}
	if got, err := c.Heartbeats(ctx, []string{"a"}); err != nil || !reflect.DeepEqual(got, want[1:]) {
		t.Errorf("Heartbeats = %+v, %v after what was seen, want %+v", got, err, want[1:])
	}
	for _, err := range []error{c.PutHeartbeat(ctx, ddbstore.Heartbeat{}), c.PutSeen(ctx, ddbstore.Seen{Region: "a"}), c.PutSeen(ctx, ddbstore.Seen{Other: "a"})} {
		if err == nil || !strings.Contains(err.Error(), "Region") {
			t.Errorf("%v, want a Region to be asked for", err)
		}
	}
}

func TestUsage(t *testing.T) {
	ctx := t.Context()
	c, _ := newConfig(t)
	if got, err := c.Usage(ctx, "acme", "2026-11", region); !errors.Is(err, ddbstore.ErrNotFound) {
		t.Errorf("Usage = %+v, %v, want ErrNotFound", got, err)
	}
	put := func(u ddbstore.Usage) ddbstore.Usage {
		t.Helper()
		u, err := c.PutUsage(ctx, u)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	u := put(ddbstore.Usage{Tenant: "acme", Month: "2026-11", Region: region, At: t0, Limits: map[string]ddbstore.Used{
		"api|acme": {Tokens: 5, Born: t0, Spent: 9}, "übung|acme#1": {Tokens: -1},
	}})
	strict := put(ddbstore.Usage{Tenant: "acme", Month: "2026-11", Region: "*"})
	put(ddbstore.Usage{Tenant: "acme", Month: "2026-12", Region: region})
	put(ddbstore.Usage{Tenant: "acme#2026-11", Month: "2026-11", Region: region})
	if got, err := c.Usage(ctx, "acme", "2026-11", region); err != nil || !reflect.DeepEqual(got, u) {
		t.Errorf("Usage = %+v, %v, want %+v", got, err, u)
	}
	if got, err := c.UsageOf(ctx, "acme", "2026-11"); err != nil || !reflect.DeepEqual(got, []ddbstore.Usage{strict, u}) {
		t.Errorf("UsageOf = %+v, %v, want %+v and %+v", got, err, strict, u)
	}
	u.Limits["api|acme"] = ddbstore.Used{Tokens: 6}
	if u = put(u); u.Version != 2 {
		t.Errorf("PutUsage = %+v, want version 2", u)
	}
	u.Version = 1
	if got, err := c.PutUsage(ctx, u); !errors.Is(err, ddbstore.ErrConflict) || !strings.Contains(err.Error(), "at version 2") {
		t.Errorf("PutUsage = %+v, %v, want ErrConflict", got, err)
	}
	for _, bad := range []ddbstore.Usage{{Month: "m", Region: "r"}, {Tenant: "t", Region: "r"}, {Tenant: "t", Month: "m"}, {Tenant: "t", Month: "20#26", Region: "r"}} {
		if got, err := c.PutUsage(ctx, bad); err == nil || errors.Is(err, ddbstore.ErrUnavailable) {
			t.Errorf("PutUsage = %+v, %v, want it refused", got, err)
		}
	}
}
