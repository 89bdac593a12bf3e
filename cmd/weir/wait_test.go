package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// reconcile carries out, in place of a Region's reconciler, what a plan says: it
// begins as soon as the plan is at a version, and ends a little later.
func (s *site) reconcile(region string, version int64) {
	s.Helper()
	go func() {
		for {
			p, err := s.config.Plan(s.Context(), "pro")
			if err != nil {
				return // the test is over
			}
			if p.Version >= version {
				job := ddbstore.Job{Region: region, ID: "pro", Plan: "pro", Stamp: p.Stamp, Started: 1, Seen: 1}
				if job, err = s.config.PutJob(s.Context(), job); err == nil {
					job.Seen, job.Changed, job.Finished = 2, 7, 1
					_, _ = s.config.PutJob(s.Context(), job)
				}
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
}

func TestPlanApplyWait(t *testing.T) {
	s := newSite(t)
	s.apply(twoPlans)
	s.file("next.yaml", strings.Replace(twoPlans, "100/h", "90/h", 1))
	s.reconcile("eu-west-1", 2)
	s.reconcile("us-east-1", 2)
	var out applyJSON
	s.answer(&out, "plan", "apply", "next.yaml", "--yes", "--only", "pro", "--wait", "--regions", "eu-west-1,us-east-1")
	if len(out.Regions) != 2 || !out.Regions[0].Done || !out.Regions[1].Done || out.Regions[1].Region != "us-east-1" || out.Regions[0].Changed != 7 {
		t.Errorf("%+v", out.Regions)
	}

	// Nobody carries out the next one; what was done before does not count.
	r := s.weir("", "plan", "rollback", "pro", "--yes", "--wait=50ms", "--regions", "eu-west-1")
	s.failed(r, 1, "the change is made, but not every Region is through", "rollback")
	contains(t, r.err.Error(), "eu-west-1 has not begun with plan pro (is its reconciler running?)")
	if p, err := s.config.Plan(t.Context(), "pro"); err != nil || p.Version != 3 {
		t.Errorf("version %d, %v", p.Version, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if p, err := s.config.Plan(ctx, "pro"); err == nil && p.Version == 4 {
				cancel()
			}
		}
	}()
	r = s.weirIn(ctx, strings.NewReader(""), "plan", "apply", "next.yaml", "--yes", "--wait", "--regions", "eu-west-1")
	s.failed(r, 130, "the change is made", "apply")
	contains(t, r.stdout, "plan pro is at version 4")
}

func TestTenantSetWait(t *testing.T) {
	s := newSite(t)
	s.apply(twoPlans)
	s.ok("tenant", "create", "acme", "--plan", "pro")
	s.ok("tenant", "create", "idle", "--plan", "pro")
	_, ver := s.effective("acme")
	here, there := ddbstore.New(s.client, s.tables.buckets, "eu-west-1"), ddbstore.New(s.client, s.tables.buckets, "us-east-1")
	s.charge(here, "api|acme", perHour(t, 100, 100), 50, ver)
	s.charge(there, "api|acme", perHour(t, 100, 100), 20, ver)
	contains(t, s.ok("tenant", "set", "idle", "--limit", "api=200/h", "--wait"), "all rows of their buckets have it")
	r := s.weir("", "tenant", "set", "acme", "--limit", "api=200/h", "--wait=50ms")
	s.failed(r, 1, "not every row has it yet", "set")
	contains(t, r.stdout, "1 tenant changed")

	eff, ver := s.effective("acme")
	next := bucket.Rescale{Limit: eff.Limits[0].Bucket, Ver: ver + 9<<32, Now: time.Now().UnixNano()} // of what is to come, too
	if _, err := here.Rescale(t.Context(), "api|acme", next); err != nil {
		t.Fatal(err)
	}
	s.fails(1, "not every row has it yet", "tenant", "set", "acme", "--hold", "1ms", "--wait=50ms") // one Region is not through
	if _, err := there.Rescale(t.Context(), "api|acme", next); err != nil {
		t.Fatal(err)
	}
	contains(t, s.ok("tenant", "set", "acme", "--limit", "api=300/h", "--wait=5s"), "all rows of their buckets have it")

	// A row that is full again has nothing to be brought to.
	s.ok("tenant", "create", "rested", "--plan", "pro")
	l := perHour(t, 100, 100)
	inc, _ := l.Charge(1, 0)
	if _, err := here.Charge(t.Context(), "api|rested", bucket.Charge{Limit: l, Now: time.Now().Add(-time.Hour).UnixNano(), Tokens: 1, Inc: inc, Ver: 2}); err != nil {
		t.Fatal(err)
	}
	s.ok("tenant", "set", "rested", "--limit", "api=300/h", "--wait=5s")
	s.fails(1, "--wait=", "tenant", "suspend", "acme", "--wait=soon")
}
