package app_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// starred are the actions that may be on every resource, as they know none.
var starred = map[string]string{
	"xray:PutTraceSegments":         "traces",
	"xray:PutTelemetryRecords":      "traces",
	"dynamodb:ListStreams":          "event source mapping",
	"tag:GetResources":              "fault injection",
	"logs:CreateLogDelivery":        "fault injection",
	"logs:PutResourcePolicy":        "fault injection",
	"logs:DescribeResourcePolicies": "fault injection",
	"logs:DescribeLogGroups":        "fault injection",
}

// endings are those of resources with a wildcard that is no whole: streams of a log
// group, and alarms that plans will name.
var endings = []string{":log-group:/aws/lambda/weir-authorizer:*", ":log-group:/aws/lambda/weir-reconciler:*", ":alarm:*"}

func list(v any) []any {
	if l, ok := v.([]any); ok {
		return l
	}
	return []any{v}
}

// TestLeastPrivilege: no wildcard in an action, none in a resource without a reason.
func TestLeastPrivilege(t *testing.T) {
	for stack, s := range synthesised(t, full).templates {
		for id, p := range s.of("AWS::IAM::Policy") {
			for _, st := range p.at("PolicyDocument.Statement").([]any) {
				statement := st.(map[string]any)
				for _, action := range list(statement["Action"]) {
					if strings.Contains(action.(string), "*") {
						t.Errorf("%s %s allows %v", stack, id, action)
					}
					for _, r := range list(statement["Resource"]) {
						resource, ok := r.(string)
						known := slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(resource, e) })
						if ok && strings.Contains(resource, "*") && !known && (resource != "*" || starred[action.(string)] == "") {
							t.Errorf("%s %s allows %v on %s", stack, id, action, resource)
						}
					}
				}
			}
		}
	}
}

// TestAuthorizerWritesBucketsOnly: what faces the internet can change no plan.
func TestAuthorizerWritesBucketsOnly(t *testing.T) {
	s := synthesised(t, full).stack(t, "us-east-1")
	for id, p := range s.of("AWS::IAM::Policy") {
		if !strings.HasPrefix(id, "AuthorizerRole") {
			continue
		}
		for _, st := range p.at("PolicyDocument.Statement").([]any) {
			statement := st.(map[string]any)
			for _, action := range list(statement["Action"]) {
				name := action.(string)
				if !strings.HasPrefix(name, "dynamodb:") || name == "dynamodb:GetItem" || name == "dynamodb:Query" {
					continue
				}
				for _, r := range list(statement["Resource"]) {
					if name != "dynamodb:UpdateItem" || r != "arn:aws:dynamodb:us-east-1:123456789012:table/weir-buckets" {
						t.Errorf("the authorizer may %s on %v", name, r)
					}
				}
			}
		}
	}
}

// TestNoStreamWildcard: what the CDK writes for a replica's stream is no stream.
func TestNoStreamWildcard(t *testing.T) {
	for _, file := range []string{full, "../examples/one-region.yaml", "../examples/two-regions.yaml", "../examples/three-regions.yaml"} {
		files, err := filepath.Glob(filepath.Join(synthesised(t, file).dir, "*.template.json"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, bad := range []string{"stream/*", "Fn::ImportValue", "Custom::CrossRegionExport"} {
				if strings.Contains(string(text), bad) {
					t.Errorf("%s of %s has %s", filepath.Base(f), file, bad)
				}
			}
		}
	}
}

// TestNoSecrets: the health key is resolved when the stack is deployed.
func TestNoSecrets(t *testing.T) {
	a := synthesised(t, full)
	for stack, s := range a.templates {
		if text := compact(t, s); strings.Contains(text, "weirHealthKey\":\"") && !strings.Contains(text, "weirHealthKey\":\"{{resolve:ssm:") {
			t.Errorf("%s has the health key", stack)
		}
	}
}
