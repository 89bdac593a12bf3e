package bootstrap_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"weir/internal/telemetry/metric"
	"weir/internal/testbootstrap"
)

// emitted returns the sums of a metric in a log, by the dimensions of each line
// that has it, in the order named; of distributions how many values there are.
func emitted(t *testing.T, log, name string, dimensions ...metric.Dimension) map[string]int {
	t.Helper()
	sums := make(map[string]int)
	for line := range strings.Lines(log) {
		if !strings.HasPrefix(line, `{"_aws":`) {
			continue
		}
		var doc map[string]any
		if err := json.Unmarshal([]byte(line), &doc); err != nil {
			t.Fatalf("a line is broken: %v: %s", err, line)
		}
		v, ok := doc[name]
		var key []string
		for _, d := range dimensions {
			s, has := doc[string(d)].(string)
			key = append(key, s)
			ok = ok && has
		}
		if !ok {
			continue
		}
		switch v := v.(type) {
		case float64:
			sums[strings.Join(key, " ")] += int(v)
		case map[string]any:
			sums[strings.Join(key, " ")] += int(v["Count"].(float64))
		}
	}
	return sums
}

// TestMetrics: what the function prints adds up to what it answered, SIGTERM
// included, and is not a line for each request.
func TestMetrics(t *testing.T) {
	good, bad := event(t, "apigw-custom-auth-request-type-request"), event(t, "apigw-custom-auth-request-type-request-bad-key")
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			f := b.start(t, plansFile(t, slowPlans), "WEIR_METRICS_INTERVAL=1s")
			calls, want := 0, map[string]int{}
			call := func(payload []byte) {
				t.Helper()
				calls++
				r := invoke(t, f, payload)
				if r.Err != "" {
					want["unauthorized"]++
					return
				}
				a := decode(t, r)
				if a.effect() == "Allow" {
					want["allowed"]++
				} else {
					want["refused"]++
				}
			}
			for range 200 { // some seconds; the log of many more would not be kept
				call(good)
				time.Sleep(10 * time.Millisecond)
			}
			for range 4 {
				call(bad)
			}
			f.Stop()
			log := f.Log()
			got := emitted(t, log, "Decisions", metric.Plan, metric.Outcome)
			sums := map[string]int{}
			for k, n := range got {
				_, outcome, _ := strings.Cut(k, " ")
				sums[outcome] += n
			}
			if fmt.Sprint(sums) != fmt.Sprint(want) {
				t.Errorf("%v decisions printed, want %v\n%s", sums, want, log)
			}
			if n := emitted(t, log, "DecisionTime", metric.Source); n["memory"] == 0 {
				t.Errorf("times of decisions: %v, want those from memory", n)
			}
			if b.name == "dynamodb" {
				for _, table := range []string{metric.Buckets, metric.Config} {
					if n := emitted(t, log, "StoreCalls", metric.Store); n[table] == 0 {
						t.Errorf("calls: %v, want those of %s", n, table)
					}
				}
				if n := emitted(t, log, "WriteUnits"); n[""] == 0 {
					t.Error("no write units")
				}
			}
			lines := strings.Count(log, `{"_aws":`)
			if lines > calls/2 {
				t.Errorf("%d lines for %d requests", lines, calls)
			}
			t.Logf("%d requests: %d lines, %v", calls, lines, sums)
		})
	}
}

// TestMetricsOff: then there are none, and refusals are logged still.
func TestMetricsOff(t *testing.T) {
	f := backends[0].start(t, plansFile(t, slowPlans), "WEIR_METRICS=off", "WEIR_LOG_SAMPLE=3")
	good := event(t, "apigw-custom-auth-request-type-request")
	for range 30 {
		invoke(t, f, good)
	}
	f.Stop()
	log := f.Log()
	if strings.Contains(log, "_aws") {
		t.Errorf("there are metrics:\n%s", log)
	}
	if n := strings.Count(log, "request refused"); n == 0 || n > 3 {
		t.Errorf("%d refusals logged, want one to three\n%s", n, log)
	}
	if strings.Contains(log, "acme-dev-key-1") {
		t.Errorf("the log has a key:\n%s", log)
	}
}

// TestMetricsOfTheLastInterval: what was decided before a pause is printed with its
// own time.
func TestMetricsOfTheLastInterval(t *testing.T) {
	f := backends[0].start(t, plansFile(t, slowPlans), "WEIR_METRICS_INTERVAL=1s")
	good := event(t, "apigw-custom-auth-request-type-request")
	invoke(t, f, good)
	before := time.Now()
	time.Sleep(2500 * time.Millisecond) // a pause of the function is one of real time
	invoke(t, f, good)
	line := waitFor(t, f, `"Decisions":1`)
	var doc struct {
		AWS struct{ Timestamp int64 } `json:"_aws"`
	}
	if err := json.Unmarshal([]byte(line), &doc); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	if at := time.UnixMilli(doc.AWS.Timestamp); at.After(before) || before.Sub(at) > 5*time.Second {
		t.Errorf("the line bears %v, %v before the end of the first request", at, before.Sub(at))
	}
}

// waitFor returns the first line of the log that has a text; lines come after answers.
func waitFor(t *testing.T, f *testbootstrap.Function, text string) string {
	t.Helper()
	for began := time.Now(); time.Since(began) < 5*time.Second; time.Sleep(10 * time.Millisecond) {
		for line := range strings.Lines(f.Log()) {
			if strings.Contains(line, text) && strings.HasSuffix(line, "\n") {
				return line
			}
		}
	}
	t.Fatalf("no line has %s\n%s", text, f.Log())
	return ""
}
