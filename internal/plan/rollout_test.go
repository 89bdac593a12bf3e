package plan

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"weir/pkg/bucket"
)

const (
	nextBody = `"body":{"limits":[{"name":"a","rate":"200/s"}]}`
	noon     = 1_796_126_400 * int64(time.Second) // 2026-12-01T12:00:00Z
)

func mustRollout(t testing.TB, fields string) *Rollout {
	t.Helper()
	r, err := ParseRollout("pro", []byte("{"+nextBody+","+fields+"}"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestParseRollout(t *testing.T) {
	for _, data := range []string{"", " \n"} {
		if r, err := ParseRollout("pro", []byte(data)); r != nil || err != nil {
			t.Errorf("%q is %+v, %v, want none", data, r, err)
		}
	}
	r := mustRollout(t, `"carry":"additive","from":"2026-12-01T13:00:00+01:00"`)
	if r.Plan.Name != "pro" || r.Plan.Limits[0].Bucket != mustLimit(t, 200, time.Second, 200) || r.Carry != bucket.Additive || r.From != noon || !r.Scheduled() {
		t.Errorf("scheduled: %+v", r)
	}
	got := mustRollout(t, `"share":"2.5%","tenants":["hooli","acme"],"steps":["25%","100%"],"every":"90m","stepAt":"2026-12-01T12:00:00.000000001Z","alarm":"orders 5xx","paused":true`)
	want := &Rollout{
		Plan: r.Plan, Carry: bucket.Proportional, Share: 250, Tenants: []string{"acme", "hooli"}, Steps: []Share{2500, Everybody},
		Every: 90 * time.Minute, StepAt: noon + 1, Alarm: "orders 5xx", Paused: true,
	}
	if !reflect.DeepEqual(got, want) || got.Scheduled() {
		t.Errorf("canary: %+v\nwant %+v", got, want)
	}
	yaml := "body:\n  limits: [{ name: a, rate: 200/s }]\nfrom: 2026-12-01T12:00:00Z\n"
	if r, err := ParseRollout("pro", []byte(yaml)); err != nil || r.From != noon {
		t.Errorf("a date that YAML takes for one: %+v, %v", r, err)
	}
}

func TestParseRolloutRefuses(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`[]`, `1:1: the rollout is a list: want a mapping`},
		{`{from: "2026-12-01T12:00:00Z"}`, `1:1: the rollout has no body: want the plan as it is to be`},
		{`{body: [], share: 1%}`, `1:8: plan "pro" is a list: want a mapping`},
		{`{body: {limits: [{name: a, rate: 1}]}, share: 1%}`, `1:34: rate of limit "a" is a bare number: say per what, such as 1/s`},
		{`{BODY}`, `1:1: nobody would ever have it: want from, share, tenants or steps`},
		{`{BODY, share: 0%}`, `1:1: nobody would ever have it: want from, share, tenants or steps`},
		{`{BODY, shre: 1%}`, `1:44: unknown field "shre" in the rollout; did you mean share?`},
		{`{BODY, share: 1%, carry: keep}`, `1:62: carry of the rollout is "keep": want one of proportional, as-is, additive, reset`},
		{`{BODY, from: tomorrow}`, `1:50: from is "tomorrow": want a time such as 2026-12-01T09:00:00Z, or with an offset 2026-12-01T10:00:00+01:00`},
		{`{BODY, from: 2026-12-01}`, `1:50: from is "2026-12-01": want a time such as 2026-12-01T09:00:00Z, or with an offset 2026-12-01T10:00:00+01:00`},
		{`{BODY, from: "1850-12-01T00:00:00Z"}`, `1:50: from is "1850-12-01T00:00:00Z": want a time such as 2026-12-01T09:00:00Z, or with an offset 2026-12-01T10:00:00+01:00`},
		{`{BODY, from: 1796126400}`, `1:50: from is a number: want a time such as 2026-12-01T09:00:00Z`},
		{`{BODY, from: "2026-12-01T12:00:00Z", paused: true}`, `1:82: paused is of a canary, and a rollout with from is for everybody at once: remove one of them`},
		{`{BODY, from: "2026-12-01T12:00:00Z", share: 1%}`, `1:81: share is of a canary, and a rollout with from is for everybody at once: remove one of them`},
		{`{BODY, share: 5}`, `1:51: share is a bare number: write 5%`},
		{`{BODY, share: 0.5}`, `1:51: share is a bare number: write 0.5%`},
		{`{BODY, share: 101%}`, `1:51: share "101%": want a percentage from 0% to 100% with up to two decimals, such as 5% or 0.25%`},
		{`{BODY, tenants: [acme, acme]}`, `1:60: tenant "acme" appears twice`},
		{`{BODY, tenants: ["a b"]}`, `1:54: tenant id "a b": want 1 to 64 letters, digits, '.', '_' and '-'`},
		{`{BODY, steps: [10%]}`, `1:51: steps without every: say how long each lasts, such as every: 1h`},
		{`{BODY, steps: [10%, 10%], every: 1h}`, `1:57: step 10% is not wider than 10%, which comes before it`},
		{`{BODY, share: 20%, steps: [10%], every: 1h}`, `1:64: step 10% is not wider than 20%, which comes before it`},
		{`{BODY, share: 1%, every: 30s}`, `1:62: every is "30s": want whole minutes, hours or days, from 1m to 30d, such as 1h`},
		{`{BODY, share: 1%, every: 31d}`, `1:62: every is "31d": want whole minutes, hours or days, from 1m to 30d, such as 1h`},
		{`{BODY, share: 1%, every: 0m}`, `1:62: every is "0m": want whole minutes, hours or days, from 1m to 30d, such as 1h`},
		{`{BODY, share: 1%, alarm: ""}`, `1:62: alarm: want the name or the ARN of a CloudWatch alarm, up to 512 printable characters`},
		{`{BODY, share: 1%, paused: maybe}`, `1:63: paused is text: want true or false`},
		{`{BODY, share: 1%, stepAt: soon}`, `1:63: stepAt is "soon": want a time such as 2026-12-01T09:00:00Z, or with an offset 2026-12-01T10:00:00+01:00`},
	} {
		text := strings.ReplaceAll(tt.text, "BODY", `body: {limits: [{name: a, rate: 200/s}]}`)
		r, err := ParseRollout("pro", []byte(text))
		if got := strings.TrimPrefix(errText(err), "rollout of plan pro:"); got != tt.want || r != nil {
			t.Errorf("%s: %+v\n got %s\nwant %s", text, r, got, tt.want)
		}
	}
	var ids []string
	for i := range MaxCanaries + 1 {
		ids = append(ids, `"t`+strings.Repeat("x", i%40)+string(rune('a'+i/40))+`"`)
	}
	text := `{"body":{"limits":[{"name":"a","rate":"200/s"}]},"tenants":[` + strings.Join(ids, ",") + `]}`
	if _, err := ParseRollout("pro", []byte(text)); err == nil || !strings.Contains(err.Error(), "tenants has 1001 entries: at most 1000") {
		t.Errorf("1001 tenants: %.200v", err)
	}
}

func randomRollout(t *testing.T, rnd *rand.Rand) *Rollout {
	p := randomPlan(t, rnd)
	p.Ver = 0
	r := &Rollout{Plan: p, Carry: bucket.Carry(rnd.IntN(4))}
	if rnd.IntN(2) == 0 {
		r.From = noon + rnd.Int64N(int64(10000*time.Hour))
		return r
	}
	r.Share = Share(1 + rnd.IntN(9000))
	for _, id := range []string{"acme", "hooli", "-initech_"} {
		if rnd.IntN(2) == 0 {
			r.Tenants = append(r.Tenants, id)
		}
	}
	slices.Sort(r.Tenants)
	for s := r.Share + 1 + Share(rnd.IntN(3000)); s <= Everybody && rnd.IntN(3) > 0; s += 1 + Share(rnd.IntN(3000)) {
		r.Steps = append(r.Steps, s)
	}
	if r.Steps != nil || rnd.IntN(2) == 0 {
		r.Every = []time.Duration{time.Minute, 90 * time.Minute, 24 * time.Hour, 36 * time.Hour, MaxEvery}[rnd.IntN(5)]
		r.StepAt = noon + rnd.Int64N(int64(10000*time.Hour))
	}
	r.Alarm = strings.TrimSpace(randomText(rnd))
	r.Paused = rnd.IntN(2) == 0
	return r
}

func TestRoundTripOfAnyRollout(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		checkRolloutRoundTrip(t, randomRollout(t, rnd))
	}
}

