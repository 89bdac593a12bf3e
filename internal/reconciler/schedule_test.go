package reconciler

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"weir/internal/directory"
	"weir/internal/limiter"
	"weir/internal/plan"
	"weir/internal/testengine"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// TestHeartbeats: a heartbeat that arrives says how late the other Region's writes
// are, and one that stays away says that it is cut off.
func TestHeartbeats(t *testing.T) {
	w := newWorld(t, nil)
	beat := func(at int64) {
		t.Helper()
		if err := w.config.PutHeartbeat(t.Context(), ddbstore.Heartbeat{Region: there, At: at}); err != nil {
			t.Fatal(err)
		}
	}
	hear := func(region string) {
		t.Helper()
		if failed := w.batch(rec("HEARTBEAT#"+region, currentKey, "1")); failed != nil {
			t.Fatalf("failed: %v\n%s", failed, w.log)
		}
	}
	if out := w.tick(); !slices.Equal(out.Cut, []string{there}) || out.Lag != nil {
		t.Errorf("never heard: %+v", out)
	}
	beat(w.now())
	w.pass(700 * time.Millisecond)
	hear(there)
	hear(here) // its own comes back
	w.pass(time.Minute)
	hear(there) // a second time: says nothing of replication
	if out := w.tick(); out.Cut != nil || out.Lag[there] != 700*time.Millisecond {
		t.Errorf("heard after 700ms: %+v", out)
	}
	own, err := w.config.Heartbeats(t.Context(), []string{here})
	if err != nil || len(own) != 1 || own[0].At != w.now() || own[0].Lag[there] != int64(700*time.Millisecond) {
		t.Errorf("the own heartbeat is %+v, %v", own, err)
	}
	w.pass(3 * time.Minute)
	out := w.tick()
	if !slices.Equal(out.Cut, []string{there}) || out.Lag[there] != 3*time.Minute+700*time.Millisecond {
		t.Errorf("not heard for 4 min: %+v", out)
	}
	if last := w.seen.reports[len(w.seen.reports)-1]; !slices.Equal(last.Cut, out.Cut) {
		t.Errorf("the observer was told %+v", last)
	}
	beat(w.now())
	hear(there)
	if out := w.tick(); out.Cut != nil || out.Lag[there] != 0 {
		t.Errorf("heard again: %+v", out)
	}
	beat(w.now() + int64(time.Second)) // by a clock that is ahead
	hear(there)
	if out := w.tick(); out.Lag[there] != 0 {
		t.Errorf("a lag of %v", out.Lag[there])
	}
	if err := w.config.PutHeartbeat(t.Context(), ddbstore.Heartbeat{Region: "sa-east-1", At: w.now()}); err != nil {
		t.Fatal(err)
	}
	hear("sa-east-1")
	if out := w.tick(); len(out.Lag) != 1 || !strings.Contains(w.log.String(), "sa-east-1") {
		t.Errorf("a Region nobody named: %+v", out)
	}
}

// TestIdle: a Region without requests says that it is alive; one with requests
// leaves that to them.
func TestIdle(t *testing.T) {
	w := newWorld(t, nil)
	row := func() (bucket.Row, bool) {
		t.Helper()
		r, found, err := w.rows.Row(t.Context(), limiter.IdleKey)
		if err != nil {
			t.Fatal(err)
		}
		return r, found
	}
	w.use(w.rows, limiter.PresenceKey, limitOf(t, 1000, 1000), 0, 1)
	w.pass(w.span())
	w.tick()
	if r, found := row(); found {
		t.Errorf("said to be idle with a request %v ago: %+v", w.span(), r)
	}
	w.pass(time.Minute)
	for range 3 {
		w.tick()
		if r, _ := row(); r.At != w.now() {
			t.Errorf("idle at %d, now is %d", r.At, w.now())
		}
		w.pass(time.Minute)
	}
	alone := newWorld(t, func(o *Options) { o.Regions = []string{here} })
	alone.tick()
	if r, found, _ := alone.rows.Row(t.Context(), limiter.IdleKey); found {
		t.Errorf("the only Region says it to nobody: %+v", r)
	}
}

func (w *world) span() time.Duration { return time.Duration(w.grace) }

