package bootstrap_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"weir/internal/directory"
	"weir/internal/plan"
	"weir/internal/testbootstrap"
	"weir/internal/testengine"
	"weir/pkg/ddbstore"
)

const region = "eu-west-1"

// backend starts a function on stores that nobody has used yet. plansPath is the
// plans file it serves, env more of its environment.
type backend struct {
	name  string
	start func(t *testing.T, plansPath string, env ...string) *testbootstrap.Function
}

var backends = []backend{
	{"memory", func(t *testing.T, plansPath string, env ...string) *testbootstrap.Function {
		abs, err := filepath.Abs(plansPath)
		if err != nil {
			t.Fatal(err)
		}
		return testbootstrap.Start(t, bootstrap, append([]string{"AWS_REGION=" + region, "WEIR_STORE=memory", "WEIR_PLANS=" + abs}, env...)...)
	}},
	{"dynamodb", func(t *testing.T, plansPath string, env ...string) *testbootstrap.Function {
		return testbootstrap.Start(t, bootstrap, append(dynamoDB(t, plansPath), env...)...)
	}},
}

var tables atomic.Int64

// dynamoDB creates tables seeded from a plans file and returns the environment of
// a function that uses them.
func dynamoDB(t *testing.T, plansPath string) []string {
	t.Helper()
	text, err := os.ReadFile(plansPath)
	if err != nil {
		t.Fatal(err)
	}
	f, err := plan.Parse(plansPath, text)
	if err != nil {
		t.Fatal(err)
	}
	e := testengine.Start(t)
	n := tables.Add(1)
	buckets, config := fmt.Sprint("buckets-", n), fmt.Sprint("config-", n)
	client := e.Client(region)
	if err := ddbstore.CreateTables(t.Context(), client, buckets, config); err != nil {
		t.Fatal(err)
	}
	seed(t, ddbstore.NewConfig(client, config), f)
	env := []string{
		"AWS_REGION=" + region, "AWS_ENDPOINT_URL_DYNAMODB=" + e.Endpoint(),
		"WEIR_BUCKETS_TABLE=" + buckets, "WEIR_CONFIG_TABLE=" + config,
		"WEIR_STORE_TIMEOUT=2s", // the machine may be busy; what is tested here is not speed
	}
	if f.Anonymous != "" {
		env = append(env, "WEIR_ANONYMOUS_PLAN="+f.Anonymous)
	}
	return env
}

// seed writes everything in f to a config table that has none of it.
func seed(t *testing.T, c *ddbstore.Config, f *plan.File) {
	t.Helper()
	ctx, ch := t.Context(), ddbstore.Change{Author: "test"}
	for name, p := range f.Plans {
		body, err := p.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.PutPlan(ctx, ddbstore.Plan{Name: name, Body: string(body)}, ch); err != nil {
			t.Fatal(err)
		}
	}
	for _, tenant := range f.Tenants {
		status := ddbstore.Active
		if tenant.Suspended {
			status = ddbstore.Suspended
		}
		if _, err := c.PutTenant(ctx, ddbstore.Tenant{ID: tenant.ID, Plan: tenant.Plan, Status: status}, ch); err != nil {
			t.Fatal(err)
		}
		for _, key := range tenant.Keys {
			if _, err := c.PutCredential(ctx, ddbstore.Credential{Hash: directory.HashOf(key), Tenant: tenant.ID}, ch); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// invoke calls the function; an error on the way ends the test.
func invoke(t *testing.T, f *testbootstrap.Function, event []byte) testbootstrap.Reply {
	t.Helper()
	r, err := f.Invoke(t.Context(), event)
	if err != nil {
		t.Fatalf("%v\n%s", err, f.Log())
	}
	return r
}

// event returns a file of events/.
func event(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../events", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// plansFile writes a plans file.
func plansFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plans.yaml")
	if err := os.WriteFile(path, []byte(strings.TrimSpace(text)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
