package main

import (
	"strings"
	"testing"

	"weir/internal/plan"
)

func TestGreeting(t *testing.T) {
	f, err := plan.Parse("p", []byte(`
plans:
  small: {limits: [{name: api, rate: 2/s, burst: 4}, {name: day, rate: 1000/d}]}
  huge: {limits: [{name: api, rate: 10000/s}]}
  free: {limits: [{name: api, rate: unlimited}]}
tenants:
  - {id: a, plan: small, keys: ["it's"]}
  - {id: b, plan: huge, keys: [kb]}
  - {id: c, plan: free, keys: [kc]}
  - {id: keyless, plan: small}
  - {id: d, plan: free, keys: [kd]}
  - {id: e, plan: free, keys: [ke]}
  - {id: sixth, plan: free, keys: [kf]}
`))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	g := greeting{base: "http://0.0.0.0:80", plansFile: "p", template: "t", plans: f, keyHeader: "x-api-key"}
	if err := g.write(&b); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if !strings.HasPrefix(got, "listening on http://0.0.0.0:80\n") {
		t.Errorf("first line of %q", got)
	}
	for _, want := range []string{
		`curl -i -H 'x-api-key: it'\''s' http://localhost:80/v1/things`,
		"more at once than the 4 of its limit api: 429",
		"seq 19 |",
		"no key: 401",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, not := range []string{"keyless", "sixth", "limit day"} {
		if strings.Contains(got, not) {
			t.Errorf("%q in\n%s", not, got)
		}
	}
	if n := strings.Count(got, "seq "); n != 1 {
		t.Errorf("%d floods suggested; only a's limit can be used up by hand:\n%s", n, got)
	}
}