// TestSweep: the home Region sweeps the strict table about once a day, and again
// soon if it could not finish.
func TestSweep(t *testing.T) {
	swept, fail := 0, errors.New("no time")
	w := newWorld(t, func(o *Options) {
		real := o.Sweep
		o.Sweep = func(ctx context.Context, now int64) (int, error) {
			if swept++; swept == 2 {
				return 0, fail
			}
			return real(ctx, now)
		}
	})
	w.tick()
	if swept != 0 {
		t.Error("swept without a home")
	}
	w.tenants("pro", body(t, `[{"name":"otp","rate":"10/s","consistency":"strict"}]`), 1)
	w.spend(w.strict, "pro-00", "otp|pro-00", 3)
	w.tick()
	w.pass(23 * time.Hour)
	w.tick()
	if swept != 1 {
		t.Errorf("swept %d times in 23 h", swept)
	}
	w.pass(time.Hour)
	if _, err := w.Handle(t.Context(), json.RawMessage(`{"source":"aws.events"}`)); !errors.Is(err, fail) {
		t.Errorf("got %v", err)
	}
	w.pass(time.Minute)
	w.tick()
	if swept != 2 {
		t.Errorf("tried again after a minute")
	}
	w.pass(30 * 24 * time.Hour)
	if out := w.tick(); swept != 3 || out.Swept != 1 {
		t.Errorf("swept %d times, %d rows", swept, out.Swept)
	}
}

// TestAbandonedJobs: the schedule finishes what a process left, and leaves alone
// what one is at.
func TestAbandonedJobs(t *testing.T) {
	w := newWorld(t, nil)
	ids := w.tenants("pro", api(t, 100, 100), 6)
	for _, id := range ids {
		w.spend(w.rows, id, "api|"+id, 10)
	}
	p := w.putPlan(ddbstore.Plan{Name: "pro", Body: api(t, 10, 10)})
	// as it is after the first three tenants
	job, err := w.config.PutJob(t.Context(), ddbstore.Job{Region: here, ID: "pro", Plan: "pro", Stamp: p.Stamp, Cursor: ids[2], Seen: 3, Changed: 3, Started: w.now(), Updated: w.now()})
	if err != nil {
		t.Fatal(err)
	}
	w.pass(30 * time.Second)
	if out := w.tick(); out.Jobs != 0 {
		t.Errorf("took up a job that was saved 30 s ago")
	}
	w.pass(30 * time.Second)
	if out := w.tick(); out.Jobs != 1 {
		t.Errorf("left a job alone that nobody has saved for a minute")
	}
	job, err = w.config.Job(t.Context(), here, "pro")
	if err != nil || job.Finished == 0 || job.Seen != 6 || job.Changed != 6 || job.Failed != 0 {
		t.Errorf("got %+v, %v", job, err)
	}
	for i, id := range ids {
		if rate := w.rowOf(w.rows, "api|"+id).Limit.Rate().Count; (rate == 10) != (i > 2) {
			t.Errorf("%s has %d/s: it went on at the wrong place", id, rate)
		}
	}
}

// TestNewerPlanTakesOver: a job that is not finished is not gone on with for a
// version that is not the plan's any more.
func TestNewerPlanTakesOver(t *testing.T) {
	w := newWorld(t, nil)
	ids := w.tenants("pro", api(t, 100, 100), 4)
	for _, id := range ids {
		w.spend(w.rows, id, "api|"+id, 10)
	}
	old := w.putPlan(ddbstore.Plan{Name: "pro", Body: api(t, 50, 50)})
	if _, err := w.config.PutJob(t.Context(), ddbstore.Job{Region: here, ID: "pro", Plan: "pro", Stamp: old.Stamp, Cursor: ids[1], Seen: 2, Started: w.now(), Updated: w.now()}); err != nil {
		t.Fatal(err)
	}
	p := w.putPlan(ddbstore.Plan{Name: "pro", Body: api(t, 10, 10)})
	if failed := w.batch(rec("PLAN#pro", currentKey, "1")); failed != nil {
		t.Fatalf("failed: %v\n%s", failed, w.log)
	}
	job, err := w.config.Job(t.Context(), here, "pro")
	if err != nil || job.Stamp != p.Stamp || job.Seen != 4 || job.Changed != 4 || job.Finished == 0 {
		t.Errorf("got %+v, %v; want all four under stamp %d", job, err, p.Stamp)
	}
	for _, id := range ids {
		if rate := w.rowOf(w.rows, "api|"+id).Limit.Rate().Count; rate != 10 {
			t.Errorf("%s has %d/s", id, rate)
		}
	}
}

