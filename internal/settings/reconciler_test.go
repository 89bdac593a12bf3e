package settings

import (
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestReconcilerFromEnv(t *testing.T) {
	got, err := ReconcilerFromEnv(environ(tables...))
	if err != nil {
		t.Fatal(err)
	}
	want := Reconciler{
		BucketsTable: "weir-buckets", ConfigTable: "weir-config",
		Region: "eu-west-1", Regions: []string{"eu-west-1"},
		Grace: 5 * time.Second, Parallel: 16, LogLevel: slog.LevelInfo, Telemetry: defaultTelemetry,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	got, err = ReconcilerFromEnv(environ(append(tables, "WEIR_STRICT_TABLE=weir-strict", "WEIR_REGIONS=eu-west-1,us-east-1",
		"WEIR_GRACE=8s", "WEIR_PARALLEL=64", "WEIR_LOG_LEVEL=warn", "WEIR_STORE=memory", "WEIR_ANONYMOUS_PLAN=what the authorizer has")...))
	if err != nil {
		t.Fatal(err)
	}
	want.StrictTable, want.Regions = "weir-strict", []string{"eu-west-1", "us-east-1"}
	want.Grace, want.Parallel, want.LogLevel = 8*time.Second, 64, slog.LevelWarn
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestReconcilerFromEnvProblems(t *testing.T) {
	_, err := ReconcilerFromEnv(environ("WEIR_BUCKETS_TABLE=t", "WEIR_CONFIG_TABLE=weir-config", "WEIR_STRICT_TABLE=weir-config", "WEIR_PARALLEL=0", "AWS_REGION=eu-west-1"))
	var problems *Error
	if !errors.As(err, &problems) {
		t.Fatalf("got %v", err)
	}
	want := []string{`WEIR_BUCKETS_TABLE is "t": write the name`, "WEIR_STRICT_TABLE is the same table as another", `WEIR_PARALLEL is "0": write a whole number from 1 to 256`}
	if len(problems.Problems) != len(want) {
		t.Fatalf("got %q", problems.Problems)
	}
	for i, w := range want {
		if !strings.HasPrefix(problems.Problems[i], w) {
			t.Errorf("problem %d: got %q, want %q...", i, problems.Problems[i], w)
		}
	}
	if _, err := ReconcilerFromEnv(environ()); err == nil || !strings.Contains(err.Error(), "WEIR_CONFIG_TABLE is not set") || !strings.Contains(err.Error(), "AWS_REGION is not set") {
		t.Errorf("nothing set: %v", err)
	}
}
