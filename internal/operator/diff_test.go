package operator

import (
	"encoding/json"
	"testing"

	"weir/internal/plan"
)

func parsePlan(t *testing.T, yaml string) *plan.Plan {
	t.Helper()
	p, err := plan.ParsePlan("pro", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDiff(t *testing.T) {
	const base = `limits: [{name: api, rate: 100/s}, {name: follow, rate: 5/m, match: {method: POST, resource: /a}}]`
	for _, tt := range []struct{ name, from, to, want string }{
		{"the same in other words",
			base,
			`
limits:
  - { rate: 100/s, name: api, burst: "100%", key: "{tenant}", hold: 0s, cost: 1 }
  - { name: follow, match: { resource: /a, method: POST }, rate: 5/m, mode: enforce }`,
			`{"plan":"pro","kind":"same"}`},
		{"rate, and the burst that follows from it",
			`limits: [{name: api, rate: 100/s}]`,
			`limits: [{name: api, rate: 2k/s}]`,
			`{"plan":"pro","kind":"changed","limits":[{"limit":"api","kind":"changed","fields":[{"field":"rate","from":"100/s","to":"2000/s"},{"field":"burst","from":"100% (100)","to":"100% (2000)"}]}]}`},
		{"the same burst, but of every rate that a tenant may have",
			`limits: [{name: api, rate: 100/s, burst: 100}]`,
			`limits: [{name: api, rate: 100/s}]`,
			`{"plan":"pro","kind":"changed","limits":[{"limit":"api","kind":"changed","fields":[{"field":"burst","from":"100","to":"100% (100)"}]}]}`},
		{"a match gained, a hold changed by the plan",
			`limits: [{name: api, rate: 1/s}]`,
			`{hold: 250ms, limits: [{name: api, rate: 1/s, match: {method: GET}}]}`,
			`{"plan":"pro","kind":"changed","limits":[{"limit":"api","kind":"changed","fields":[{"field":"match.method","from":"","to":"GET"},{"field":"hold","from":"0s","to":"250ms"}]}]}`},
		{"no burst any more",
			`limits: [{name: api, rate: 1/s}]`,
			`limits: [{name: api, rate: unlimited}]`,
			`{"plan":"pro","kind":"changed","limits":[{"limit":"api","kind":"changed","fields":[{"field":"rate","from":"1/s","to":"unlimited"},{"field":"burst","from":"100% (1)","to":""}]}]}`},
		{"another key is another bucket",
			`limits: [{name: api, rate: 1/s}]`,
			`limits: [{name: api, rate: 1/s, key: "{ip}"}]`,
			`{"plan":"pro","kind":"changed","limits":[{"limit":"api","kind":"changed","fields":[{"field":"key","from":"{tenant}","to":"{ip}"}],"fresh":true}]}`},
		{"another table is another bucket",
			`limits: [{name: api, rate: 1/s, consistency: strict}]`,
			`limits: [{name: api, rate: 1/s, consistency: regional}]`,
			`{"plan":"pro","kind":"changed","limits":[{"limit":"api","kind":"changed","fields":[{"field":"consistency","from":"strict","to":"regional"}],"fresh":true}]}`},
		{"the same table is the same bucket",
			`limits: [{name: api, rate: 1/s, consistency: regional}]`,
			`limits: [{name: api, rate: 1/s}]`,
			`{"plan":"pro","kind":"changed","limits":[{"limit":"api","kind":"changed","fields":[{"field":"consistency","from":"regional","to":"global"},{"field":"onPartition","from":"","to":"serve"}]}]}`},
		{"order",
			`limits: [{name: a, rate: 1/s}, {name: b, rate: 1/s}]`,
			`limits: [{name: b, rate: 1/s}, {name: a, rate: 1/s}]`,
			`{"plan":"pro","kind":"changed","fields":[{"field":"order of limits","from":"a, b","to":"b, a"}]}`},
		{"description",
			`{description: old, limits: [{name: a, rate: 1/s}]}`,
			`limits: [{name: a, rate: 1/s}]`,
			`{"plan":"pro","kind":"changed","fields":[{"field":"description","from":"old","to":""}]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := Diff(parsePlan(t, tt.from), parsePlan(t, tt.to))
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestDiffOfLimitsThatComeAndGo(t *testing.T) {
	from := parsePlan(t, `limits: [{name: api, rate: 1/s}, {name: old, rate: 1/h, key: "{ip}", burst: 3, mode: shadow}]`)
	to := parsePlan(t, `limits: [{name: new, rate: unlimited, match: {method: GET}}, {name: api, rate: 1/s}]`)
	d, err := Diff(from, to)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Limits) != 2 || len(d.Fields) != 0 {
		t.Fatalf("%+v, want two limits that differ", d)
	}
	for i, want := range []struct {
		kind  Kind
		limit string
		brief string
	}{
		{Added, "new", "match.method GET, key {tenant}, unlimited"},
		{Removed, "old", "key {ip}, 1/h, burst 3, mode shadow"},
	} {
		l := d.Limits[i]
		if l.Kind != want.kind || l.Limit != want.limit || l.Brief() != want.brief {
			t.Errorf("%s %s: %s; want %+v", l.Kind, l.Limit, l.Brief(), want)
		}
	}
}

func TestDiffOfPlansThatComeAndGo(t *testing.T) {
	p := parsePlan(t, `limits: [{name: api, rate: 1/s}]`)
	for _, tt := range []struct {
		from, to *plan.Plan
		want     Kind
	}{{nil, p, Added}, {p, nil, Removed}} {
		d, err := Diff(tt.from, tt.to)
		if err != nil || d.Kind != tt.want || d.Plan != "pro" || len(d.Limits) != 1 || d.Limits[0].Kind != tt.want {
			t.Errorf("%+v, %v; want %s", d, err, tt.want)
		}
	}
	if _, err := Diff(nil, nil); err == nil {
		t.Error("no error for no plans")
	}
}