// TestRollouts: the home Region takes a canary step by step and makes it the plan,
// puts a scheduled change in force, and rolls back when the alarm is on.
func TestRollouts(t *testing.T) {
	e := testengine.Start(t)
	alarms := cloudwatch.New(cloudwatch.Options{Region: here, BaseEndpoint: aws.String(e.Endpoint()), Credentials: testengine.Credentials})
	w := newWorld(t, func(o *Options) { o.Alarms = CloudWatch{Client: alarms, Region: here} })
	const alarm = "origin-errors"
	state := func(s types.StateValue) {
		t.Helper()
		_, err := alarms.SetAlarmState(t.Context(), &cloudwatch.SetAlarmStateInput{AlarmName: aws.String(alarm), StateValue: s, StateReason: aws.String("test")})
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := alarms.PutMetricAlarm(t.Context(), &cloudwatch.PutMetricAlarmInput{
		AlarmName: aws.String(alarm), Namespace: aws.String("test"), MetricName: aws.String("errors"), Statistic: types.StatisticSum, Period: aws.Int32(60),
		EvaluationPeriods: aws.Int32(1), Threshold: aws.Float64(1), ComparisonOperator: types.ComparisonOperatorGreaterThanThreshold,
	})
	if err != nil {
		t.Fatal(err)
	}
	state(types.StateValueOk)
	next := func(r plan.Rollout) string {
		t.Helper()
		r.Plan = &plan.Plan{Name: "pro", Limits: []plan.Limit{{Name: "api", Bucket: limitOf(t, 200, 200), Cost: 1}}}
		text, err := r.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	canary := func(alarm string) string {
		return next(plan.Rollout{Share: 500, Steps: []plan.Share{2500, plan.Everybody}, Every: time.Hour, StepAt: w.now() + int64(time.Hour), Alarm: alarm})
	}
	start := func(next string) {
		t.Helper()
		w.putPlan(ddbstore.Plan{Name: "pro", Body: api(t, 100, 100), Next: next})
	}
	stored := func() ddbstore.Plan {
		t.Helper()
		p, err := w.config.Plan(t.Context(), "pro")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	want := func(what string) {
		t.Helper()
		out := w.tick()
		if what == "" && out.Done != nil || what != "" && !slices.Equal(out.Done, []string{"pro: " + what}) {
			t.Errorf("did %q, want %q", out.Done, what)
		}
	}

	start(canary(alarm))
	want("")
	w.pass(time.Hour)
	want("the canary has 25% of the tenants")
	want("")
	w.pass(time.Hour)
	want("the canary has 100% of the tenants")
	w.pass(time.Hour - 1)
	want("")
	w.pass(1)
	want("the canary is complete")
	if p := stored(); p.Body != api(t, 200, 200) || p.Next != "" || p.Version != 4 || p.Change.Author != author {
		t.Errorf("got %+v", p)
	}

	start(canary(alarm))
	w.pass(time.Minute)
	state(types.StateValueAlarm)
	want("rolled back: alarm origin-errors is on")
	if p := stored(); p.Body != api(t, 100, 100) || p.Next != "" || !strings.Contains(p.Change.Reason, alarm) {
		t.Errorf("got %+v", p)
	}
	state(types.StateValueOk)

	start(next(plan.Rollout{From: w.now() + int64(time.Minute), Carry: bucket.Additive}))
	want("")
	w.pass(time.Minute)
	want("the scheduled change is in force")
	if p := stored(); p.Body != api(t, 200, 200) || p.Next != "" || p.Carry != "additive" {
		t.Errorf("got %+v", p)
	}

	// An alarm that nobody has made protects nobody: the canary stays where it is.
	start(canary("no-such-alarm"))
	before := stored()
	w.pass(2 * time.Hour)
	_, err = w.Handle(t.Context(), json.RawMessage(`{"source":"aws.events"}`))
	if err == nil || !strings.Contains(err.Error(), "no-such-alarm") {
		t.Errorf("got %v", err)
	}
	if p := stored(); p != before {
		t.Errorf("got %+v", p)
	}
}

func TestAlarmNames(t *testing.T) {
	c := CloudWatch{Region: here}
	for alarm, want := range map[string]string{
		"errors": "errors",
		"a: b":   "a: b",
		"arn:aws:cloudwatch:eu-west-1:123456789012:alarm:errors":     "errors",
		"arn:aws:cloudwatch:eu-west-1:123456789012:alarm:with:colon": "with:colon",
		"arn:aws-cn:cloudwatch:eu-west-1:123456789012:alarm:e":       "e",
		"arn:aws:cloudwatch:us-east-1:123456789012:alarm:errors":     "",
		"arn:aws:sns:eu-west-1:123456789012:alarm:errors":            "",
		"arn:aws:cloudwatch:eu-west-1:123456789012:dashboard:errors": "",
		"arn:aws:cloudwatch:eu-west-1:123456789012:alarm:":           "",
		"arn:aws:cloudwatch": "",
	} {
		name, err := c.name(alarm)
		if name != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %q, %v", alarm, name, err)
		}
	}
}

// TestUnusable: without its table a scheduled run says what to look at.
func TestUnusable(t *testing.T) {
	client := testengine.Start(t).Client(here)
	config := ddbstore.NewConfig(client, "no-such-table").Consistent().In(here)
	r := New(Options{Region: here, Regions: []string{here}, Config: config, Source: directory.FromTable(config), Rows: ddbstore.New(client, "no-such-buckets", here)})
	_, err := r.Handle(t.Context(), json.RawMessage(`{"source":"aws.events"}`))
	if err == nil || !strings.HasPrefix(err.Error(), "reconciler: the config table cannot be used: ") || !strings.Contains(err.Error(), `"no-such-table"`) || !strings.Contains(err.Error(), "WEIR_CONFIG_TABLE") {
		t.Errorf("got %v", err)
	}
}
