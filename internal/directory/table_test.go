package directory_test

import (
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"weir/internal/directory"
	"weir/internal/plan"
	"weir/internal/testengine"
	"weir/pkg/ddbstore"
)

const (
	region = "eu-west-1"
	t0     = 1_800_000_000 * int64(time.Second)
)

// configured returns a config table with tenant acme on plan pro, with key "k",
// and a proxy before it.
func configured(t *testing.T) (*ddbstore.Config, *testengine.Proxy) {
	t.Helper()
	return configuredIn(t, region)
}

func configuredIn(t *testing.T, region string) (*ddbstore.Config, *testengine.Proxy) {
	t.Helper()
	e := testengine.Start(t)
	if err := ddbstore.CreateTables(t.Context(), e.Client(region), t.Name()+"-buckets", t.Name()+"-config"); err != nil {
		t.Fatal(err)
	}
	p := e.Proxy(t)
	endpoint := p.Endpoint()
	client := ddbstore.NewClient(aws.Config{Region: region, Credentials: testengine.Credentials, BaseEndpoint: &endpoint})
	c := ddbstore.NewConfig(client, t.Name()+"-config")
	put(t, c, ddbstore.Plan{Name: "pro", Body: `{"limits":[{"name":"api","rate":"100/s"}]}`})
	put(t, c, ddbstore.Tenant{ID: "acme", Plan: "pro", Status: ddbstore.Active})
	put(t, c, ddbstore.Credential{Hash: directory.HashOf("k"), Tenant: "acme"})
	return c, p
}

