package app_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestFunctions(t *testing.T) {
	a := synthesised(t, full)
	for _, region := range a.config.RegionNames() {
		s := a.stack(t, region)
		for name, want := range map[string]float64{"weir-authorizer": 3, "weir-reconciler": 300} {
			f := s.the(t, "AWS::Lambda::Function", "FunctionName", name)
			f.expect(t,
				"Runtime", "provided.al2023", "Architectures", []any{"arm64"}, "Handler", "bootstrap",
				"MemorySize", 512, "Timeout", want, "TracingConfig.Mode", "Active",
				"Environment.Variables.WEIR_BUCKETS_TABLE", "weir-buckets",
				"Environment.Variables.WEIR_CONFIG_TABLE", "weir-config",
				"LoggingConfig.LogFormat", "JSON", "LoggingConfig.SystemLogLevel", "WARN")
			first, _, _ := strings.Cut(f.at("Environment.Variables.WEIR_REGIONS").(string), ",")
			if first != region {
				t.Errorf("%s in %s asks %s first", name, region, first)
			}
			s.the(t, "AWS::Logs::LogGroup", "LogGroupName", "/aws/lambda/"+name).expect(t, "RetentionInDays", 14)
		}
	}
}

func TestConcurrency(t *testing.T) {
	a := synthesised(t, full)
	for region, want := range map[string]struct{ reserved, provisioned any }{
		"eu-west-1": {200, nil}, "us-east-1": {400, 20}, "ap-southeast-2": {200, nil},
	} {
		s := a.stack(t, region)
		s.the(t, "AWS::Lambda::Function", "FunctionName", "weir-authorizer").expect(t, "ReservedConcurrentExecutions", want.reserved)
		s.the(t, "AWS::Lambda::Function", "FunctionName", "weir-reconciler").expect(t, "ReservedConcurrentExecutions", nil)
		s.the(t, "AWS::Lambda::Alias", "Name", "live").expect(t, "ProvisionedConcurrencyConfig.ProvisionedConcurrentExecutions", want.provisioned)
	}
}

// TestSource: the reconciler reads the stream of its own Region's replica, found
// while the stack is deployed.
func TestSource(t *testing.T) {
	a := synthesised(t, full)
	for _, region := range a.config.RegionNames() {
		s := a.stack(t, region)
		m := s.the(t, "AWS::Lambda::EventSourceMapping", "StartingPosition", "TRIM_HORIZON")
		m.expect(t,
			"BisectBatchOnFunctionError", true, "FunctionResponseTypes", []any{"ReportBatchItemFailures"},
			"FilterCriteria.Filters", []any{map[string]any{"Pattern": `{"dynamodb":{"Keys":{"pk":{"S":[{"prefix":"PLAN#"},{"prefix":"TENANT#"},{"prefix":"CRED#"},{"prefix":"HEARTBEAT#"}]},"sk":{"S":["CURRENT"]}}}}`}})
		arn, _ := m.at("EventSourceArn.Fn::GetAtt").([]any)
		if len(arn) != 2 || arn[1] != "Table.LatestStreamArn" {
			t.Fatalf("%s: event source %v", region, m.at("EventSourceArn"))
		}
		var call struct {
			Action, Service, Region string
			Parameters              map[string]string
		}
		if err := json.Unmarshal([]byte(s.Resources[arn[0].(string)].at("Create").(string)), &call); err != nil {
			t.Fatal(err)
		}
		if call.Service != "DynamoDB" || call.Action != "describeTable" || call.Parameters["TableName"] != "weir-config" || call.Region != "" {
			t.Errorf("%s: looks the stream up with %+v", region, call)
		}
		queue, _ := m.at("DestinationConfig.OnFailure.Destination.Fn::GetAtt").([]any)
		if len(queue) != 2 || s.Resources[queue[0].(string)].Type != "AWS::SQS::Queue" {
			t.Errorf("%s: failures go to %v", region, m.at("DestinationConfig"))
		}
		s.the(t, "AWS::Events::Rule", "ScheduleExpression", "rate(1 minute)").expect(t, "Targets.0.Input", `{"source":"weir.schedule"}`)
	}
}

