package reconciler

import (
	"strings"
	"testing"
	"time"

	"weir/internal/plan"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

func TestAdvance(t *testing.T) {
	body := &plan.Plan{Name: "pro", Limits: []plan.Limit{{Name: "api", Bucket: limitOf(t, 200, 200), Cost: 1}}}
	scheduled := plan.Rollout{Plan: body, Carry: bucket.Additive, From: t0}
	canary := plan.Rollout{Plan: body, Carry: bucket.AsIs, Share: 500, Steps: []plan.Share{2500, plan.Everybody}, Every: time.Hour, StepAt: t0, Alarm: "errors"}
	with := func(r plan.Rollout, change func(*plan.Rollout)) *plan.Rollout { change(&r); return &r }
	last := with(canary, func(r *plan.Rollout) { r.Share, r.Steps = plan.Everybody, nil })
	tests := []struct {
		name  string
		next  *plan.Rollout
		now   int64
		alarm bool
		what  string // how it begins; "" if nothing is done
		body  bool   // the plan's own is replaced
		carry string
		share string // of the rollout afterwards; "" if it is over
	}{
		{"before its time", &scheduled, t0 - 1, false, "", false, "", ""},
		{"at its time", &scheduled, t0, false, "the scheduled change is in force", true, "additive", ""},
		{"a step that is not due", &canary, t0 - 1, false, "", false, "", ""},
		{"a step", &canary, t0, false, "the canary has 25% of the tenants", false, "", "25%"},
		{"paused", with(canary, func(r *plan.Rollout) { r.Paused = true }), t0, false, "", false, "", ""},
		{"the last step holds", last, t0 - 1, false, "", false, "", ""},
		{"complete", last, t0, false, "the canary is complete", true, "as-is", ""},
		{"an alarm", &canary, t0 - 1, true, "rolled back: alarm errors is on", false, "as-is", ""},
		{"an alarm while it is paused", with(canary, func(r *plan.Rollout) { r.Paused = true }), t0, true, "rolled back", false, "as-is", ""},
		{"an alarm at the end", last, t0, true, "rolled back", false, "as-is", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stored := ddbstore.Plan{Name: "pro", Body: "old", Next: "next", Version: 4}
			what, err := advance(&stored, tt.next, tt.now, tt.alarm)
			if err != nil {
				t.Fatal(err)
			}
			if tt.what == "" {
				if what != "" || stored != (ddbstore.Plan{Name: "pro", Body: "old", Next: "next", Version: 4}) {
					t.Errorf("%q: %+v", what, stored)
				}
				return
			}
			if !strings.HasPrefix(what, tt.what) {
				t.Errorf("got %q, want %q", what, tt.what)
			}
			if (stored.Body != "old") != tt.body || stored.Carry != tt.carry || stored.Version != 4 {
				t.Errorf("got %+v", stored)
			}
			after, err := plan.ParseRollout("pro", []byte(stored.Next))
			switch {
			case err != nil:
				t.Error(err)
			case (after == nil) != (tt.share == ""):
				t.Errorf("next is %s", stored.Next)
			case after != nil && (after.Share.String() != tt.share || after.StepAt != tt.now+int64(time.Hour) || len(after.Steps) != 1):
				t.Errorf("next is %s", stored.Next)
			}
		})
	}
}
