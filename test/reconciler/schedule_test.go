package reconciler_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"weir/internal/testbootstrap"
	"weir/pkg/ddbstore"
)

func scheduleEvent(t testing.TB) []byte {
	t.Helper()
	event, err := os.ReadFile("../../events/reconciler-schedule.json")
	if err != nil {
		t.Fatal(err)
	}
	return event
}

// TestSchedule: a minute's run answers with what it found, and leaves a heartbeat.
func TestSchedule(t *testing.T) {
	w := newWorld(t, "", nil)
	w.putPlan(ddbstore.Plan{Name: "pro", Body: api(100, 100)})
	w.putTenant(ddbstore.Tenant{ID: "acme", Plan: "pro"})
	w.spend("acme", 60)
	before := now()
	answer, err := w.invoke(t.Context(), scheduleEvent(t))
	if err != nil {
		t.Fatalf("%v\n%s", err, w.function.Log())
	}
	var report struct {
		Region, Home string
		Round        struct {
			Tenants, Rows, Booked int
			Finished              bool
		}
		Failed []string
	}
	if err := json.Unmarshal(answer, &report); err != nil {
		t.Fatalf("%v in %s", err, answer)
	}
	if report.Region != region || report.Home != region || report.Round.Tenants != 1 || report.Round.Rows != 1 || report.Round.Booked != 1 || !report.Round.Finished || report.Failed != nil {
		t.Errorf("got %s", answer)
	}
	beats, err := w.config.Heartbeats(t.Context(), []string{region})
	if err != nil || len(beats) != 1 || beats[0].At < before {
		t.Errorf("heartbeats %+v, %v", beats, err)
	}
	usage, err := w.config.UsageOf(t.Context(), "acme", time.Unix(0, now()).UTC().Format("2006-01"))
	if err != nil || len(usage) != 1 || usage[0].Limits["api|acme"].Tokens != 60 {
		t.Errorf("usage %+v, %v", usage, err)
	}
}

// TestNoTables: what `sam local invoke` shows who has no tables yet.
func TestNoTables(t *testing.T) {
	for name, endpoint := range map[string]string{
		"nothing listens": "http://127.0.0.1:9", // discard
		"no such table":   "",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, endpoint, nil, "WEIR_CONFIG_TABLE=no-such-table")
			_, err := w.invoke(t.Context(), scheduleEvent(t))
			if err == nil || !strings.HasPrefix(err.Error(), "reconciler: the config table cannot be used: ") || !strings.Contains(err.Error(), `"no-such-table"`) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v", err)
			}
			if log := w.function.Log(); strings.Contains(log, "panic") {
				t.Errorf("it panicked\n%s", log)
			}
		})
	}
}

// TestWrongSettings: a reconciler that cannot run says why, a line for each reason,
// and exits with 1.
func TestWrongSettings(t *testing.T) {
	testbootstrap.Emulator(t) // skips with the others
	cmd := exec.Command(bootstrap)
	cmd.Env = []string{"WEIR_PARALLEL=many"}
	out, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("exit %v", err)
	}
	for _, want := range []string{"weir: WEIR_BUCKETS_TABLE is not set", "weir: WEIR_CONFIG_TABLE is not set", "weir: AWS_REGION is not set", `weir: WEIR_PARALLEL is "many"`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("want %q in\n%s", want, out)
		}
	}
}