func TestAuthorizer(t *testing.T) {
	a := synthesised(t, full)
	for _, region := range a.config.RegionNames() {
		s := a.stack(t, region)
		s.the(t, "AWS::ApiGateway::Authorizer", "Type", "REQUEST").expect(t, "AuthorizerResultTtlInSeconds", 0, "IdentitySource", nil)
		stage := s.the(t, "AWS::ApiGateway::Stage", "StageName", "v1")
		stage.expect(t, "TracingEnabled", true, "Variables", map[string]any{"weirHealthKey": "{{resolve:ssm:/weir/health-key}}"})
		if format, _ := stage.at("AccessLogSetting.Format").(string); !strings.Contains(format, "$context.authorizer.tenant") || strings.Contains(format, "header") {
			t.Errorf("%s: access log %s", region, format)
		}
		s.the(t, "AWS::ApiGateway::DomainName", "DomainName", "api.example.com").expect(t, "SecurityPolicy", "TLS_1_2", "EndpointConfiguration.Types", []any{"REGIONAL"})
	}
}

func TestEveryMethodIsLimited(t *testing.T) {
	a := synthesised(t, full)
	for _, region := range a.config.RegionNames() {
		var limited, open int
		for id, m := range a.stack(t, region).of("AWS::ApiGateway::Method") {
			switch m.at("AuthorizationType") {
			case "CUSTOM":
				limited++
			default:
				if verb := m.at("HttpMethod"); verb != "OPTIONS" && !(verb == "GET" && strings.Contains(id, "weirhealth")) {
					t.Errorf("%s: %s is open", region, id)
				}
				open++
			}
		}
		if limited != 2 || open != 5 {
			t.Errorf("%s: %d limited, %d open, want 2 and 5", region, limited, open)
		}
	}
}

// TestHTTPAPI: without gateway responses the choice is said, in the authorizer too.
func TestHTTPAPI(t *testing.T) {
	s := synthesisedText(t, "http", least+"api: { kind: http, overLimit: flag, backend: 'https://origin.example.com' }\n").stack(t, "eu-west-1")
	s.the(t, "AWS::ApiGatewayV2::Authorizer", "AuthorizerType", "REQUEST").expect(t,
		"AuthorizerResultTtlInSeconds", 0, "EnableSimpleResponses", true, "AuthorizerPayloadFormatVersion", "2.0")
	s.the(t, "AWS::Lambda::Function", "FunctionName", "weir-authorizer").expect(t, "Environment.Variables.WEIR_HTTP_OVER_LIMIT", "flag")
	s.the(t, "AWS::ApiGatewayV2::Route", "RouteKey", "ANY /{proxy+}").expect(t, "AuthorizationType", "CUSTOM")
	passed := s.the(t, "AWS::ApiGatewayV2::Integration", "IntegrationType", "HTTP_PROXY").at("RequestParameters").(map[string]any)
	for header, want := range map[string]string{"X-Weir-Limited": "$context.authorizer.limited", "RateLimit": "$context.authorizer.rateLimit"} {
		if got := passed["overwrite:header."+header]; got != want {
			t.Errorf("%s is %v, want %s", header, got, want)
		}
	}
}

// TestEcho: without a backend the API answers with the decision, headers included.
func TestEcho(t *testing.T) {
	s := synthesised(t, "../examples/one-region.yaml").stack(t, "eu-west-1")
	var echoes int
	for _, m := range s.of("AWS::ApiGateway::Method") {
		if m.at("HttpMethod") == "ANY" {
			echoes++
			m.expect(t, "Integration.Type", "MOCK")
			headers := m.at("Integration.IntegrationResponses.0.ResponseParameters").(map[string]any)
			if headers["method.response.header.X-RateLimit-Remaining"] != "context.authorizer.remaining" {
				t.Errorf("headers %v", headers)
			}
		}
	}
	if echoes != 2 {
		t.Errorf("%d echoes, want 2", echoes)
	}
	if len(s.of("AWS::ApiGateway::DomainName")) != 0 {
		t.Error("a domain that was not asked for")
	}
}

func TestStrictIsToldToFunctions(t *testing.T) {
	s := synthesised(t, "../examples/two-regions.yaml").stack(t, "eu-west-1")
	for _, name := range []string{"weir-authorizer", "weir-reconciler"} {
		s.the(t, "AWS::Lambda::Function", "FunctionName", name).expect(t, "Environment.Variables.WEIR_STRICT_TABLE", "weir-strict")
	}
	var sids []string
	for _, p := range s.of("AWS::IAM::Policy") {
		for _, st := range p.at("PolicyDocument.Statement").([]any) {
			if sid, ok := st.(map[string]any)["Sid"].(string); ok {
				sids = append(sids, sid)
			}
		}
	}
	for _, want := range []string{"ChargeStrictBuckets", "RescaleAndSweepStrictBuckets"} {
		if !slices.Contains(sids, want) {
			t.Errorf("no statement %s", want)
		}
	}
}
