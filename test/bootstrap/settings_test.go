package bootstrap_test

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"weir/internal/testbootstrap"
)

// TestWrongSettings: a function that cannot run says why, in one line for each
// reason and nothing else, and exits with 1.
func TestWrongSettings(t *testing.T) {
	examples, err := filepath.Abs("../../examples/plans.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tables := []string{"AWS_REGION=eu-west-1", "WEIR_BUCKETS_TABLE=buckets", "WEIR_CONFIG_TABLE=config"}
	tests := []struct {
		name string
		env  []string
		want []string // how each line goes on after "weir: "
	}{
		{"nothing", nil, []string{"WEIR_BUCKETS_TABLE is not set", "WEIR_CONFIG_TABLE is not set", "AWS_REGION is not set"}},
		{"several", append(tables, "WEIR_STORE_TIMEOUT=soon", "WEIR_HTTP_RESPONSE=xml"), []string{`WEIR_HTTP_RESPONSE is "xml": write simple or iam`, `WEIR_STORE_TIMEOUT is "soon": write a duration`}},
		{"contradiction", append(tables, "WEIR_PLANS="+examples), []string{"WEIR_PLANS is set, but WEIR_STORE=dynamodb"}},
		{"no credentials", tables, []string{"ddbstore: no credentials: set AWS_ACCESS_KEY_ID"}},
		{"no plans file", []string{"WEIR_STORE=memory"}, []string{"WEIR_PLANS: open "}},
		{"a plans file with mistakes", []string{"WEIR_STORE=memory", "WEIR_PLANS=" + plansFile(t, "plans: {free: {limits: [{name: api, rate: fast}]}}\nanonymous: gold")}, []string{"", ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cmd := exec.Command(bootstrap)
			cmd.Env = tt.env
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			var exit *exec.ExitError
			if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Fatalf("got %v, want exit status 1\n%s", err, &stderr)
			}
			if stdout.Len() > 0 {
				t.Errorf("printed %s", &stdout)
			}
			lines := strings.Split(strings.TrimSuffix(stderr.String(), "\n"), "\n")
			if len(lines) != len(tt.want) {
				t.Fatalf("got %d lines, want %d\n%s", len(lines), len(tt.want), &stderr)
			}
			for i, line := range lines {
				if !strings.HasPrefix(line, "weir: "+tt.want[i]) {
					t.Errorf("line %d: got %s\nwant weir: %s...", i+1, line, tt.want[i])
				}
			}
		})
	}
}

// TestMemoryRefusesToBeDeployed runs the function as Lambda does, whose log
// streams have names that no emulator gives.
func TestMemoryRefusesToBeDeployed(t *testing.T) {
	f := backends[0].start(t, "../../examples/plans.yaml", "AWS_LAMBDA_LOG_STREAM_NAME=2026/11/30/[$LATEST]0123456789abcdef0123456789abcdef")
	reply, err := f.Invoke(t.Context(), event(t, "apigw-custom-auth-request-type-request"))
	if !errors.Is(err, testbootstrap.ErrNotStarted) {
		t.Errorf("got %s, %v; want that it did not start", reply.Payload, err)
	}
	if want := "weir: WEIR_STORE is memory in a deployed function"; !strings.Contains(f.Log(), want) {
		t.Errorf("want %q in the log\n%s", want, f.Log())
	}
}
