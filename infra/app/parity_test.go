package app_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"weir"
)

// Parity: template.yaml, the development stack, says of one Region what the CDK
// says. Both are flattened to lines of "what: value", and compared as a whole, so
// what one of them gains shows as well.

// sam is template.yaml with its parameters at their defaults.
type sam struct {
	parameters map[string]any
	resources  map[string]resource
	globals    map[string]any
}

func readSAM(t *testing.T) sam {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal(weir.Template, &doc); err != nil {
		t.Fatal(err)
	}
	top := plain(doc.Content[0]).(map[string]any)
	s := sam{parameters: map[string]any{}, resources: map[string]resource{}}
	for name, p := range top["Parameters"].(map[string]any) {
		s.parameters[name] = p.(map[string]any)["Default"]
	}
	s.globals = top["Globals"].(map[string]any)["Function"].(map[string]any)
	for id, r := range top["Resources"].(map[string]any) {
		m := r.(map[string]any)
		properties, _ := s.resolve(m["Properties"]).(map[string]any)
		s.resources[id] = resource{Type: m["Type"].(string), Properties: properties}
	}
	s.globals = s.resolve(s.globals).(map[string]any)
	return s
}

// plain returns a node as Go values; !Ref X is {"Ref": "X"}, and so on.
func plain(n *yaml.Node) any {
	var v any
	switch n.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			m[n.Content[i].Value] = plain(n.Content[i+1])
		}
		v = m
	case yaml.SequenceNode:
		l := []any{}
		for _, e := range n.Content {
			l = append(l, plain(e))
		}
		v = l
	default:
		if strings.HasPrefix(n.Tag, "!!") && n.Tag != "!!str" {
			if n.Decode(&v) == nil {
				return v
			}
		}
		v = n.Value
	}
	if strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!") {
		name := strings.TrimPrefix(n.Tag, "!")
		if name != "Ref" {
			name = "Fn::" + name
		}
		return map[string]any{name: v}
	}
	return v
}

// resolve fills parameters in, and the names that the CDK gives to what the
// template leaves to CloudFormation.
func (s sam) resolve(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["Ref"].(string); ok && len(v) == 1 {
			if p, ok := s.parameters[ref]; ok {
				return p
			}
			if name := map[string]string{"BucketsTable": "weir-buckets", "ConfigTable": "weir-config", "AWS::Region": "eu-west-1"}[ref]; name != "" {
				return name
			}
			return "${" + ref + "}"
		}
		if list, ok := v["Fn::If"].([]any); ok && len(v) == 1 {
			return s.resolve(list[1]) // the conditions of the template are true by default
		}
		if arn, ok := v["Fn::GetAtt"].(string); ok && len(v) == 1 {
			return map[string]string{"BucketsTable.Arn": "buckets", "ConfigTable.Arn": "config", "ConfigTable.StreamArn": "config stream", "ReconcilerFailures.Arn": "failures"}[arn]
		}
		if sub, ok := v["Fn::Sub"].(string); ok && len(v) == 1 {
			return strings.ReplaceAll(sub, "${KeyHeader}", fmt.Sprint(s.parameters["KeyHeader"]))
		}
		m := map[string]any{}
		for k, e := range v {
			m[k] = s.resolve(e)
		}
		return m
	case []any:
		l := []any{}
		for _, e := range v {
			l = append(l, s.resolve(e))
		}
		return l
	default:
		return v
	}
}

// lines collects "what: value".
type lines map[string]bool

func (l lines) add(t *testing.T, what string, v any) { l[what+": "+compact(t, v)] = true }

// function adds what both say of a function. A variable that is empty is not set.
func (l lines) function(t *testing.T, name string, get func(string) any) {
	for _, p := range []string{"Runtime", "Architectures", "MemorySize", "Timeout", "Handler", "LoggingConfig.LogFormat", "LoggingConfig.ApplicationLogLevel", "LoggingConfig.SystemLogLevel"} {
		l.add(t, name+" "+p, get(p))
	}
	variables, _ := get("Environment.Variables").(map[string]any)
	for k, v := range variables {
		if v != "" {
			l.add(t, name+" "+k, fmt.Sprint(v))
		}
	}
}

// statements adds what a policy allows, by Sid.
func (l lines) statements(t *testing.T, name string, statements []any) {
	for _, st := range statements {
		s := st.(map[string]any)
		if sid, ok := s["Sid"].(string); ok && sid != "WriteLogs" { // SAM's managed policy
			var actions []string
			for _, a := range list(s["Action"]) {
				actions = append(actions, a.(string))
			}
			slices.Sort(actions)
			l.add(t, name+" "+sid, actions)
			if c := s["Condition"]; c != nil {
				l.add(t, name+" "+sid+" if", c)
			}
		}
	}
}

func (l lines) table(t *testing.T, name string, r resource) {
	for _, p := range []string{"BillingMode", "AttributeDefinitions", "KeySchema", "SSESpecification.SSEEnabled", "TimeToLiveSpecification"} {
		l.add(t, name+" "+p, r.at(p))
	}
}

