package bootstrap_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"weir/internal/testbootstrap"
)

// TestEvents answers every API Gateway's event of events/ on one warm function and
// compares with the answers that package authorizer has of it, but for how much is left of
// buckets that the files share.
func TestEvents(t *testing.T) {
	paths, err := filepath.Glob("../../events/apigw-*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no events: %v", err)
	}
	for _, b := range backends {
		for _, form := range []string{"simple", "iam"} {
			t.Run(b.name+"/"+form, func(t *testing.T) {
				f := b.start(t, "../../examples/plans.yaml", "WEIR_HTTP_RESPONSE="+form)
				for _, path := range paths {
					name := strings.TrimSuffix(filepath.Base(path), ".json")
					golden := "../../internal/authorizer/testdata/" + name + ".golden"
					if iam := strings.TrimSuffix(golden, "golden") + "iam.golden"; form == "iam" && exists(iam) {
						golden = iam
					}
					want, err := os.ReadFile(golden)
					if err != nil {
						t.Fatal(err)
					}
					compare(t, name, invoke(t, f, event(t, name)), want)
				}
				if strings.Contains(f.Log(), "panic") {
					t.Errorf("logged a panic\n%s", f.Log())
				}
			})
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// left matches what depends on the requests before, in RateLimit.
var left = regexp.MustCompile(`;[rt]=\d+`)

func compare(t *testing.T, name string, got testbootstrap.Reply, golden []byte) {
	t.Helper()
	if want, isError := bytes.CutPrefix(golden, []byte("error: ")); isError {
		if got.Err != string(bytes.TrimSpace(want)) {
			t.Errorf("%s: got %s, error %q; want the error %s", name, got.Payload, got.Err, want)
		}
		return
	}
	if got.Err != "" {
		t.Errorf("%s: got error %q, want %s", name, got.Err, golden)
		return
	}
	g, w := normal(t, got.Payload), normal(t, golden)
	if !reflect.DeepEqual(g, w) {
		t.Errorf("%s:\ngot  %v\nwant %v", name, g, w)
	}
}

// normal returns an answer without what depends on the requests before.
func normal(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	var answer map[string]any
	if err := json.Unmarshal(raw, &answer); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	context, ok := answer["context"].(map[string]any)
	if !ok {
		t.Fatalf("no context in %s", raw)
	}
	if context["limited"] == "false" {
		for _, k := range []string{"remaining", "reset"} {
			context[k] = "any"
		}
		if s, ok := context["rateLimit"].(string); ok {
			context["rateLimit"] = left.ReplaceAllString(s, "")
		}
	}
	return answer
}
