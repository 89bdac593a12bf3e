package app_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"weir/internal/telemetry/metric"
)

func TestAlarms(t *testing.T) {
	a := synthesised(t, full)
	want := []string{
		"weir-authorizer-slow", "weir-authorizer-throttled", "weir-changes-given-up", "weir-config-unread", "weir-mostly-refused",
		"weir-reconciler-errors", "weir-reconciler-silent", "weir-regions-cut",
		"weir-replication-late-ap-southeast-2", "weir-replication-late-us-east-1",
		"weir-replication-stalled-ap-southeast-2", "weir-replication-stalled-us-east-1",
		"weir-soft-limit-mode", "weir-table-throttled", "weir-unexpected-errors",
	}
	s := a.stack(t, "eu-west-1-observability")
	var got []string
	for _, r := range s.of("AWS::CloudWatch::Alarm") {
		got = append(got, r.at("AlarmName").(string))
		if len(list(r.at("AlarmActions"))) != 1 || r.at("AlarmActions.0.Ref") == nil {
			t.Errorf("%v reaches nobody", r.at("AlarmName"))
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}

	late := s.the(t, "AWS::CloudWatch::Alarm", "AlarmName", "weir-replication-late-us-east-1")
	late.expect(t, "Threshold", 2000, "ComparisonOperator", "GreaterThanOrEqualToThreshold", "TreatMissingData", "notBreaching",
		"Metrics.0.MetricStat.Metric.MetricName", "ReplicationLatency", "Metrics.0.MetricStat.Metric.Namespace", "AWS/DynamoDB",
		"Metrics.0.MetricStat.Metric.Dimensions", []any{map[string]any{"Name": "TableName", "Value": "weir-config"}, map[string]any{"Name": "ReceivingRegion", "Value": "us-east-1"}})
	stalled := s.the(t, "AWS::CloudWatch::Alarm", "AlarmName", "weir-replication-stalled-us-east-1")
	stalled.expect(t, "Threshold", 0, "ComparisonOperator", "LessThanOrEqualToThreshold", "TreatMissingData", "breaching", "Metrics.1.Expression", "FILL(m1, 0)")
	s.the(t, "AWS::SNS::Subscription", "Protocol", "email").expect(t, "Endpoint", "oncall@example.com")
}

// TestAlarmsAreDocumented: each says what to do, under a heading that exists.
func TestAlarmsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	where := regexp.MustCompile(`What to do: docs/operations\.md, ([a-z-]+)\.$`)
	var alarms int
	for stack, s := range synthesised(t, full).templates {
		for _, r := range s.of("AWS::CloudWatch::Alarm") {
			alarms++
			m := where.FindStringSubmatch(r.at("AlarmDescription").(string))
			if m == nil || !strings.Contains(string(text), "\n### "+m[1]+"\n") {
				t.Errorf("%s: %v: no heading for %q", stack, r.at("AlarmName"), r.at("AlarmDescription"))
			}
		}
	}
	if alarms < 40 {
		t.Errorf("%d alarms", alarms)
	}
}

// TestMetricsExist: what alarms and dashboards look at is emitted, by sets of
// dimensions that exist.
func TestMetricsExist(t *testing.T) {
	known := map[string]bool{}
	for _, m := range metric.All() {
		for _, set := range m.Dimensions {
			key := m.Name
			for _, d := range set {
				key += " " + string(d)
			}
			known[key] = true
		}
	}
	check := func(where, name string, dimensions []string) {
		t.Helper()
		if key := strings.Join(append([]string{name}, dimensions...), " "); !known[key] {
			t.Errorf("%s looks at %s, which nobody emits", where, key)
		}
	}
	var seen int
	for stack, s := range synthesised(t, full).templates {
		for id, r := range s.of("AWS::CloudWatch::Alarm") {
			var metrics []any
			metrics = append(metrics, r.Properties)
			for _, m := range list(r.at("Metrics")) {
				if stat, ok := (resource{Properties: map[string]any{"m": m}}).at("m.MetricStat.Metric").(map[string]any); ok {
					metrics = append(metrics, stat)
				}
			}
			for _, m := range metrics {
				m := m.(map[string]any)
				if m["Namespace"] != metric.Namespace {
					continue
				}
				var names []string
				for _, d := range list(m["Dimensions"]) {
					names = append(names, d.(map[string]any)["Name"].(string))
				}
				seen++
				check(stack+" "+id, m["MetricName"].(string), names)
			}
		}
		for _, r := range s.of("AWS::CloudWatch::Dashboard") {
			for _, m := range graphed(t, r) {
				if m[0] != metric.Namespace {
					continue
				}
				var names []string
				for i := 2; i < len(m); i += 2 {
					names = append(names, m[i])
				}
				seen++
				check(stack+" dashboard", m[1], names)
			}
		}
	}
	if seen < 100 {
		t.Errorf("%d metrics of Weir's were looked at", seen)
	}
}

// graphed returns the metrics of a dashboard: namespace, name, dimensions.
func graphed(t *testing.T, dashboard resource) [][]string {
	t.Helper()
	var body struct {
		Widgets []struct {
			X, Y, Width int
			Properties  struct {
				Region  string
				Title   string
				Metrics [][]any
			}
		}
	}
	if err := json.Unmarshal([]byte(dashboard.at("DashboardBody").(string)), &body); err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for _, w := range body.Widgets {
		if w.X+w.Width > 24 || w.Properties.Region == "" || w.Properties.Title == "" || len(w.Properties.Metrics) == 0 {
			t.Errorf("widget %+v", w)
		}
		for _, m := range w.Properties.Metrics {
			var names []string
			for _, e := range m {
				if s, ok := e.(string); ok {
					names = append(names, s)
				}
			}
			if len(names) > 0 {
				all = append(all, names)
			}
		}
	}
	return all
}

func TestDashboards(t *testing.T) {
	a := synthesised(t, full)
	a.stack(t, "us-east-1-observability").the(t, "AWS::CloudWatch::Dashboard", "DashboardName", "weir-us-east-1")
	global := a.stack(t, "global").the(t, "AWS::CloudWatch::Dashboard", "DashboardName", "weir")
	for _, region := range a.config.RegionNames() {
		if !strings.Contains(global.at("DashboardBody").(string), `"region":"`+region+`"`) {
			t.Errorf("the global dashboard lacks %s", region)
		}
	}
}

// TestSecondDeployment: another name is other metrics, tables and functions.
func TestSecondDeployment(t *testing.T) {
	a := synthesisedText(t, "second", "name: staging\n"+least)
	s := a.stack(t, "eu-west-1")
	s.the(t, "AWS::Lambda::Function", "FunctionName", "staging-authorizer").expect(t,
		"Environment.Variables.WEIR_METRICS_NAMESPACE", "Weir/staging", "Environment.Variables.WEIR_CONFIG_TABLE", "staging-config")
	watch := a.stack(t, "eu-west-1-observability")
	watch.the(t, "AWS::CloudWatch::Alarm", "AlarmName", "staging-soft-limit-mode").expect(t, "Namespace", "Weir/staging")
	if text := compact(t, watch); strings.Contains(text, `\"Weir\"`) {
		t.Error("its dashboard looks at the other deployment's metrics")
	}
}