func samLines(t *testing.T) lines {
	s, l := readSAM(t), lines{}
	for _, name := range []string{"Authorizer", "Reconciler"} {
		fn := s.resources[name+"Function"]
		get := func(path string) any {
			if v := fn.at(path); v != nil {
				return v
			}
			return resource{Properties: s.globals}.at(path)
		}
		l.function(t, name, get)
		l.add(t, name+" traced", get("Tracing") == "Active")
		l.statements(t, name, fn.at("Policies.0.Statement").([]any))
		l.add(t, name+" log retention", s.resources[name+"Logs"].at("RetentionInDays"))
	}
	reconciler := s.resources["ReconcilerFunction"]
	l.add(t, "schedule", reconciler.at("Events.Minute.Properties.Schedule"))
	l.add(t, "schedule retries", reconciler.at("EventInvokeConfig.MaximumRetryAttempts"))
	l.source(t, s.resources["ReconcilerStream"])
	l.table(t, "buckets", s.resources["BucketsTable"])
	l.table(t, "config", s.resources["ConfigTable"])
	config := s.resources["ConfigTable"]
	l.add(t, "config stream", config.at("StreamSpecification.StreamViewType"))
	l.add(t, "config protected", fmt.Sprint(config.at("DeletionProtectionEnabled")))
	l.add(t, "config recovery", config.at("PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled"))

	api := s.resources["Api"]
	l.add(t, "authorizer TTL", api.at("Auth.Authorizers.Weir.Identity.ReauthorizeEvery"))
	l.add(t, "authorizer type", api.at("Auth.Authorizers.Weir.FunctionPayloadType"))
	l.add(t, "stage traced", api.at("TracingEnabled"))
	for typ, r := range api.at("GatewayResponses").(map[string]any) {
		r := resource{Properties: r.(map[string]any)}
		l.add(t, typ+" status", r.at("StatusCode"))
		l.add(t, typ+" body", r.Properties["ResponseTemplates"].(map[string]any)["application/json"])
		for h, v := range r.at("ResponseParameters.Headers").(map[string]any) {
			l.add(t, typ+" "+h, v)
		}
	}
	return l
}

func (l lines) source(t *testing.T, r resource) {
	for _, p := range []string{"StartingPosition", "BatchSize", "FilterCriteria", "FunctionResponseTypes", "BisectBatchOnFunctionError", "MaximumRetryAttempts", "MaximumRecordAgeInSeconds"} {
		l.add(t, "source "+p, r.at(p))
	}
}

func cdkLines(t *testing.T) lines {
	a := synthesised(t, "../examples/one-region.yaml")
	s, l := a.stack(t, "eu-west-1"), lines{}
	for _, name := range []string{"Authorizer", "Reconciler"} {
		fn := s.the(t, "AWS::Lambda::Function", "FunctionName", "weir-"+strings.ToLower(name))
		l.function(t, name, fn.at)
		l.add(t, name+" traced", fn.at("TracingConfig.Mode") == "Active")
		for id, p := range s.of("AWS::IAM::Policy") {
			if strings.HasPrefix(id, name+"Role") {
				l.statements(t, name, p.at("PolicyDocument.Statement").([]any))
			}
		}
		l.add(t, name+" log retention", s.the(t, "AWS::Logs::LogGroup", "LogGroupName", "/aws/lambda/weir-"+strings.ToLower(name)).at("RetentionInDays"))
	}
	l.add(t, "schedule", s.the(t, "AWS::Events::Rule", "State", "ENABLED").at("ScheduleExpression"))
	for _, r := range s.of("AWS::Lambda::EventInvokeConfig") {
		l.add(t, "schedule retries", r.at("MaximumRetryAttempts"))
	}
	l.source(t, s.the(t, "AWS::Lambda::EventSourceMapping", "StartingPosition", "TRIM_HORIZON"))
	data := a.stack(t, "data")
	config := data.the(t, "AWS::DynamoDB::GlobalTable", "TableName", "weir-config")
	l.table(t, "buckets", data.the(t, "AWS::DynamoDB::GlobalTable", "TableName", "weir-buckets"))
	l.table(t, "config", config)
	l.add(t, "config stream", config.at("StreamSpecification.StreamViewType"))
	l.add(t, "config protected", fmt.Sprint(config.at("Replicas.0.DeletionProtectionEnabled")))
	l.add(t, "config recovery", config.at("Replicas.0.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled"))

	authorizer := s.the(t, "AWS::ApiGateway::Authorizer", "Name", "weir")
	l.add(t, "authorizer TTL", authorizer.at("AuthorizerResultTtlInSeconds"))
	l.add(t, "authorizer type", authorizer.at("Type"))
	l.add(t, "stage traced", s.the(t, "AWS::ApiGateway::Stage", "StageName", "v1").at("TracingEnabled"))
	for _, r := range s.of("AWS::ApiGateway::GatewayResponse") {
		typ := r.at("ResponseType").(string)
		l.add(t, typ+" status", r.at("StatusCode"))
		l.add(t, typ+" body", r.Properties["ResponseTemplates"].(map[string]any)["application/json"])
		for h, v := range r.at("ResponseParameters").(map[string]any) {
			l.add(t, typ+" "+strings.TrimPrefix(h, "gatewayresponse.header."), v)
		}
	}
	return l
}

func TestTemplateSaysTheSame(t *testing.T) {
	sam, cdk := samLines(t), cdkLines(t)
	if len(sam) < 80 {
		t.Errorf("only %d lines are compared", len(sam))
	}
	for _, line := range slices.Sorted(maps.Keys(sam)) {
		if !cdk[line] {
			t.Errorf("only template.yaml: %s", line)
		}
	}
	for _, line := range slices.Sorted(maps.Keys(cdk)) {
		if !sam[line] {
			t.Errorf("only infra: %s", line)
		}
	}
}
