package e2e_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// regions of the deployment, the primary one first.
var regions = []string{"eu-west-1", "us-east-1"}

// configuration is a weir.yaml with all that the emulator has.
const configuration = `
account: "` + account + `"
regions: [eu-west-1, us-east-1]
tables: { protect: false } # it is destroyed in the end
authorizer: { storeTimeout: 1s, timeout: 10s } # the emulator takes its time
domain:
  name: api.example.com
  zone: { id: Z0123456789ABCDEFGHIJ, name: example.com }
  healthKey: /weir/health-key
observability: { alarms: false } # it knows no metric math
`

// stacks are those that the emulator has everything for: docs/emulator.md.
var stacks = []string{"data", "eu-west-1", "us-east-1", "eu-west-1-observability", "us-east-1-observability"}

// Rates are so low that how long the test takes matters little.
const firstPlans = `
plans:
  pro:
    limits: [{ name: api, rate: 60/h, burst: 6 }]
  once:
    limits: [{ name: api, rate: 1/h, burst: 1 }]
`

// secondPlans raises pro a hundred times.
const secondPlans = `
plans:
  pro:
    limits: [{ name: api, rate: 6000/h, burst: 600 }]
`

// TestCDK deploys the tables and two Regions, uses them, changes a plan, has the
// deployment examined, and destroys it. The order matters.
func TestCDK(t *testing.T) {
	w := begin(t)
	out := w.synthesise(t)
	w.run(t, ".", w.weir, "doctor", "--synth", out)

	w.run(t, ".", w.tool("cdk"), "bootstrap", "aws://"+account+"/"+regions[0], "aws://"+account+"/"+regions[1], "--app", out)
	w.deploy(t, out, "data")
	on := tables{"weir-config", "weir-buckets"}
	w.operate(t, on, "plan", "apply", w.write(t, "first.yaml", firstPlans), "--yes", "--reason", "e2e")
	keys := map[string]string{}
	for tenant, plan := range map[string]string{"acme": "pro", "health": "pro", "hooli": "once"} {
		w.operate(t, on, "tenant", "create", tenant, "--plan", plan, "--yes", "--reason", "e2e")
		keys[tenant] = w.operate(t, on, "key", "create", tenant, "--yes")
	}
	for _, r := range regions {
		w.parameter(t, r, "/weir/health-key", keys["health"])
	}
	urls := w.deploy(t, out, stacks...)
	here, there := w.api(t, urls[regions[0]]), w.api(t, urls[regions[1]])

	t.Run("answers", func(t *testing.T) {
		expectServed(t, there.get(t, "/things", keys["acme"]), 6, 5)
		expectUnauthorized(t, here.get(t, "/things", ""))
		expectUnauthorized(t, there.get(t, "/things", "weir_no-such-key"))
		// Five tokens are left of the six, whichever Region is asked; one may come back meanwhile.
		expectRefused(t, here.exhaust(t, keys["acme"], 6), 6)
	})
	t.Run("one bucket in both Regions", func(t *testing.T) {
		// It knows its row and, from its last look, the other's: what it may serve until the next look is little.
		expectRefused(t, there.exhaust(t, keys["acme"], 3), 6)
	})
	t.Run("as another gateway has it", func(t *testing.T) {
		other := w.gateway(t, filepath.Join(out, regions[1]+".template.json"), regions[1], "weir-authorizer:live")
		expectRefused(t, other.get(t, "/things", keys["acme"]), 6)
		expectUnauthorized(t, other.get(t, "/things", ""))
	})
	t.Run("health", func(t *testing.T) {
		for _, r := range regions {
			w.expectHealthy(t, filepath.Join(out, r+".template.json"), r)
		}
	})
	t.Run("a plan changes", func(t *testing.T) {
		// Nobody asks meanwhile, so it is the reconciler of each Region that brings its row to the new limit.
		w.operate(t, on, "plan", "apply", w.write(t, "second.yaml", secondPlans), "--yes", "--reason", "raise", "--wait=60s")
		for _, r := range regions {
			limits := w.limits(t, r, on.buckets, "api|acme")
			for _, owner := range regions {
				if !strings.HasSuffix(limits[owner], "/600") {
					t.Errorf("in %s the row of %s has limit %q, want burst 600", r, owner, limits[owner])
				}
			}
		}
		for _, a := range []api{here, there} {
			a.until(t, "served by the new limit", keys["acme"], func(got answer) bool {
				return got.status == http.StatusOK && got.header.Get("X-RateLimit-Limit") == "600"
			})
		}
	})
	t.Run("a key is revoked", func(t *testing.T) {
		w.operate(t, on, "key", "revoke", "acme", "--all", "--yes", "--reason", "leaked")
		for _, a := range []api{here, there} {
			a.until(t, "refused", keys["acme"], func(got answer) bool { return got.status == http.StatusUnauthorized })
		}
	})
	t.Run("a peer's API", func(t *testing.T) { // infra/examples/attach
		out := filepath.Join(w.dir, "orders.out")
		t.Setenv("CDK_DEFAULT_ACCOUNT", account)
		t.Setenv("CDK_DEFAULT_REGION", regions[0])
		t.Setenv("CDK_OUTDIR", out)
		w.run(t, "infra", w.build(t, "infra", "./examples/attach", "attach"))
		orders := w.api(t, w.deploy(t, out, "orders")["orders"])
		expectUnauthorized(t, orders.get(t, "/orders", ""))
		expectServed(t, here.get(t, "/things", keys["hooli"]), 1, 0) // its one request an hour
		expectRefused(t, orders.get(t, "/orders", keys["hooli"]), 1)
		if got := orders.get(t, "/health", ""); got.status == http.StatusUnauthorized || got.status == http.StatusTooManyRequests {
			t.Errorf("what is open: %d %s", got.status, got.body)
		}
	})
	t.Run("doctor", func(t *testing.T) { w.examine(t) })
	t.Run("destroy", func(t *testing.T) {
		w.run(t, ".", w.tool("cdk"), "destroy", "orders", "--force", "--app", filepath.Join(w.dir, "orders.out"))
		w.run(t, ".", w.tool("cdk"), append([]string{"destroy", "--force", "--app", out}, stacks...)...)
		for _, r := range regions {
			w.expectLeft(t, r)
		}
	})
}