func checkRolloutRoundTrip(t *testing.T, r *Rollout) {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatalf("marshal %+v: %v", r, err)
	}
	got, err := ParseRollout(r.Plan.Name, data)
	if err != nil || !reflect.DeepEqual(got, r) {
		t.Fatalf("%s\n is %+v, %v\nwant %+v", data, got, err, r)
	}
	if again, err := json.Marshal(got); err != nil || string(again) != string(data) {
		t.Fatalf("written as %s, then as %s, %v", data, again, err)
	}
}

func TestMarshalRolloutRefusesWhatCouldNotBeReadBack(t *testing.T) {
	for name, change := range map[string]func(*Rollout){
		"no limits":       func(r *Rollout) { r.Plan.Limits = nil },
		"no carry":        func(r *Rollout) { r.Carry = 4 },
		"both":            func(r *Rollout) { r.From = noon },
		"nobody":          func(r *Rollout) { r.Share, r.Steps = 0, nil },
		"share":           func(r *Rollout) { r.Share = Everybody + 1 },
		"steps that fall": func(r *Rollout) { r.Steps = []Share{200, 150} },
		"odd every":       func(r *Rollout) { r.Every = time.Second },
		"no every":        func(r *Rollout) { r.Every = 0 },
		"bad alarm":       func(r *Rollout) { r.Alarm = "a\nb" },
		"bad tenant":      func(r *Rollout) { r.Tenants = []string{""} },
		"long ago":        func(r *Rollout) { r.StepAt = 1 },
	} {
		r := mustRollout(t, `"share":"1%","steps":["2%"],"every":"1h"`)
		if data, err := json.Marshal(r); err != nil {
			t.Fatalf("before the change: %s, %v", data, err)
		}
		change(r)
		if data, err := json.Marshal(r); err == nil {
			t.Errorf("%s: got %s, want an error", name, data)
		}
	}
}

