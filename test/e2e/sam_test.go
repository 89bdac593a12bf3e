package e2e_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSAM deploys template.yaml by `sam build` and `sam deploy`, uses it, and deletes
// it.
func TestSAM(t *testing.T) {
	w := begin(t)
	built := filepath.Join(w.dir, "sam")
	w.run(t, ".", w.tool("sam"), "build", "--build-dir", built, "--parameter-overrides", "Architecture="+w.arch)
	template := filepath.Join(built, "template.yaml")
	slow(t, template)
	w.run(t, ".", w.tool("sam"), "deploy", "--template", template, "--stack-name", "weir-dev", "--resolve-s3", "--capabilities", "CAPABILITY_IAM",
		"--no-confirm-changeset", "--parameter-overrides", "Architecture="+w.arch, "ConfigDeletionProtection=false")
	outputs := w.outputs(t, "weir-dev")

	on := tables{outputs["ConfigTableName"], outputs["BucketsTableName"]}
	w.operate(t, on, "plan", "apply", w.write(t, "first.yaml", firstPlans), "--yes", "--reason", "e2e")
	w.operate(t, on, "tenant", "create", "acme", "--plan", "pro", "--yes", "--reason", "e2e")
	key := w.operate(t, on, "key", "create", "acme", "--yes")
	dev := w.api(t, outputs["ApiUrl"])

	t.Run("answers", func(t *testing.T) {
		expectServed(t, dev.get(t, "/things", key), 6, 5)
		expectServed(t, dev.get(t, "/", key), 6, 4)
		expectUnauthorized(t, dev.get(t, "/things", ""))
		expectUnauthorized(t, dev.get(t, "/things", "weir_no-such-key"))
		expectRefused(t, dev.exhaust(t, key, 5), 6)
	})
	t.Run("as another gateway has it", func(t *testing.T) {
		arn := outputs["AuthorizerFunctionArn"]
		other := w.gateway(t, filepath.Join(w.root, "template.yaml"), regions[0], arn[strings.LastIndex(arn, ":")+1:])
		expectRefused(t, other.get(t, "/things", key), 6)
		expectUnauthorized(t, other.get(t, "/things", ""))
	})
	t.Run("a plan changes", func(t *testing.T) {
		w.operate(t, on, "plan", "apply", w.write(t, "second.yaml", secondPlans), "--yes", "--reason", "raise", "--wait=60s")
		if limit := w.limits(t, regions[0], on.buckets, "api|acme")[regions[0]]; !strings.HasSuffix(limit, "/600") {
			t.Errorf("the row has limit %q, want burst 600", limit)
		}
		dev.until(t, "served by the new limit", key, func(got answer) bool {
			return got.status == http.StatusOK && got.header.Get("X-RateLimit-Limit") == "600"
		})
	})
	t.Run("delete", func(t *testing.T) {
		w.run(t, ".", w.tool("sam"), "delete", "--stack-name", "weir-dev", "--region", regions[0], "--no-prompts")
		w.expectLeft(t, regions[0], on.config) // which outlives its stack
	})
}

// slow gives the store more time in a built template: the emulator takes it.
func slow(t *testing.T, template string) {
	t.Helper()
	const was, is = "WEIR_STORE_TIMEOUT: 100ms", "WEIR_STORE_TIMEOUT: 1s"
	text, err := os.ReadFile(template)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(text), was) != 1 {
		t.Fatalf("%s has not %q once", template, was)
	}
	if err := os.WriteFile(template, []byte(strings.Replace(string(text), was, is, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// outputs returns the outputs of a stack.
func (w *world) outputs(t *testing.T, stack string) map[string]string {
	t.Helper()
	var list []struct{ OutputKey, OutputValue string }
	text := w.run(t, ".", w.tool("sam"), "list", "stack-outputs", "--stack-name", stack, "--output", "json")
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	outputs := map[string]string{}
	for _, o := range list {
		outputs[o.OutputKey] = o.OutputValue
	}
	return outputs
}
