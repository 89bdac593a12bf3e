package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"weir/internal/operator"
	"weir/pkg/ddbstore"
)

const twoPlans = `
plans:
  pro:
    limits:
      - {name: api, rate: 100/h}
      - {name: follow, rate: 20/h, key: "{tenant}:{ip}"}
  free:
    limits: [{name: api, rate: 10/h}]
`

// TestPlanLifecycle changes plans, looks at them, and changes them back.
func TestPlanLifecycle(t *testing.T) {
	s := newSite(t)
	s.file("plans.yaml", twoPlans)

	contains(t, s.ok("plan", "diff", "plans.yaml"), "plan free: new", "plan pro: new", "+ limit api: key {tenant}, 100/h, burst 100% (100)")
	s.fails(2, "differ", "plan", "diff", "plans.yaml", "--exit-code")
	contains(t, s.ok("plan", "apply", "plans.yaml"), "plan free is at version 1", "plan pro is at version 1") // nobody is on them: it does not ask
	contains(t, s.ok("plan", "diff", "plans.yaml", "--exit-code"), "plan free: no change", "plan pro: no change")
	contains(t, s.ok("plan", "apply", "plans.yaml"), "Nothing to change")
	for _, id := range []string{"acme", "hooli"} {
		s.ok("tenant", "create", id, "--plan", "pro")
	}

	s.file("plans.yaml", strings.Replace(twoPlans, "100/h", "50/h, burst: 60", 1))
	no := s.weir("n\n", "plan", "apply", "plans.yaml")
	s.failed(no, 2, "nothing was changed", "apply")
	contains(t, no.stdout, "plan pro: version 1 -> 2", "rate   100/h -> 50/h", "burst  100% (100) -> 60", "plan pro has 2 tenants; 0 would be over")
	contains(t, no.stderr, "Change 1 plan, for 2 tenants? [y/N]")
	s.failed(s.weir("", "plan", "apply", "plans.yaml"), 2, "--yes", "apply")
	if p, err := s.config.Plan(t.Context(), "pro"); err != nil || p.Version != 1 {
		t.Fatalf("a no has made version %d, %v", p.Version, err)
	}
	yes := s.weir("yes\n", "plan", "apply", "plans.yaml", "--reason", "INC-42: less", "--author", "bob", "--carry", "as-is")
	if yes.err != nil {
		t.Fatal(yes.err)
	}
	p, err := s.config.Plan(t.Context(), "pro")
	if err != nil || p.Version != 2 || p.Change.Author != "bob" || p.Change.Reason != "INC-42: less" || p.Carry != "as-is" {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := s.config.Plan(t.Context(), "free"); err != nil || p.Version != 1 {
		t.Errorf("a plan that did not change is at version %d, %v", p.Version, err)
	}

	contains(t, s.ok("plan", "history", "pro"), "version 2", "bob  INC-42: less", "limit api\n", "100/h -> 50/h", "version 1", "ada  plan apply plans.yaml")
	contains(t, s.ok("plan", "show"), "free", "pro")

	// What show prints, apply takes, and it is that version again.
	s.file("old.yaml", s.ok("plan", "show", "pro", "--version", "1"))
	contains(t, s.ok("plan", "diff", "old.yaml"), "50/h -> 100/h", "60 -> 100% (100)", "plan free: not in the file")
	s.file("now.yaml", s.ok("plan", "show", "pro"))
	contains(t, s.ok("plan", "diff", "now.yaml", "--exit-code"), "plan pro: no change")

	contains(t, s.ok("plan", "rollback", "pro", "--yes"), "50/h -> 100/h", "plan pro is at version 3, which is version 1 again")
	s.fails(2, "is what it was at version 1", "plan", "rollback", "pro", "--to", "1", "--yes")
	s.fails(2, "is at version 3", "plan", "rollback", "pro", "--to", "3", "--yes")
	s.fails(1, "no version 9", "plan", "rollback", "pro", "--to", "9", "--yes")
	one, err := s.config.PlanAt(t.Context(), "pro", 1)
	if err != nil {
		t.Fatal(err)
	}
	three, err := s.config.PlanAt(t.Context(), "pro", 3)
	if err != nil || three.Body != one.Body || three.Change.Reason != "rollback to version 1" {
		t.Errorf("rolled back to %+v, %v\nwant the body of %+v", three, err, one)
	}
	contains(t, s.ok("plan", "rollback", "pro", "--yes"), "which is version 2 again") // the last that was different
}

// TestPlanApplyPreview: the preview says who would be over, by what all Regions
// have charged.
func TestPlanApplyPreview(t *testing.T) {
	s := newSite(t)
	s.apply(twoPlans)
	l := perHour(t, 100, 100)
	for _, id := range []string{"acme", "hooli", "initech"} {
		s.ok("tenant", "create", id, "--plan", "pro")
	}
	s.ok("tenant", "create", "umbrella", "--plan", "pro")
	s.ok("tenant", "set", "initech", "--limit", "api=100/h")
	s.ok("tenant", "set", "umbrella", "--burst", "api=100") // whatever the plan says
	here, there := ddbstore.New(s.client, s.tables.buckets, "eu-west-1"), ddbstore.New(s.client, s.tables.buckets, "us-east-1")
	s.charge(here, "api|acme", l, 45, 0)
	s.charge(there, "api|acme", l, 30, 0)
	s.charge(here, "api|hooli", l, 20, 0)
	s.charge(here, "api|initech", l, 90, 0)
	s.charge(here, "api|umbrella", l, 90, 0)

	s.file("plans.yaml", strings.Replace(twoPlans, "100/h", "100/h, burst: 40", 1))
	r := s.weir("n\n", "plan", "apply", "plans.yaml", "--carry", "additive")
	contains(t, r.stdout, "plan pro has 4 tenants; 2 would be over the new limit now", "acme     api    has used", "initech  api    has used", "and the burst would be 40")
	if strings.Contains(r.stdout, "hooli") || strings.Contains(r.stdout, "umbrella") {
		t.Errorf("hooli and umbrella would not be over:\n%s", r.stdout)
	}
	var out applyJSON
	s.answer(&out, "plan", "apply", "plans.yaml", "--carry", "additive", "--yes")
	if len(out.Plans) != 1 || out.Plans[0].Tenants != 4 || out.Plans[0].Looked != 4 || len(out.Plans[0].Over) != 2 || out.Plans[0].Over[0].Tenant != "acme" ||
		out.Plans[0].Over[0].Used <= 40 || out.Plans[0].Over[0].Why != operator.ByLevel || !out.Applied || out.Plans[0].NewVersion != 2 || out.Change.Author != "ada" {
		t.Errorf("%+v", out)
	}

	s.file("plans.yaml", twoPlans)
	contains(t, s.weir("n\n", "plan", "apply", "plans.yaml", "--preview", "2").stdout, "plan pro has 4 tenants; of the first 2, 0 would be over")
}

// TestPlanApplyConflict: two people apply at the same time. What the second one was
// shown is not what is there any more.
func TestPlanApplyConflict(t *testing.T) {
	s := newSite(t)
	s.apply(twoPlans)
	s.ok("tenant", "create", "acme", "--plan", "pro")
	s.ok("tenant", "create", "hooli", "--plan", "free")
	s.file("both.yaml", strings.NewReplacer("100/h", "80/h", "10/h", "8/h").Replace(twoPlans))
	s.file("pro.yaml", strings.Replace(twoPlans, "100/h", "90/h", 1))

	asked, answer := io.Pipe()
	first := make(chan ran)
	go func() {
		first <- s.weirIn(t.Context(), question{asked, func() { s.ok("plan", "apply", "pro.yaml", "--yes", "--author", "bob", "--reason", "faster") }}, "plan", "apply", "both.yaml")
	}()
	go func() { _, _ = io.WriteString(answer, "yes\n") }()
	r := <-first
	s.failed(r, 2, "at version 2, changed by bob", "apply")
	contains(t, r.err.Error(), `plan "pro"`, "Nothing was changed", "run the command again")
	for name, want := range map[string]int64{"pro": 2, "free": 1} {
		if p, err := s.config.Plan(t.Context(), name); err != nil || p.Version != want {
			t.Errorf("plan %s is at version %d, %v; want %d", name, p.Version, err, want)
		}
	}
	contains(t, s.ok("plan", "apply", "both.yaml", "--yes"), "plan pro is at version 3", "plan free is at version 2")
}

// question does something when it is first read from, when a command asks.
type question struct {
	io.Reader
	then func()
}

func (q question) Read(p []byte) (int, error) {
	q.then()
	return q.Reader.Read(p)
}

// TestPlanBadInput: whatever is wrong, the message says where and what to do, and
// nothing is written.
func TestPlanBadInput(t *testing.T) {
	s := newSite(t)
	s.apply(twoPlans)
	before := s.items()
	s.file("ok.yaml", strings.Replace(twoPlans, "100/h", "90/h", 1))
	s.file("typo.yaml", "plans:\n  pro:\n    limits:\n      - {name: api, rte: 5/s}\n  free:\n    limits: [{name: api, rate: 5/week}]\n")
	s.file("syntax.yaml", "plans:\n\tpro: 1\n")
	s.file("empty.yaml", "")
	s.file("burst.yaml", "plans: {p: {limits: [{name: api, rate: 5/s, burst: 0}]}}")
	for _, tt := range []struct {
		want string
		args string
	}{
		{"typo.yaml:4:21: unknown field \"rte\" in a limit; did you mean rate?", "apply typo.yaml"},
		{"typo.yaml:6:32: ", "apply typo.yaml --yes"},
		{"syntax.yaml:2:1: ", "apply syntax.yaml"},
		{"empty.yaml:1:1: empty", "apply empty.yaml"},
		{"burst.yaml:1:", "diff burst.yaml"},
		{"there is no plans file gone.yaml", "apply gone.yaml"},
		{"needs a plans file", "apply"},
		{"got 2 arguments", "apply ok.yaml b.yaml"},
		{"no plan \"gold\"; it has free, pro", "apply ok.yaml --only gold"},
		{"as-is", "apply ok.yaml --carry keep"},
		{"--at \"soon\"", "apply ok.yaml --at soon"},
		{"is past", "apply ok.yaml --at 2020-01-01T00:00:00Z"},
		{"5%", "apply ok.yaml --canary 5,100 --every 10m"},
		{"want shares that grow", "apply ok.yaml --canary 25%,5% --every 10m"},
		{"want shares that grow", "apply ok.yaml --canary 0%,5% --every 10m"},
		{"whole minutes", "apply ok.yaml --canary 5%,100% --every 90s"},
		{"--every", "apply ok.yaml --canary 5%,100% --every often"},
		{"leave it out", "apply ok.yaml --canary 5% --at +2h"},
		{"--canary or --tenants", "apply ok.yaml --alarm x"},
		{"leave one of them out", "apply ok.yaml --canary 5% --alarm x --check true"},
		{"cannot be the id", "apply ok.yaml --tenants a/b"},
		{"plan rollout", "apply ok.yaml --canary 5%,100% --wait"},
		{"--wait=", "apply ok.yaml --wait=soon"},
		{"--preview", "apply ok.yaml --preview -1"},
		{"lists the flags", "apply ok.yaml --force"},
		{"did you mean diff?", "dif"},
		{"there is no plan \"gold\"; there are free, pro", "show gold"},
		{"there is no plan \"gold\"; there are free, pro", "history gold"},
		{"there is no plan \"gold\"; there are free, pro", "rollback gold"},
		{"there is no plan \"gold\"; there are free, pro", "rollout gold"},
		{"no version 7", "show pro --version 7"},
		{"name it", "show --version 1"},
		{"--most 0", "history pro --most 0"},
		{"--to 0", "rollback pro --to 0"},
		{"\"jump\": want status, next", "rollout pro jump"},
		{"one line of text", "apply ok.yaml --yes --reason a\x07b"},
		{"bytes long", "apply ok.yaml --yes --author " + strings.Repeat("a", 300)},
	} {
		s.fails(1, tt.want, append([]string{"plan"}, strings.Split(tt.args, " ")...)...)
	}
	for _, args := range []string{"rollout pro next", "rollout pro abort", "rollback pro"} {
		s.fails(2, "", append([]string{"plan"}, strings.Split(args, " ")...)...)
	}
	if after := s.items(); after != before {
		t.Errorf("%d items became %d: something was written", before, after)
	}
}

// TestPlanApplyTakesPlansOnly: tenants of a development file, with their keys, are
// not written.
func TestPlanApplyTakesPlansOnly(t *testing.T) {
	s := newSite(t)
	s.file("dev.yaml", "plans: {p: {limits: [{name: api, rate: 1/s, key: \"{ip}\"}]}}\nanonymous: p\ntenants: [{id: acme, plan: p, keys: [acme-dev-key-1]}]\n")
	r := s.weir("", "plan", "apply", "dev.yaml")
	if r.err != nil {
		t.Fatal(r.err)
	}
	contains(t, r.stderr, "1 tenant with keys in plain text", "WEIR_ANONYMOUS_PLAN")
	s.fails(1, "there is no tenant", "tenant", "show", "acme")
	if r := s.weir("plans: {q: {limits: [{name: api, rate: 1/s}]}}", "plan", "apply", "-"); r.err != nil || !strings.Contains(r.stdout, "plan q is at version 1") {
		t.Errorf("from standard input: %+v", r)
	}
}

// TestPlanApplyInterrupted: an interrupt while it asks changes nothing.
func TestPlanApplyInterrupted(t *testing.T) {
	s := newSite(t)
	s.apply(twoPlans)
	for _, id := range []string{"a", "b"} {
		s.ok("tenant", "create", id, "--plan", "pro")
	}
	s.file("plans.yaml", strings.Replace(twoPlans, "100/h", "90/h", 1))
	ctx, cancel := context.WithCancel(t.Context())
	never, _ := io.Pipe()
	r := s.weirIn(ctx, question{never, cancel}, "plan", "apply", "plans.yaml")
	s.failed(r, 130, "interrupted; nothing was changed", "plan apply")
	if p, err := s.config.Plan(t.Context(), "pro"); err != nil || p.Version != 1 {
		t.Errorf("version %d, %v", p.Version, err)
	}
}