func put(t *testing.T, c *ddbstore.Config, v any) {
	t.Helper()
	var err error
	by := ddbstore.Change{Author: "test"}
	switch v := v.(type) {
	case ddbstore.Plan:
		_, err = c.PutPlan(t.Context(), v, by)
	case ddbstore.Tenant:
		_, err = c.PutTenant(t.Context(), v, by)
	case ddbstore.Credential:
		_, err = c.PutCredential(t.Context(), v, by)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func cached(c *ddbstore.Config) *directory.Cached {
	return directory.NewCached(directory.FromTable(c), directory.Options{Log: slog.New(slog.DiscardHandler), Refresh: time.Second})
}

func TestFromTable(t *testing.T) {
	c, _ := configured(t)
	put(t, c, ddbstore.Tenant{ID: "initech", Plan: "pro", Status: ddbstore.Suspended})
	put(t, c, ddbstore.Credential{Hash: directory.HashOf("s"), Tenant: "initech"})
	put(t, c, ddbstore.Credential{Hash: directory.HashOf("old"), Tenant: "acme", Expires: t0})
	put(t, c, ddbstore.Tenant{ID: "hooli", Plan: "gold", Status: ddbstore.Active})
	put(t, c, ddbstore.Credential{Hash: directory.HashOf("planless"), Tenant: "hooli"})

	d := cached(c)
	e, err := d.ByCredential(t.Context(), t0, directory.HashOf("k"))
	if err != nil {
		t.Fatal(err)
	}
	if e.Tenant.ID != "acme" || e.Tenant.Suspended || e.Plan.Name != "pro" || e.Plan.Ver != 1 || e.Stale {
		t.Errorf("key k gives %+v, plan %+v", e, e.Plan)
	}
	if len(e.Plan.Limits) != 1 || e.Plan.Limits[0].Bucket.Burst() != 100 {
		t.Errorf("plan pro has limits %+v", e.Plan.Limits)
	}
	if e, err := d.ByCredential(t.Context(), t0, directory.HashOf("s")); err != nil || !e.Tenant.Suspended {
		t.Errorf("suspended tenant: %+v, %v", e, err)
	}
	for _, key := range []string{"nobody's", "old"} {
		if _, err := d.ByCredential(t.Context(), t0, directory.HashOf(key)); !errors.Is(err, directory.ErrUnknown) {
			t.Errorf("key %s: %v, want ErrUnknown", key, err)
		}
	}
	var missing *directory.MissingPlanError
	if _, err := d.ByCredential(t.Context(), t0, directory.HashOf("planless")); !errors.As(err, &missing) || missing.Plan != "gold" {
		t.Errorf("tenant without a plan: %v", err)
	}
}

func TestFromTableSeesChanges(t *testing.T) {
	c, _ := configured(t)
	d := cached(c)
	limit := func(now int64) *plan.Limit {
		t.Helper()
		e, err := d.ByCredential(t.Context(), now, directory.HashOf("k"))
		if err != nil {
			t.Fatal(err)
		}
		return &e.Plan.Limits[0]
	}
	limit(t0)
	put(t, c, ddbstore.Plan{Name: "pro", Version: 1, Body: `{"limits":[{"name":"api","rate":"200/s"}]}`})
	now := t0 + int64(2*time.Second)
	if got := limit(now).Bucket.Burst(); got != 100 {
		t.Errorf("burst %d before the change is seen, want 100", got)
	}
	d.PlanSeen(now, "pro", 2)
	if got := limit(now).Bucket.Burst(); got != 200 {
		t.Errorf("burst %d once a row of version 2 was seen, want 200", got)
	}

	// What this version cannot read does not replace what it can.
	put(t, c, ddbstore.Plan{Name: "pro", Version: 2, Body: `{"limits":[{"name":"api","rate":"300/s","priority":"critical"}]}`})
	if got := limit(now + int64(time.Hour)).Bucket.Burst(); got != 200 {
		t.Errorf("burst %d although the plan cannot be read, want the last known 200", got)
	}
}

func TestFromTableRefusesWhatItCannotHonour(t *testing.T) {
	c, _ := configured(t)
	put(t, c, ddbstore.Tenant{ID: "special", Plan: "pro", Status: ddbstore.Active, Overrides: `{"limits":[]}`})
	put(t, c, ddbstore.Plan{Name: "later", Body: `{"limits":[{"name":"api","rate":"1/s","kind":"quota"}]}`})
	s := directory.FromTable(c)
	if tn, err := s.Tenant(t.Context(), "special"); !errors.Is(err, directory.ErrInvalid) {
		t.Errorf("tenant with overrides: %+v, %v, want ErrInvalid", tn, err)
	}
	var list plan.ErrorList
	if p, err := s.Plan(t.Context(), "later"); !errors.Is(err, directory.ErrInvalid) || !errors.As(err, &list) {
		t.Errorf("plan of a later version: %+v, %v, want ErrInvalid and why", p, err)
	}
}

func TestFromTableHasOverrides(t *testing.T) {
	c, _ := configured(t)
	put(t, c, ddbstore.Tenant{ID: "watched", Plan: "pro", Status: ddbstore.Active, Overrides: `{"mode":"shadow","hold":"250ms"}`})
	tn, err := directory.FromTable(c).Tenant(t.Context(), "watched")
	if want := (plan.Overrides{Mode: plan.Shadow, Hold: 250 * time.Millisecond}); err != nil || tn.Overrides != want || tn.Plan != "pro" {
		t.Errorf("got %+v, %v, want overrides %+v", tn, err, want)
	}
}

func TestFromTableWithoutTheTable(t *testing.T) {
	c, p := configured(t)
	d := cached(c)
	if _, err := d.ByCredential(t.Context(), t0, directory.HashOf("k")); err != nil {
		t.Fatal(err)
	}
	p.Set(testengine.Answer(http.StatusServiceUnavailable, ""))
	e, err := d.ByCredential(t.Context(), t0+int64(time.Hour), directory.HashOf("k"))
	if err != nil || !e.Stale || e.Tenant.ID != "acme" {
		t.Errorf("known key: %+v, %v; want the last known entry, stale", e, err)
	}
	_, err = d.ByCredential(t.Context(), t0+int64(time.Hour), directory.HashOf("new"))
	if !errors.Is(err, ddbstore.ErrUnavailable) || errors.Is(err, directory.ErrUnknown) {
		t.Errorf("unknown key: %v, want ErrUnavailable", err)
	}
	p.Set(nil)
	e, err = d.ByCredential(t.Context(), t0+2*int64(time.Hour), directory.HashOf("k"))
	if err != nil || e.Stale {
		t.Errorf("once it is back: %+v, %v", e, err)
	}
}
