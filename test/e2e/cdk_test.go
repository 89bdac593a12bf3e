package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// regions of the deployment, the primary one first.
var regions = []string{"eu-west-1", "us-east-1"}

// deployment is deployed as it is here: with everything that the emulator has.
const deployment = `
account: "000000000000"
regions: [eu-west-1, us-east-1]
tables: { protect: false }
authorizer: { storeTimeout: 250ms } # the emulator takes its time
domain:
  name: api.example.com
  zone: { id: Z0123456789ABCDEFGHIJ, name: example.com }
  healthKey: /weir/health-key
observability: { alarms: false } # the emulator knows no metric math
`

const firstPlans = `
plans:
  pro:
    limits: [{ name: api, rate: 1/s, burst: 5 }]
  once:
    limits: [{ name: api, rate: 1/h, burst: 1 }]
`

// secondPlans is the same plan, raised.
const secondPlans = `
plans:
  pro:
    limits: [{ name: api, rate: 1/s, burst: 12 }]
`

// TestCDK deploys data and two Regions, uses them, and changes a plan.
func TestCDK(t *testing.T) {
	w := begin(t)
	out := filepath.Join(w.dir, "cdk.out")
	w.run(t, ".", "make", "build", "ARCH="+w.arch)
	infra := w.build(t, "infra", ".", "infra")
	weir := w.build(t, ".", "./cmd/weir", "weir")
	node := strings.TrimSpace(w.run(t, ".", "scripts/cdk-node.sh"))
	t.Setenv("JSII_NODE", node)
	w.run(t, "infra", infra, "-config", w.write(t, "weir.yaml", deployment), "-out", out, "-binaries", filepath.Join(w.root, "build", w.arch))

	// Before it is deployed, and after.
	w.run(t, ".", weir, "doctor", "--synth", out)

	for _, r := range regions {
		w.run(t, ".", "cdk", "bootstrap", "aws://"+account+"/"+r, "--app", out)
	}
	w.deploy(t, out, "data")
	w.replicate(t, "weir-buckets", "weir-config")
	w.parameter(t, "/weir/health-key", "not yet made") // CloudFormation resolves it
	urls := w.deploy(t, out, "eu-west-1", "us-east-1", "eu-west-1-observability", "us-east-1-observability")
	here, there := api{w.Endpoint(), urls["eu-west-1"]}, api{w.Endpoint(), urls["us-east-1"]}

	operate := func(args ...string) string {
		return strings.TrimSpace(w.run(t, ".", weir, append(args,
			"--endpoint", w.Endpoint(), "--region", "eu-west-1", "--config-table", "weir-config", "--buckets-table", "weir-buckets")...))
	}
	operate("plan", "apply", w.write(t, "first.yaml", firstPlans), "--yes", "--reason", "e2e")
	operate("tenant", "create", "acme", "--plan", "pro", "--yes", "--reason", "e2e")
	operate("tenant", "create", "hooli", "--plan", "pro", "--yes", "--reason", "e2e")
	operate("tenant", "create", "health", "--plan", "pro", "--yes", "--reason", "e2e")
	operate("tenant", "create", "peer", "--plan", "once", "--yes", "--reason", "e2e")
	acme, hooli, health := operate("key", "create", "acme", "--yes"), operate("key", "create", "hooli", "--yes"), operate("key", "create", "health", "--yes")

	t.Run("answers", func(t *testing.T) {
		expectServed(t, here.get(t, "/things", acme))
		expectUnauthorized(t, here.get(t, "/things", ""))
		expectUnauthorized(t, there.get(t, "/things", "weir_no-such-key"))
		expectRefused(t, here.exhaust(t, acme, 60))
	})
	t.Run("one limit in both Regions", func(t *testing.T) {
		here.exhaust(t, acme, 60)
		// A process that has never seen the tenant serves at most what a lease and its first look allow.
		served := 0
		for range 6 {
			if there.get(t, "/things", acme).status == 200 {
				served++
			}
		}
		if served > 3 {
			t.Errorf("%d of 6 requests were served in the other Region, of a bucket that is empty here", served)
		}
		if got := there.get(t, "/things", hooli); got.status != 200 {
			t.Errorf("another tenant: %d", got.status)
		}
	})
	t.Run("gateway responses with values", func(t *testing.T) {
		s := w.gateway(t, filepath.Join(out, "us-east-1.template.json"), "us-east-1", "weir-authorizer:live")
		expectHonest429(t, s, acme)
	})
	t.Run("health", func(t *testing.T) {
		w.expectHealthy(t, filepath.Join(out, "eu-west-1.template.json"), "eu-west-1", health)
	})
	t.Run("a plan changes", func(t *testing.T) {
		here.exhaust(t, hooli, 60) // rows in both Regions, with the old limit
		there.exhaust(t, hooli, 60)
		operate("plan", "apply", w.write(t, "second.yaml", secondPlans), "--yes", "--reason", "raise", "--wait=60s", "--regions", strings.Join(regions, ","))
		for _, r := range regions {
			rows := w.limits(t, r, "hooli")
			if len(rows) != 2 {
				t.Errorf("%s: rows of hooli: %v, want one of each Region", r, rows)
			}
			for owner, limit := range rows {
				if !strings.HasPrefix(limit, "1/") || !strings.HasSuffix(limit, "/12") {
					t.Errorf("%s: the row of %s is of limit %q, want burst 12: the reconciler there did not reach it", r, owner, limit)
				}
			}
		}
	})
	t.Run("a peer's API", func(t *testing.T) {
		peer := operate("key", "create", "peer", "--yes")
		out := filepath.Join(w.dir, "orders.out")
		t.Setenv("CDK_DEFAULT_ACCOUNT", account)
		t.Setenv("CDK_DEFAULT_REGION", "eu-west-1")
		t.Setenv("CDK_OUTDIR", out)
		w.run(t, "infra", "go", "run", "./examples/attach")
		orders := api{w.Endpoint(), w.deploy(t, out, "orders")["orders"]}
		expectUnauthorized(t, orders.get(t, "/orders", ""))
		expectServed(t, here.get(t, "/things", peer)) // its one request an hour
		expectRefused(t, orders.get(t, "/orders", peer))
		if got := orders.get(t, "/health", ""); got.status == http.StatusUnauthorized {
			t.Errorf("what is open asks for a key: %d %s", got.status, got.body)
		}
	})
	doctor := func() (findings []finding) {
		text, err := w.try(t, ".", weir, "doctor", "--json", "--endpoint", w.Endpoint(), "--region", "eu-west-1", "--open", "/health",
			"--config-table", "weir-config", "--buckets-table", "weir-buckets", "--regions", strings.Join(regions, ","))
		var found struct{ Findings []finding }
		if jsonErr := json.Unmarshal([]byte(text), &found); jsonErr != nil {
			t.Fatal(err, jsonErr)
		}
		return found.Findings
	}
	t.Run("doctor", func(t *testing.T) {
		for _, r := range regions { // sooner than the schedule does
			if _, err := w.invoke(t.Context(), r, "weir-reconciler", []byte(`{"source":"weir.schedule"}`)); err != nil {
				t.Fatal(err)
			}
		}
		for _, f := range doctor() {
			if f.Severity == "broken" {
				t.Errorf("%s: %s: %s", f.Rule, f.Where, f.What)
			}
		}
		// Somebody takes away the 429, and the function's environments, by hand.
		w.forget429(t, "us-east-1")
		w.reserve(t, "eu-west-1", "weir-authorizer", 0)
		var rules []string
		for _, f := range doctor() {
			if f.Severity == "broken" {
				rules = append(rules, f.Rule)
			}
		}
		if want := []string{"no-429", "reserved-0"}; !slices.Equal(slices.Sorted(slices.Values(rules)), want) {
			t.Errorf("what is broken: %v, want %v", rules, want)
		}
	})
}

