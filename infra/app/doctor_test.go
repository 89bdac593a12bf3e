package app_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/internal/doctor"
)

// TestDoctorIsContent: what is synthesised would limit.
func TestDoctorIsContent(t *testing.T) {
	for _, file := range []string{full, "../examples/one-region.yaml", "../examples/two-regions.yaml", "../examples/three-regions.yaml"} {
		a := synthesised(t, file)
		d, err := doctor.Synthesised(a.dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Parts) != len(a.config.Regions) || len(d.Tables) < 2 {
			t.Errorf("%s: it sees %d Regions and %d tables", file, len(d.Parts), len(d.Tables))
		}
		for _, f := range doctor.Check(d) {
			t.Errorf("%s: %s", file, f)
		}
	}
}

// TestDoctorSees: each thing that would make limiting silently not work is seen in
// the templates that have it.
func TestDoctorSees(t *testing.T) {
	a := synthesised(t, "../examples/two-regions.yaml")
	for _, tt := range []struct {
		rule, stack, typ, match string // of the resource that is spoilt: its type, and what its text has
		spoil                   func(p map[string]any)
	}{
		{"authorizer-cached", "eu-west-1", "AWS::ApiGateway::Authorizer", "", func(p map[string]any) { p["AuthorizerResultTtlInSeconds"] = 300 }},
		{"identity-source", "eu-west-1", "AWS::ApiGateway::Authorizer", "", func(p map[string]any) { p["IdentitySource"] = "method.request.header.x-api-key" }},
		{"no-429", "eu-west-1", "AWS::ApiGateway::GatewayResponse", "ACCESS_DENIED", func(p map[string]any) { delete(p, "StatusCode") }},
		{"429-headers", "eu-west-1", "AWS::ApiGateway::GatewayResponse", "ACCESS_DENIED", func(p map[string]any) { p["ResponseParameters"] = map[string]any{} }},
		{"429-body", "eu-west-1", "AWS::ApiGateway::GatewayResponse", "ACCESS_DENIED", func(p map[string]any) {
			p["ResponseTemplates"] = map[string]any{"application/json": `{"limit":"$context.authorizer.rateLimit"}`}
		}},
		{"unauthorized-status", "eu-west-1", "AWS::ApiGateway::GatewayResponse", `"UNAUTHORIZED"`, func(p map[string]any) { p["StatusCode"] = "403" }},
		{"method-unlimited", "eu-west-1", "AWS::ApiGateway::Method", "CUSTOM", func(p map[string]any) { p["AuthorizationType"] = "AWS_IAM" }},
		{"deployed-without", "eu-west-1", "AWS::ApiGateway::Deployment", "", nil},
		{"authorizer-not-invocable", "eu-west-1", "AWS::Lambda::Permission", "authorizers/", func(p map[string]any) { p["FunctionName"] = "another" }},
		{"reserved-0", "eu-west-1", "AWS::Lambda::Function", "weir-authorizer", func(p map[string]any) { p["ReservedConcurrentExecutions"] = 0 }},
		{"timeout", "eu-west-1", "AWS::Lambda::Function", "weir-authorizer", func(p map[string]any) { delete(p, "Timeout"); env(p)["WEIR_STORE_TIMEOUT"] = "400ms" }},
		{"tracing", "eu-west-1", "AWS::Lambda::Function", "weir-reconciler", func(p map[string]any) { delete(p, "TracingConfig") }},
		{"store", "eu-west-1", "AWS::Lambda::Function", "weir-authorizer", func(p map[string]any) { env(p)["WEIR_STORE"] = "memory" }},
		{"environment", "eu-west-1", "AWS::Lambda::Function", "weir-authorizer", func(p map[string]any) { env(p)["WEIR_BUCKETS_TABLE"] = "" }},
		{"regions", "eu-west-1", "AWS::Lambda::Function", "weir-authorizer", func(p map[string]any) { env(p)["WEIR_REGIONS"] = "eu-west-1" }},
		{"permissions", "eu-central-1", "AWS::IAM::Policy", "ChargeBuckets", func(p map[string]any) { document(p)["Statement"] = []any{} }},
		{"permissions", "eu-central-1", "AWS::IAM::Policy", "RescaleBuckets", func(p map[string]any) { document(p)["Statement"] = []any{} }},
		{"source-missing", "eu-west-1", "AWS::Lambda::EventSourceMapping", "", func(p map[string]any) { p["FunctionName"] = "another" }},
		{"source-wildcard", "eu-west-1", "AWS::Lambda::EventSourceMapping", "", func(p map[string]any) {
			p["EventSourceArn"] = "arn:aws:dynamodb:eu-west-1:123456789012:table/weir-config/stream/*"
		}},
		{"source-region", "eu-west-1", "Custom::AWS", "describeTable", func(p map[string]any) {
			p["Create"] = strings.Replace(p["Create"].(string), `{"action"`, `{"region":"eu-central-1","action"`, 1)
		}},
		{"source-disabled", "eu-west-1", "AWS::Lambda::EventSourceMapping", "", func(p map[string]any) { p["Enabled"] = false }},
		{"source-partial", "eu-west-1", "AWS::Lambda::EventSourceMapping", "", func(p map[string]any) { delete(p, "FunctionResponseTypes") }},
		{"source-filter", "eu-west-1", "AWS::Lambda::EventSourceMapping", "", func(p map[string]any) { delete(p, "FilterCriteria") }},
		{"source-bisect", "eu-west-1", "AWS::Lambda::EventSourceMapping", "", func(p map[string]any) { delete(p, "BisectBatchOnFunctionError") }},
		{"source-failures", "eu-west-1", "AWS::Lambda::EventSourceMapping", "", func(p map[string]any) { delete(p, "DestinationConfig") }},
		{"table-ttl", "data", "AWS::DynamoDB::GlobalTable", "weir-buckets", func(p map[string]any) { delete(p, "TimeToLiveSpecification") }},
		{"table-ttl", "data", "AWS::DynamoDB::GlobalTable", "weir-strict", func(p map[string]any) {
			p["TimeToLiveSpecification"] = map[string]any{"AttributeName": "ttl", "Enabled": true}
		}},
		{"table-strict", "data", "AWS::DynamoDB::GlobalTable", "weir-strict", func(p map[string]any) { delete(p, "MultiRegionConsistency") }},
		{"table-keys", "data", "AWS::DynamoDB::GlobalTable", "weir-config", func(p map[string]any) { p["KeySchema"] = p["KeySchema"].([]any)[:1] }},
		{"table-stream", "data", "AWS::DynamoDB::GlobalTable", "weir-config", func(p map[string]any) {
			p["StreamSpecification"] = map[string]any{"StreamViewType": "KEYS_ONLY"}
		}},
		{"table-replicas", "data", "AWS::DynamoDB::GlobalTable", "weir-config", func(p map[string]any) { p["Replicas"] = p["Replicas"].([]any)[:1] }},
		{"table-recovery", "data", "AWS::DynamoDB::GlobalTable", "weir-config", func(p map[string]any) {
			delete(p["Replicas"].([]any)[1].(map[string]any), "PointInTimeRecoverySpecification")
		}},
		{"table-protection", "data", "AWS::DynamoDB::GlobalTable", "weir-config", func(p map[string]any) {
			delete(p["Replicas"].([]any)[1].(map[string]any), "DeletionProtectionEnabled")
		}},
		{"table-missing", "data", "AWS::DynamoDB::GlobalTable", "weir-buckets", func(p map[string]any) { p["TableName"] = "another" }},
	} {
		t.Run(tt.rule+" "+tt.typ+" "+tt.match, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(a.dir)); err != nil {
				t.Fatal(err)
			}
			spoil(t, filepath.Join(dir, tt.stack+".template.json"), tt.typ, tt.match, tt.spoil)
			d, err := doctor.Synthesised(dir)
			if err != nil {
				t.Fatal(err)
			}
			var rules []string
			for _, f := range doctor.Check(d) {
				if f.What == "" || f.Fix == "" || f.Where == "" {
					t.Errorf("finding without words: %+v", f)
				}
				if f.Rule == tt.rule {
					return
				}
				rules = append(rules, f.Rule)
			}
			t.Errorf("it sees %v, want %s", rules, tt.rule)
		})
	}
}

func env(p map[string]any) map[string]any {
	return p["Environment"].(map[string]any)["Variables"].(map[string]any)
}

func document(p map[string]any) map[string]any { return p["PolicyDocument"].(map[string]any) }

// spoil changes the first resource of a type whose text has match. Without a
// function it takes away what the resource waits for.
func spoil(t *testing.T, file, typ, match string, change func(map[string]any)) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var template map[string]any
	if err := json.Unmarshal(text, &template); err != nil {
		t.Fatal(err)
	}
	for _, r := range template["Resources"].(map[string]any) {
		r := r.(map[string]any)
		if r["Type"] != typ || !strings.Contains(compact(t, r), match) {
			continue
		}
		if change == nil {
			delete(r, "DependsOn")
		} else {
			change(r["Properties"].(map[string]any))
		}
		if text, err = json.Marshal(template); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("no %s with %q in %s", typ, match, file)
}
