package reconciler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"weir/internal/plan"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// hooked is rows whose use a test looks at, or stops.
type hooked struct {
	Rows
	before func(key string) error
}

func (h *hooked) Rescale(ctx context.Context, key string, c bucket.Rescale) (bucket.Outcome, error) {
	if err := errors.Join(h.before(key), ctx.Err()); err != nil {
		return bucket.Outcome{}, err
	}
	return h.Rows.Rescale(ctx, key, c)
}

func (h *hooked) Row(ctx context.Context, key string) (bucket.Row, bool, error) {
	if err := errors.Join(h.before(key), ctx.Err()); err != nil {
		return bucket.Row{}, false, err
	}
	return h.Rows.Row(ctx, key)
}

// jobOf returns the job of a plan.
func (w *world) jobOf(plan string) ddbstore.Job {
	w.t.Helper()
	j, err := w.config.Job(w.t.Context(), here, plan)
	if err != nil {
		w.t.Fatal(err)
	}
	return j
}

// TestInterruptedInAPage: when time is up in the middle of a page, what is done of
// it is saved, up to the first tenant that is not.
func TestInterruptedInAPage(t *testing.T) {
	h := &hooked{before: func(string) error { return nil }}
	w := newWorld(t, func(o *Options) { h.Rows, o.Rows, o.Parallel = o.Rows, h, 1 })
	ids := w.tenants("pro", api(t, 100, 100), 6)
	for _, id := range ids {
		w.spend(w.rows, id, "api|"+id, 10)
	}
	w.putPlan(ddbstore.Plan{Name: "pro", Body: api(t, 10, 10)})
	ctx, end := context.WithCancel(t.Context())
	h.before = func(key string) error {
		if key == "api|"+ids[3] {
			end()
		}
		return nil
	}
	out, err := w.stream(ctx, []json.RawMessage{rec("PLAN#pro", currentKey, "7")})
	if err != nil || len(out.BatchItemFailures) != 1 || out.BatchItemFailures[0].ItemIdentifier != "7" {
		t.Errorf("answered %+v, %v; want the record failed", out, err)
	}
	if j := w.jobOf("pro"); j.Cursor != ids[2] || j.Seen != 3 || j.Changed != 3 || j.Finished != 0 || j.Failed != 0 {
		t.Errorf("saved %+v, want three tenants done", j)
	}
	var again []string
	h.before = func(key string) error { again = append(again, key); return nil }
	if failed := w.batch(rec("PLAN#pro", currentKey, "7")); failed != nil {
		t.Errorf("failed: %v", failed)
	}
	if want := []string{"api|" + ids[3], "api|" + ids[4], "api|" + ids[5]}; !slices.Equal(again, want) {
		t.Errorf("went on with %v, want %v", again, want)
	}
	if j := w.jobOf("pro"); j.Seen != 6 || j.Changed != 6 || j.Finished == 0 {
		t.Errorf("ended as %+v", j)
	}
}

// TestWhoIsLeftOut: a few tenants that fail are counted and left to the round; if it
// is most of them the job is not done, unless it is their own fault.
func TestWhoIsLeftOut(t *testing.T) {
	var failing atomic.Int64
	h := &hooked{}
	w := newWorld(t, func(o *Options) {
		h.Rows, o.Rows = o.Rows, h
		o.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	})
	h.before = func(key string) error {
		var n int64
		if _, err := fmt.Sscanf(key, "api|pro-%d", &n); err == nil && n < failing.Load() {
			return fmt.Errorf("%w: as a test has it", ddbstore.ErrUnavailable)
		}
		return nil
	}
	w.tenants("pro", api(t, 100, 100), 4)
	tests := []struct {
		failing  int64
		reported bool
		failed   int64 // of the job
	}{{0, false, 0}, {2, false, 2}, {3, true, 0}, {0, false, 0}}
	for _, tt := range tests {
		p := w.putPlan(ddbstore.Plan{Name: "pro", Body: api(t, 100, 100)})
		failing.Store(tt.failing)
		reported := w.batch(rec("PLAN#pro", currentKey, "1")) != nil
		j := w.jobOf("pro")
		if reported != tt.reported || (j.Finished != 0) == tt.reported || j.Failed != tt.failed || j.Stamp != p.Stamp {
			t.Errorf("%d of 4 fail: reported %v, %+v", tt.failing, reported, j)
		}
	}
	failing.Store(0)
	for i := range 4 {
		w.putTenant(ddbstore.Tenant{ID: fmt.Sprintf("pro-%02d", i), Plan: "pro", Overrides: "{"})
	}
	w.putPlan(ddbstore.Plan{Name: "pro", Body: api(t, 100, 100)})
	if reported := w.batch(rec("PLAN#pro", currentKey, "1")); reported != nil {
		t.Errorf("reported %v, though it is the tenants who are broken", reported)
	}
	if j := w.jobOf("pro"); j.Finished == 0 || j.Failed != 4 {
		t.Errorf("%+v", j)
	}
}

// TestScheduledChangeInForce: a job that is done for a plan is not done for the
// change that comes into force by time alone.
func TestScheduledChangeInForce(t *testing.T) {
	w := newWorld(t, nil)
	ids := w.tenants("pro", api(t, 100, 100), 2)
	for _, id := range ids {
		w.spend(w.rows, id, "api|"+id, 10)
	}
	next := plan.Rollout{From: w.now() + int64(time.Minute), Plan: &plan.Plan{Name: "pro", Limits: []plan.Limit{{Name: "api", Bucket: limitOf(t, 10, 10), Cost: 1}}}}
	text, err := next.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	p := w.putPlan(ddbstore.Plan{Name: "pro", Body: api(t, 100, 100), Next: string(text)})
	for _, want := range []struct {
		stamp, rate int64
	}{{p.Stamp, 100}, {p.Stamp | 1, 10}} {
		if failed := w.batch(rec("PLAN#pro", currentKey, "1")); failed != nil {
			t.Fatalf("failed: %v\n%s", failed, w.log)
		}
		if j := w.jobOf("pro"); j.Stamp != want.stamp || j.Finished == 0 {
			t.Errorf("%+v, want stamp %d", j, want.stamp)
		}
		for _, id := range ids {
			_, ver := w.effective(id)
			if row := w.rowOf(w.rows, "api|"+id); row.Limit.Rate().Count != want.rate || row.Ver != ver {
				t.Errorf("%s: %+v, want %d/s", id, row, want.rate)
			}
		}
		w.pass(time.Minute)
	}
}
