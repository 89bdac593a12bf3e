package e2e_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// TestSAM deploys template.yaml as it is, by `sam build` and `sam deploy`.
func TestSAM(t *testing.T) {
	w := begin(t)
	weir := w.build(t, ".", "./cmd/weir", "weir")
	built := filepath.Join(w.dir, "sam")
	w.run(t, ".", "sam", "build", "--build-dir", built, "--parameter-overrides", "Architecture="+w.arch)
	w.run(t, ".", "sam", "deploy", "--template", filepath.Join(built, "template.yaml"), "--stack-name", "weir-dev", "--resolve-s3",
		"--capabilities", "CAPABILITY_IAM", "--no-confirm-changeset", "--parameter-overrides", "Architecture="+w.arch, "ConfigDeletionProtection=false")

	var list []struct{ OutputKey, OutputValue string }
	if err := json.Unmarshal([]byte(w.run(t, ".", "sam", "list", "stack-outputs", "--stack-name", "weir-dev", "--output", "json")), &list); err != nil {
		t.Fatal(err)
	}
	outputs := map[string]string{}
	for _, o := range list {
		outputs[o.OutputKey] = o.OutputValue
	}
	operate := func(args ...string) string {
		return strings.TrimSpace(w.run(t, ".", weir, append(args,
			"--endpoint", w.Endpoint(), "--region", "eu-west-1", "--config-table", outputs["ConfigTableName"], "--buckets-table", outputs["BucketsTableName"])...))
	}
	operate("plan", "apply", w.write(t, "first.yaml", firstPlans), "--yes", "--reason", "e2e")
	operate("tenant", "create", "acme", "--plan", "pro", "--yes", "--reason", "e2e")
	key := operate("key", "create", "acme", "--yes")

	// The function that is deployed, behind the API that the template describes.
	arn := outputs["AuthorizerFunctionArn"]
	s := w.gateway(t, filepath.Join(w.root, "template.yaml"), "eu-west-1", arn[strings.LastIndex(arn, ":")+1:])
	get := func(key string) answer {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/things", nil)
		if err != nil {
			t.Fatal(err)
		}
		if key != "" {
			req.Header.Set("x-api-key", key)
		}
		return do(t, req)
	}
	served := get(key)
	expectServed(t, served)
	if limit, remaining := served.header.Get("X-RateLimit-Limit"), served.header.Get("X-RateLimit-Remaining"); limit != "5" || remaining != "4" {
		t.Errorf("limit %q, remaining %q, want 5 and 4", limit, remaining)
	}
	expectUnauthorized(t, get(""))
	expectHonest429(t, s, key)
}