func TestScheduled(t *testing.T) {
	r := mustRollout(t, `"from":"2026-12-01T12:00:00Z"`)
	for now, want := range map[int64]bool{0: false, noon - 1: false, noon: true, noon + 1: true} {
		if got := r.InForce(now); got != want {
			t.Errorf("in force at %d: %v, want %v", now-noon, got, want)
		}
		if r.Has("pro", "acme", now) != want || r.Has("pro", "", now) != want || r.Complete(now) != want {
			t.Errorf("at %d not everybody has it when it is in force, or nobody before", now-noon)
		}
		if r.Due(now) {
			t.Error("a scheduled change has a step")
		}
	}
	if r.Step(noon) != r {
		t.Error("a step of a scheduled change changed it")
	}
	var none *Rollout
	if none.Scheduled() || none.InForce(noon) || none.Has("pro", "acme", noon) || none.Due(noon) || none.Complete(noon) || none.Step(noon) != nil {
		t.Error("somebody has no rollout")
	}
}

// TestCanarySteps takes a canary from its first tenants to everybody.
func TestCanarySteps(t *testing.T) {
	r := mustRollout(t, `"tenants":["acme"],"steps":["50%","100%"],"every":"1h","stepAt":"2026-12-01T12:00:00Z"`)
	hour := int64(time.Hour)
	if !r.Has("pro", "acme", 0) || r.Has("pro", "hooli", 0) {
		t.Error("not just the named tenant has it")
	}
	if r.Due(noon-1) || !r.Due(noon) || r.Complete(noon) {
		t.Error("the first step is not due at its time, or all steps are done")
	}
	paused := *r
	paused.Paused = true
	if paused.Due(noon) {
		t.Error("a step is due although it is paused")
	}
	half := r.Step(noon + 7)
	if half.Share != 5000 || !slices.Equal(half.Steps, []Share{Everybody}) || half.StepAt != noon+7+hour || half.Plan != r.Plan || half.Alarm != r.Alarm {
		t.Errorf("a step further: %+v", half)
	}
	if r.Share != 0 || len(r.Steps) != 2 || r.StepAt != noon {
		t.Errorf("the step changed the rollout itself: %+v", r)
	}
	all := half.Step(half.StepAt)
	if all.Share != Everybody || len(all.Steps) != 0 || all.Due(all.StepAt) {
		t.Errorf("two steps further: %+v", all)
	}
	if all.Complete(all.StepAt-1) || !all.Complete(all.StepAt) {
		t.Error("the last step does not last as long as the others")
	}
	if last := all.Step(noon); last != all {
		t.Errorf("a step after the last: %+v", last)
	}
	all.Paused = true
	if all.Complete(all.StepAt) {
		t.Error("it is complete although it is paused")
	}
	checkRolloutRoundTrip(t, half)
	checkRolloutRoundTrip(t, all)
}

// FuzzParseRollout checks that whatever the table has is read or refused with a
// place, and that what is read survives being written.
func FuzzParseRollout(f *testing.F) {
	for _, fields := range []string{
		`"from":"2026-12-01T12:00:00Z"`, `"share":"2.5%","tenants":["hooli","acme"],"steps":["25%","100%"],"every":"90m","stepAt":"2026-12-01T12:00:00.1Z","alarm":"x","paused":true`,
		`"carry":"reset","share":"100%"`, `"share":"0.01%"`, `"from":"2199-12-31T23:59:59.999999999-23:59"`, `"tenants":[]`, `"steps":["1%"],"every":"1m"`,
	} {
		f.Add([]byte("{" + nextBody + "," + fields + "}"))
	}
	f.Add([]byte("body: &b {limits: [{name: a, rate: 1/s}]}\nshare: 1%"))
	f.Add([]byte("&a [*a]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ParseRollout("f", data)
		if err != nil {
			if r != nil {
				t.Errorf("%+v beside the error %v", r, err)
			}
			return
		}
		if r != nil {
			checkRolloutRoundTrip(t, r)
		}
	})
}
