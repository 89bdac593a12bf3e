package reconciler_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"weir/internal/telemetry/metric"
	"weir/pkg/ddbstore"
)

// TestMetrics: what the reconciler prints is what it did, before its answer is
// there.
func TestMetrics(t *testing.T) {
	w := newWorld(t, "", nil)
	w.putPlan(ddbstore.Plan{Name: "pro", Body: api(100, 100)})
	for _, id := range []string{"acme", "hooli"} {
		w.putTenant(ddbstore.Tenant{ID: id, Plan: "pro"})
		w.spend(id, 60)
	}
	w.start()
	w.drain()
	w.putPlan(ddbstore.Plan{Name: "pro", Body: api(200, 200)})
	w.drain()
	if _, err := w.invoke(t.Context(), scheduleEvent(t)); err != nil {
		t.Fatal(err)
	}
	var sums map[string]float64
	for began := time.Now(); sums["RegionsCut"] == 0 && time.Since(began) < 5*time.Second; time.Sleep(10 * time.Millisecond) {
		sums = emitted(t, w.function.Log())
	}
	if got := sums["RowsRescaled"]; got != 2 {
		t.Errorf("%v rows rescaled, want two: %v", got, sums)
	}
	if sums["Records"] < 4 || sums["ChangesApplied"] < 3 || sums["IteratorAge"] == 0 || sums["ChangeToEffect"] == 0 || sums["RecordsFailed"] != 0 || sums["RowsFailed"] != 0 {
		t.Errorf("got %v, want the records and changes, and nothing that failed", sums)
	}
}

// emitted returns the sums of metrics in a log; of gauges and distributions how
// many values there are.
func emitted(t *testing.T, log string) map[string]float64 {
	t.Helper()
	sums := make(map[string]float64)
	for line := range strings.Lines(log) {
		if !strings.HasPrefix(line, `{"_aws":`) || !strings.HasSuffix(line, "\n") {
			continue
		}
		var doc map[string]any
		if err := json.Unmarshal([]byte(line), &doc); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		for _, m := range metric.All() {
			switch v := doc[m.Name].(type) {
			case float64:
				if m.Type == metric.Gauge {
					v = 1
				}
				sums[m.Name] += v
			case map[string]any:
				sums[m.Name] += v["Count"].(float64)
			}
		}
	}
	return sums
}
