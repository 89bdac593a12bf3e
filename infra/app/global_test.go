package app_test

import (
	"os"
	"strings"
	"testing"
)

func TestDNS(t *testing.T) {
	a := synthesised(t, full)
	s := a.stack(t, "global")
	for _, region := range a.config.RegionNames() {
		for _, typ := range []string{"A", "AAAA"} {
			var found bool
			for _, r := range s.of("AWS::Route53::RecordSet") {
				if r.at("Region") != region || r.at("Type") != typ {
					continue
				}
				found = true
				r.expect(t, "Name", "api.example.com.", "SetIdentifier", region, "HostedZoneId", "Z0123456789ABCDEFGHIJ", "AliasTarget.EvaluateTargetHealth", false)
				serves := s.Resources[r.at("HealthCheckId.Fn::GetAtt.0").(string)]
				serves.expect(t, "HealthCheckConfig.Type", "CALCULATED", "HealthCheckConfig.HealthThreshold", 1)
				check := s.Resources[serves.at("HealthCheckConfig.ChildHealthChecks.0.Fn::GetAtt.0").(string)]
				check.expect(t, "HealthCheckConfig.Type", "HTTPS", "HealthCheckConfig.ResourcePath", "/v1/weir/health",
					"HealthCheckConfig.RequestInterval", 10, "HealthCheckConfig.FailureThreshold", 3, "HealthCheckConfig.EnableSNI", true)
				if name := compact(t, check.at("HealthCheckConfig.FullyQualifiedDomainName")); !strings.Contains(name, ".execute-api."+region+".") {
					t.Errorf("%s is checked at %s", region, name)
				}
			}
			if !found {
				t.Errorf("no %s record for %s", typ, region)
			}
		}
	}
}

// TestHealthRoute: what health checks call asks the authorizer, and so the tables.
func TestHealthRoute(t *testing.T) {
	s := synthesised(t, full).stack(t, "eu-west-1")
	m := s.the(t, "AWS::ApiGateway::Method", "HttpMethod", "GET")
	m.expect(t, "AuthorizationType", "NONE", "Integration.Type", "AWS", "Integration.PassthroughBehavior", "NEVER")
	if uri := compact(t, m.at("Integration.Uri")); !strings.Contains(uri, `"Ref":"Live`) {
		t.Errorf("it calls %s", uri)
	}
	event := compact(t, m.at("Integration.RequestTemplates"))
	for _, want := range []string{`\"type\":\"REQUEST\"`, `\"x-api-key\":\"$stageVariables.weirHealthKey\"`, `arn:aws:execute-api:eu-west-1:123456789012:`} {
		if !strings.Contains(strings.ReplaceAll(event, `\\\"`, `\"`), want) {
			t.Errorf("its event lacks %s: %s", want, event)
		}
	}
}

// TestDrained: one line of the file takes a Region out of DNS, and nothing else changes.
func TestDrained(t *testing.T) {
	text, err := os.ReadFile(full)
	if err != nil {
		t.Fatal(err)
	}
	drained := strings.Replace(string(text), "  - eu-west-1\n", "  - { name: eu-west-1, drained: true }\n", 1)
	before, after := synthesised(t, full), synthesisedText(t, "drained", drained)
	got := changes(t, before, after)
	want := []string{
		"global: ~ EuWest1Serves.HealthCheckConfig.HealthThreshold: 1 -> 2",
		"global: ~ EuWest1Unhealthy.ActionsEnabled: true -> false",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestExperiment(t *testing.T) {
	s := synthesised(t, full).stack(t, "resilience")
	e := s.the(t, "AWS::FIS::ExperimentTemplate", "Actions.Pause.ActionId", "aws:dynamodb:global-table-pause-replication")
	e.expect(t, "Actions.Pause.Parameters.duration", "PT5M", "Actions.Pause.Targets.Tables", "Tables",
		"Targets.Tables.ResourceType", "aws:dynamodb:global-table", "Targets.Tables.SelectionMode", "ALL",
		"Targets.Tables.ResourceArns", []any{"arn:aws:dynamodb:eu-west-1:123456789012:table/weir-buckets", "arn:aws:dynamodb:eu-west-1:123456789012:table/weir-config"})
	alarms := synthesised(t, full).stack(t, "eu-west-1-observability")
	stops := e.at("StopConditions").([]any)
	if len(stops) != 3 {
		t.Errorf("stops at %v", stops)
	}
	for _, stop := range stops {
		arn := stop.(map[string]any)["Value"].(string)
		name := strings.TrimPrefix(arn, "arn:aws:cloudwatch:eu-west-1:123456789012:alarm:")
		alarms.the(t, "AWS::CloudWatch::Alarm", "AlarmName", name)
	}
}
