package reconcile

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"testing"
	"time"

	"weir/internal/reconciler"
	"weir/internal/telemetry"
	"weir/internal/telemetry/metric"
)

// written returns the numbers in lines by metric, and by From where there is one;
// distributions by the largest of their values.
func written(t *testing.T, lines []byte) map[string]float64 {
	t.Helper()
	all := make(map[string]float64)
	for line := range bytes.Lines(lines) {
		var doc map[string]any
		if err := json.Unmarshal(line, &doc); err != nil {
			t.Fatal(err)
		}
		for name, v := range doc {
			m, ok := find(name)
			if !ok {
				continue
			}
			if !m.Is(metric.Reconciler) {
				t.Errorf("%s is not said to be the reconciler's", name)
			}
			if from, ok := doc[string(metric.From)]; ok {
				name += " " + from.(string)
			}
			if values, ok := v.(map[string]any); ok {
				v = values["Max"]
			}
			all[name] = v.(float64)
		}
	}
	return all
}

func find(name string) (metric.Metric, bool) {
	for _, m := range metric.All() {
		if m.Name == name {
			return m, true
		}
	}
	return metric.Metric{}, false
}

func TestObserver(t *testing.T) {
	var out bytes.Buffer
	r := telemetry.New(telemetry.Options{Out: &out, Region: "eu-west-1"})
	o := New(r)
	o.Batch(reconciler.Batch{Records: 10, Failed: 2, Age: 1500 * time.Millisecond})
	o.Applied(reconciler.Applied{Kind: "plan", Rows: reconciler.Tally{Changed: 5, Skipped: 3, Failed: 1}, Effect: 900 * time.Millisecond})
	o.Applied(reconciler.Applied{Kind: "tenant", Rows: reconciler.Tally{Failed: 1}, Err: errors.New("throttled")})
	o.Applied(reconciler.Applied{Kind: "credential"})
	o.Scheduled(reconciler.Report{
		Lag: map[string]time.Duration{"us-east-1": 700 * time.Millisecond}, Cut: []string{"ap-southeast-2"},
		Round: reconciler.Round{Drift: 4, Expired: 6}, Failed: []string{"round", "sweep"},
	})
	r.Flush(1_796_072_400_000_000_000)
	want := map[string]float64{
		"Records": 10, "RecordsFailed": 2, "IteratorAge": 1500, "ChangesApplied": 2, "ChangeToEffect": 900,
		"RowsRescaled": 5, "RowsSkipped": 3, "RowsFailed": 2, "RowsDrifted": 4, "CredentialsExpired": 6,
		"ReplicationLag us-east-1": 700, "RegionsCut": 1, "UnexpectedErrors": 2,
	}
	if got := written(t, out.Bytes()); !maps.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	for _, m := range metric.All() {
		if m.Is(metric.Reconciler) && m.Name != "ReplicationLag" && want[m.Name] == 0 {
			t.Errorf("%s is listed and never written", m.Name)
		}
	}

	out.Reset()
	o.Scheduled(reconciler.Report{Cut: []string{"us-east-1"}})
	r.Flush(1_796_072_460_000_000_000)
	if got, want := written(t, out.Bytes()), map[string]float64{"RegionsCut": 1}; !maps.Equal(got, want) {
		t.Errorf("a minute later: got %v, want %v", got, want)
	}
}
