package main

import (
	"strings"
	"testing"

	"weir/internal/operator"
	"weir/internal/plan"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// explained is the result of weir explain --json.
type explained = operator.Explanation

// effective returns what holds for a tenant, by the parts of the authorizer.
func (s *site) effective(id string) (*plan.Plan, int64) {
	s.Helper()
	stored, err := s.config.Tenant(s.Context(), id)
	if err != nil {
		s.Fatal(err)
	}
	tenant, err := operator.TenantOf(stored)
	if err != nil {
		s.Fatal(err)
	}
	on, err := s.config.Plan(s.Context(), tenant.Plan)
	if err != nil {
		s.Fatal(err)
	}
	p, err := operator.PlanOf(on)
	if err != nil {
		s.Fatal(err)
	}
	return plan.Effective(p, tenant, change.At)
}

// TestExplainSaysWhatTheStoreDoes: what explain says of the next request is what
// becomes of the next charge. The rates are so slow that no token comes meanwhile.
func TestExplainSaysWhatTheStoreDoes(t *testing.T) {
	s := newSite(t)
	s.apply(`plans: {pro: {limits: [{name: api, rate: 10/d, burst: 10, cost: 3}]}}`)
	s.ok("tenant", "create", "acme", "--plan", "pro")
	eff, ver := s.effective("acme")
	store := ddbstore.New(s.client, s.tables.buckets, s.region)
	for i, want := range []bucket.Status{bucket.Charged, bucket.Charged, bucket.Charged, bucket.Refused} {
		var x explained
		s.answer(&x, "explain", "acme")
		v := x.Limits[0].Views[0]
		if v.Used != int64(3*i) || v.Remaining != int64(10-3*i) || len(v.Rows) != min(i, 1) {
			t.Errorf("after %d charges: %+v", i, v)
		}
		out := s.charge(store, x.Limits[0].Bucket, eff.Limits[0].Bucket, 3, ver)
		if out.Status != want || (out.Status == bucket.Refused) != (x.Next[0].Outcome == operator.Refused) {
			t.Errorf("charge %d: status %v, want %v; explain said %+v", i, out.Status, want, x.Next)
		}
	}
	text := s.ok("explain", "acme")
	contains(t, text, "tenant acme  active, plan pro", "limit api: 10/d, burst 10", "from    plan pro, version 1", "bucket  api|acme",
		"eu-west-1        9 used under 10/d burst 10", "together 9 of 10 used, 1 left", "up to 9 of the used may be in processes' hands",
		"in eu-west-1 refused: limit api: the bucket has 1 of the 3 tokens it costs; there will be enough in 4h4", "plan pro version 1, by ada: plan apply plans.yaml")
}

func TestExplainSources(t *testing.T) {
	s := newSite(t)
	s.apply(`
plans:
  pro:
    limits:
      - {name: api, rate: 10/d}
      - {name: follow, rate: 20/d, match: {method: POST, resource: /follow}, key: "{tenant}:{header.x-user-id}"}
      - {name: addr, rate: 30/d, key: "{ip}", mode: shadow}
      - {name: all, rate: unlimited}
`)
	s.ok("tenant", "create", "acme", "--plan", "pro", "--burst", "api=4", "--hold", "250ms")
	text := s.ok("explain", "acme")
	contains(t, text, "limit api: 10/d, burst 4, hold 250ms", "rate: plan pro, version 1; burst: override of the tenant, version 1; hold: override of the tenant",
		"limit follow: 20/d, burst 20, for POST /follow", "name one with --header x-user-id=VALUE", "name one with --ip", "limit addr: 30/d, burst 30, shadow",
		"limit all: unlimited", "it keeps none", "in eu-west-1 passes: limit api: 3 of 4 tokens are left after it")

	contains(t, s.ok("explain", "acme", "--method", "post", "--route", "/follow", "--header", "X-User-Id=7", "--ip", "2001:db8::1"),
		"bucket  follow|acme:header.x-user-id=7", "bucket  addr|ip=2001:db8::/64")

	s.file("next.yaml", strings.Replace(s.ok("plan", "show", "pro"), "10/d", "5/d", 1))
	s.ok("plan", "apply", "next.yaml", "--yes", "--canary", "0.01%,100%", "--every", "1h", "--tenants", "acme")
	contains(t, s.ok("explain", "acme"), "the plan has a canary for 0.01% of the tenants and acme, then 100%; the tenant has it", "limit api: 5/d, burst 4", "rate: canary of plan pro, version 2")
}

// TestExplainAcrossRegions: each Region sees the rows and the configuration that
// have reached it.
func TestExplainAcrossRegions(t *testing.T) {
	s := newSite(t)
	s.apply(twoPlans)
	s.ok("tenant", "create", "acme", "--plan", "pro")
	_, ver := s.effective("acme")
	l := perHour(t, 100, 100)
	far := ddbstoreIn(s, "us-east-1") // whose replica nothing has reached: the engine does not replicate
	s.charge(ddbstore.New(s.client, s.tables.buckets, "us-east-1"), "api|acme", l, 30, ver)
	s.charge(ddbstore.New(s.client, s.tables.buckets, "eu-west-1"), "api|acme", l, 60, ver)
	s.charge(far.rows, "api|acme", l, 30, ver)

	var x explained
	s.answer(&x, "explain", "acme", "--regions", "eu-west-1,us-east-1")
	here, there := x.Limits[0].Views[0], x.Limits[0].Views[1]
	if here.Region != "eu-west-1" || here.Used != 90 || len(here.Rows) != 2 || here.Unseen != 30 || there.Region != "us-east-1" || there.Used != 30 || len(there.Rows) != 1 {
		t.Errorf("%+v\n%+v", here, there)
	}
	if x.Config[0].PlanVersion != 1 || x.Config[1].PlanVersion != 0 || len(x.Next) != 2 || x.Next[0].Remaining != 9 || x.Next[1].Remaining != 69 {
		t.Errorf("%+v, %+v", x.Config, x.Next)
	}
	contains(t, s.ok("explain", "acme", "--regions", "eu-west-1,us-east-1"), "us-east-1 has plan version 0 and tenant version 0, eu-west-1 has 1 and 1",
		"bucket  api|acme in eu-west-1", "bucket  api|acme in us-east-1", "30 tokens spent elsewhere are not in this Region's row yet")
}

// region is a Region whose replica nothing reaches.
type region struct{ rows *ddbstore.Store }

func ddbstoreIn(s *site, name string) region {
	s.Helper()
	client := engineClient(s.T, name)
	if err := ddbstore.CreateTables(s.Context(), client, s.tables.buckets, s.tables.config); err != nil {
		s.Fatal(err)
	}
	if err := ddbstore.CreateStrictTable(s.Context(), client, s.tables.strict); err != nil {
		s.Fatal(err)
	}
	return region{ddbstore.New(client, s.tables.buckets, name)}
}

func TestExplainStrict(t *testing.T) {
	s := newSite(t)
	s.apply(`plans: {pro: {limits: [{name: otp, rate: 5/d, consistency: strict}, {name: each, rate: 8/d, consistency: regional}]}}`)
	s.ok("tenant", "create", "acme", "--plan", "pro")
	eff, ver := s.effective("acme")
	s.charge(ddbstore.NewStrict(s.client, s.tables.strict), "otp|acme", eff.Limits[0].Bucket, 2, ver)
	s.charge(ddbstore.New(s.client, s.tables.buckets, "us-east-1"), "each|acme", eff.Limits[1].Bucket, 7, ver)
	var x explained
	s.answer(&x, "explain", "acme")
	otp, each := x.Limits[0].Views[0], x.Limits[1].Views[0]
	if otp.Used != 2 || otp.Rows[0].Region != "*" || otp.Unseen != 0 {
		t.Errorf("strict: %+v", otp)
	}
	if each.Used != 0 || len(each.Rows) != 1 {
		t.Errorf("another Region's row is its own affair: %+v", each)
	}
	t.Setenv("WEIR_STRICT_TABLE", "")
	contains(t, s.ok("explain", "acme"), "the limit is strict and no strict table is named")
}

func TestExplainSuspendedAndOutdated(t *testing.T) {
	s := newSite(t)
	s.apply(twoPlans)
	s.ok("tenant", "create", "acme", "--plan", "pro")
	_, ver := s.effective("acme")
	store := ddbstore.New(s.client, s.tables.buckets, s.region)
	s.charge(store, "api|acme", perHour(t, 100, 100), 50, ver)
	s.ok("tenant", "set", "acme", "--limit", "api=200/h")
	contains(t, s.ok("explain", "acme"), "together 100 of 200 used", "the reconciler, or the next charge, brings it there (proportional)")
	s.charge(store, "api|acme", perHour(t, 10, 10), 1, ver+(1<<40)) // by a configuration that has not got here
	contains(t, s.ok("explain", "acme"), "its limit, 10/h burst 10, is in force")
	s.ok("tenant", "suspend", "acme")
	contains(t, s.ok("explain", "acme"), "acme  suspended", "in eu-west-1 refused: the tenant is suspended")
}

func TestExplainBadInput(t *testing.T) {
	s := newSite(t)
	s.apply(twoPlans)
	s.ok("tenant", "create", "acme", "--plan", "pro")
	for _, tt := range []struct{ want, args string }{
		{"there is no tenant \"gone\"", "gone"},
		{"cannot be the id", "a/b"},
		{"needs the id", ""},
		{"--ip \"1.2.3\"", "acme --ip 1.2.3"},
		{"NAME=VALUE", "acme --header x"},
		{"--grace", "acme --grace long"},
	} {
		s.fails(1, tt.want, append([]string{"explain"}, strings.Fields(tt.args)...)...)
	}
}

func TestUsage(t *testing.T) {
	s := newSite(t)
	s.apply(twoPlans)
	for _, id := range []string{"acme", "hooli"} {
		s.ok("tenant", "create", id, "--plan", "pro")
	}
	for i, u := range []ddbstore.Usage{ // by bucket, as the reconcilers count
		{Tenant: "acme", Month: "2026-11", Region: "eu-west-1", Limits: map[string]ddbstore.Used{"api|acme": {Tokens: 1_000_000}, "api|acme:=v2": {Tokens: 200_000}, "follow|acme": {Tokens: 7}}, At: 2e18},
		{Tenant: "acme", Month: "2026-11", Region: "us-east-1", Limits: map[string]ddbstore.Used{"api|acme": {Tokens: 34_567}}, At: 1.9e18},
		{Tenant: "acme", Month: "2026-10", Region: "us-east-1", Limits: map[string]ddbstore.Used{"api|acme": {Tokens: 5}}, At: 1.9e18},
		{Tenant: "hooli", Month: "2026-11", Region: "us-east-1", Limits: map[string]ddbstore.Used{"api|hooli": {Tokens: 9}}, At: 1.9e18},
	} {
		if _, err := s.config.PutUsage(t.Context(), u); err != nil {
			t.Fatal(i, err)
		}
	}
	contains(t, s.ok("usage", "acme", "--month", "2026-11"), "acme    api     1,234,567  eu-west-1 1,200,000, us-east-1 34,567  2030-03-17 17:46:40Z", "acme    follow  7")
	var all struct{ Usage []operator.Use }
	s.answer(&all, "usage", "--month", "2026-11")
	if len(all.Usage) != 3 || all.Usage[0].Tokens != 1_234_567 || all.Usage[2].Tenant != "hooli" {
		t.Errorf("%+v", all)
	}
	contains(t, s.ok("usage", "--month", "2020-01"), "Nothing was counted")
	s.fails(1, "there is no tenant", "usage", "gone")
	for _, month := range []string{"november", "2026-13", "2026-1", "2026-11-01"} {
		s.fails(1, "--month", "usage", "--month", month)
	}
}

func TestHome(t *testing.T) {
	s := newSite(t)
	contains(t, s.ok("home", "show", "--regions", "eu-west-1"), "home: none yet")
	s.apply(twoPlans)
	if err := s.config.PutHeartbeat(t.Context(), ddbstore.Heartbeat{Region: "us-east-1", At: change.At}); err != nil {
		t.Fatal(err)
	}
	contains(t, s.ok("home", "show", "--regions", "eu-west-1,us-east-1"), "home: eu-west-1", "eu-west-1        was never heard", "us-east-1        was heard")
	contains(t, s.ok("home", "show"), "home: eu-west-1") // the Regions from the table itself
	for _, tt := range []struct{ want, args string }{
		{"\"mars\" is no Region", "move mars"}, {"needs the Region", "move"}, {"got 2 arguments", "move us-east-1 b"},
	} {
		s.fails(1, tt.want, append([]string{"home"}, strings.Fields(tt.args)...)...)
	}
	s.failed(s.weir("n\n", "home", "move", "us-east-1"), 2, "nothing was changed", "move")
	contains(t, s.ok("home", "move", "eu-west-1"), "is the home already")
	contains(t, s.ok("home", "move", "us-east-1", "--yes"), "The home is us-east-1")
	if home, err := s.config.Home(t.Context()); home != "us-east-1" || err != nil {
		t.Errorf("home %q, %v", home, err)
	}

	// From here on changes are made there, wherever one reads. The engine does not
	// replicate, so there is nothing there yet.
	ddbstoreIn(s, "us-east-1")
	s.file("new.yaml", "plans: {fresh: {limits: [{name: api, rate: 1/s}]}}")
	r := s.weir("", "plan", "apply", "new.yaml")
	if r.err != nil || !strings.Contains(r.stderr, "is changed in us-east-1, its home Region") {
		t.Fatalf("%+v", r)
	}
	there := ddbstore.NewConfig(engineClient(t, "us-east-1"), s.tables.config).Consistent()
	if p, err := there.Plan(t.Context(), "fresh"); err != nil || p.Version != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := s.config.Plan(t.Context(), "fresh"); err == nil {
		t.Error("it was written outside the home")
	}
}
