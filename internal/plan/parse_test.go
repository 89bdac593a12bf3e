package plan

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"weir/pkg/bucket"
)

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func mustParse(t testing.TB, text string) *File {
	t.Helper()
	f, err := Parse("plans.yaml", []byte(text))
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return f
}

func mustLimit(t testing.TB, count int64, per time.Duration, burst int64) bucket.Limit {
	t.Helper()
	l, err := bucket.NewLimit(bucket.Rate{Count: count, Period: per}, burst)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestParseExample(t *testing.T) {
	f, err := Parse("plans.yaml", readFile(t, "../../examples/plans.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	pro := f.Plans["pro"]
	if pro == nil || len(pro.Limits) != 2 {
		t.Fatalf("plan pro = %+v, want two limits", pro)
	}
	api, follow := pro.Limits[0], pro.Limits[1]
	if api.Name != "api" || api.Bucket != mustLimit(t, 100, time.Second, 100) || api.Cost != 1 || api.Key.String() != "{tenant}" {
		t.Errorf("limit api = %+v", api)
	}
	if want := (Match{Method: "POST", Resource: "/v1/users/{id}/follow"}); follow.Match != want || follow.Bucket != mustLimit(t, 200, time.Hour, 200) {
		t.Errorf("limit follow = %+v", follow)
	}
	if got := f.Plans["free"].Limits[0].Bucket; got != mustLimit(t, 5, time.Second, 10) {
		t.Errorf("plan free has %+v, want 5/s, burst 10", got)
	}
	if f.Anonymous != "anonymous" || f.Plans["anonymous"].Limits[0].Key.String() != "{ip}" {
		t.Errorf("anonymous requests have plan %q", f.Anonymous)
	}
	want := []Tenant{
		{ID: "acme", Plan: "pro", Keys: []string{"acme-dev-key-1"}},
		{ID: "hooli", Plan: "free", Keys: []string{"hooli-dev-key-1"}},
		{ID: "initech", Plan: "free", Suspended: true, Keys: []string{"initech-dev-key-1"}},
	}
	if len(f.Tenants) != len(want) {
		t.Fatalf("%d tenants, want %d", len(f.Tenants), len(want))
	}
	for i, w := range want {
		g := f.Tenants[i]
		if g.ID != w.ID || g.Plan != w.Plan || g.Suspended != w.Suspended || strings.Join(g.Keys, " ") != strings.Join(w.Keys, " ") {
			t.Errorf("tenant %d = %+v, want %+v", i, g, w)
		}
	}
}

func TestParseRateAndBurst(t *testing.T) {
	for _, tt := range []struct {
		fields string
		want   bucket.Limit
	}{
		{"rate: 100/s", mustLimit(t, 100, time.Second, 100)},
		{"rate: 60/m", mustLimit(t, 60, time.Minute, 60)},
		{"rate: 200/h, burst: 20", mustLimit(t, 200, time.Hour, 20)},
		{"rate: 1M/d", mustLimit(t, 1_000_000, 24*time.Hour, 1_000_000)},
		{"rate: 5k/s, burst: 2k", mustLimit(t, 5000, time.Second, 2000)},
		{"rate: 5k/s, burst: 1M", mustLimit(t, 5000, time.Second, 1_000_000)},
		{"rate: 100/s, burst: 50%", mustLimit(t, 100, time.Second, 50)},
		{"rate: 100/s, burst: 250%", mustLimit(t, 100, time.Second, 250)},
		{"rate: 5/s, burst: 50%", mustLimit(t, 5, time.Second, 2)},
		{`rate: "100/s", burst: "7"`, mustLimit(t, 100, time.Second, 7)},
		{"rate: 0/s", mustLimit(t, 0, 0, 0)},
		{"rate: 0/d, burst: 5", mustLimit(t, 0, 0, 5)},
		{"rate: unlimited", bucket.Unlimited()},
		{"rate: unlimited, burst: 10", bucket.Unlimited()},
	} {
		f, err := Parse("f", []byte("plans: {p: {limits: [{name: api, "+tt.fields+"}]}}"))
		if err != nil {
			t.Errorf("%s: %v", tt.fields, err)
			continue
		}
		if got := f.Plans["p"].Limits[0].Bucket; got != tt.want {
			t.Errorf("%s gives %+v, want %+v", tt.fields, got, tt.want)
		}
	}
}

func TestParseBadCredentials(t *testing.T) {
	const plans = "plans: {p: {limits: [{name: api, rate: 1/s}]}}\n"
	for _, tt := range []struct {
		text string
		want bucket.Limit
	}{
		{"", mustLimit(t, 60, time.Minute, 60)},
		{"badCredentials: {rate: 5/s, burst: 20}", mustLimit(t, 5, time.Second, 20)},
		{"badCredentials: {rate: unlimited}", bucket.Unlimited()},
	} {
		got := mustParse(t, plans+tt.text).BadCredentials
		if got.Bucket != tt.want || got.Key.String() != "{ip}" || got.Cost != 1 || got.Name != "_bad-credentials" {
			t.Errorf("%q gives %+v, want %+v by {ip}", tt.text, got, tt.want)
		}
	}
}

func TestParseSuspended(t *testing.T) {
	const file = "plans: {p: {limits: [{name: a, rate: 1/s}]}}\ntenants: [{id: t, plan: p, suspended: %s}]"
	for text, want := range map[string]bool{"true": true, "True": true, "TRUE": true, "false": false, "False": false} {
		if got := mustParse(t, fmt.Sprintf(file, text)).Tenants[0].Suspended; got != want {
			t.Errorf("suspended: %s gives %v", text, got)
		}
	}
}

func TestParseAnchors(t *testing.T) {
	f := mustParse(t, `
plans:
  a: &a
    limits:
      - &api { name: api, rate: 5/s }
  b: *a
  c:
    limits: [*api, { name: other, rate: 1/s }]
`)
	if got := f.Plans["b"].Limits[0]; got.Name != "api" || got.Bucket != mustLimit(t, 5, time.Second, 5) {
		t.Errorf("aliased plan has limit %+v", got)
	}
	if f.Plans["b"].Name != "b" {
		t.Errorf("aliased plan is called %q, want b", f.Plans["b"].Name)
	}
	if got := len(f.Plans["c"].Limits); got != 2 {
		t.Errorf("plan c has %d limits, want 2", got)
	}
}

func TestParsePlan(t *testing.T) {
	for _, body := range []string{
		`{"limits":[{"name":"api","rate":"100/s","burst":200}]}`,
		"{\n\t\"limits\": [\n\t\t{\n\t\t\t\"name\": \"api\",\n\t\t\t\"rate\": \"100/s\",\n\t\t\t\"burst\": 200\n\t\t}\n\t]\n}\n",
		"limits:\n  - name: api\n    rate: 100/s\n    burst: 200\n",
	} {
		p, err := ParsePlan("pro", []byte(body))
		if err != nil {
			t.Errorf("%q: %v", body, err)
			continue
		}
		if p.Name != "pro" || p.Ver != 0 || len(p.Limits) != 1 || p.Limits[0].Bucket != mustLimit(t, 100, time.Second, 200) {
			t.Errorf("%q gives %+v", body, p)
		}
	}
	_, err := ParsePlan("pro", []byte(`{"limits":[{"name":"api","rate":"1/s","priority":"critical"}]}`))
	if got, want := errText(err), "plan pro:1:39: priority is not supported by this version; remove it"; got != want {
		t.Errorf("a later field: %q, want %q", got, want)
	}
}

// errText is the text of err, "" for nil.
func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestErrorListUnwraps(t *testing.T) {
	_, err := Parse("f", []byte("plans: {p: {limits: [{name: a, rate: 5/s, burst: 0}, {name: b, rate: 2M/s}]}}"))
	if !errors.Is(err, bucket.ErrBurst) || !errors.Is(err, bucket.ErrRate) {
		t.Errorf("error %v does not wrap ErrBurst and ErrRate", err)
	}
	var e *Error
	if !errors.As(err, &e) || e.File != "f" || e.Line != 1 || e.Column != 50 {
		t.Errorf("first error is %+v, want one at f:1:50", e)
	}
}