// finding is one of `weir doctor --json`.
type finding struct{ Severity, Rule, Where, What string }

// write writes a file for a command to read.
func (w *world) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// deploy deploys stacks of an assembly and returns the URLs of their APIs.
func (w *world) deploy(t *testing.T, out string, stacks ...string) map[string]string {
	t.Helper()
	file := filepath.Join(w.dir, "outputs.json")
	args := append([]string{"deploy"}, stacks...)
	w.run(t, ".", "cdk", append(args, "--app", out, "--exclusively", "--require-approval", "never", "--progress", "events", "--outputs-file", file)...)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var outputs map[string]map[string]string
	if err := json.Unmarshal(text, &outputs); err != nil {
		t.Fatal(err)
	}
	urls := map[string]string{}
	for stack, o := range outputs {
		urls[strings.TrimPrefix(stack, "weir-")] = o["ApiUrl"]
	}
	t.Logf("stacks with outputs: %v", slices.Sorted(maps.Keys(urls)))
	return urls
}

// replicate asks for the replicas that CloudFormation makes on AWS.
func (w *world) replicate(t *testing.T, tables ...string) {
	t.Helper()
	for _, table := range tables {
		for _, r := range regions[1:] {
			_, err := w.Client(regions[0]).UpdateTable(t.Context(), &dynamodb.UpdateTableInput{
				TableName:      &table,
				ReplicaUpdates: []types.ReplicationGroupUpdate{{Create: &types.CreateReplicationGroupMemberAction{RegionName: aws.String(r)}}},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// limits returns the limits that the rows of a tenant are of, by the Region that
// writes them, as a Region's replica has them.
func (w *world) limits(t *testing.T, region, tenant string) map[string]string {
	t.Helper()
	out, err := w.Client(region).Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("weir-buckets"), ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, item := range out.Items {
		pk, _ := item["pk"].(*types.AttributeValueMemberS)
		sk, _ := item["sk"].(*types.AttributeValueMemberS)
		limit, _ := item["lim"].(*types.AttributeValueMemberS)
		if pk != nil && sk != nil && limit != nil && strings.Contains(pk.Value, "api|"+tenant) {
			found[sk.Value] = limit.Value
		}
	}
	return found
}

// parameter writes a parameter in every Region.
func (w *world) parameter(t *testing.T, name, value string) {
	t.Helper()
	for _, r := range regions {
		body := fmt.Sprintf(`{"Name":%q,"Value":%q,"Type":"String"}`, name, value)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.Endpoint(), strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-amz-json-1.1")
		req.Header.Set("X-Amz-Target", "AmazonSSM.PutParameter")
		// The emulator takes the Region from the scope of the signature, which it does not check.
		req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=test/20260101/"+r+"/ssm/aws4_request, SignedHeaders=host, Signature=0")
		if got := do(t, req); got.status != http.StatusOK {
			t.Fatalf("%s in %s: %d %s", name, r, got.status, got.body)
		}
	}
}
