package doctor

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// sound returns a deployment of two Regions in which nothing is wrong. infra/app
// tests the rules on synthesised templates; here are those on what only a deployed
// stack has.
func sound() Deployment {
	zero := 0
	part := func(region string) Part {
		env := map[string]string{"WEIR_BUCKETS_TABLE": "weir-buckets", "WEIR_CONFIG_TABLE": "weir-config", "WEIR_REGIONS": "eu-west-1,us-east-1"}
		all := []Grant{{"dynamodb:*", "arn:aws:dynamodb:*:123456789012:table/weir-*"}}
		return Part{
			Region:     region,
			Authorizer: &Function{Name: "weir-authorizer", Timeout: 3 * time.Second, Tracing: true, Env: env, State: "Active", Allowed: all},
			Reconciler: &Function{Name: "weir-reconciler", Timeout: 5 * time.Minute, Tracing: true, Env: env, State: "Active", Allowed: all},
			Sources: []Source{{
				ARN: "arn:aws:dynamodb:" + region + ":123456789012:table/weir-config/stream/2026-12-01T00:00:00.000", Region: region,
				Enabled: true, State: "Enabled", Partial: true, Bisect: true, Filter: "CURRENT", OnFailure: true,
			}},
			APIs: []API{{
				Name: "orders", Region: region, Kind: REST, TTL: &zero, Invocable: true, Methods: []Method{{Path: "/", Verb: "GET", Limited: true}},
				Responses: map[string]Response{"ACCESS_DENIED": {Status: "429", Headers: mapped, Body: `{"code":"$context.authorizer.code","id":"$context.requestId"}`}},
			}},
		}
	}
	d := Deployment{
		Regions: []string{"eu-west-1", "us-east-1"},
		Parts:   []Part{part("eu-west-1"), part("us-east-1")},
		Lag:     []Lag{{Table: "weir-config", From: "eu-west-1", To: "us-east-1", Average: 800 * time.Millisecond}},
		Home:    &Home{Region: "eu-west-1", Beats: map[string]time.Duration{"eu-west-1": 20 * time.Second, "us-east-1": 50 * time.Second}},
	}
	for _, r := range d.Regions {
		table := Table{Region: r, Keys: wantedKeys, Stream: "NEW_AND_OLD_IMAGES", Replicas: d.Regions, Protected: true, Recovery: true}
		config, buckets := table, table
		config.Name, config.Role = "weir-config", ConfigTable
		buckets.Name, buckets.Role, buckets.TTL = "weir-buckets", BucketsTable, "ttl"
		d.Tables = append(d.Tables, config, buckets)
	}
	return d
}

func TestCheck(t *testing.T) {
	two := 2
	for _, tt := range []struct {
		name  string
		spoil func(*Deployment)
		want  string // "severity rule", "" for nothing
	}{
		{"sound", func(*Deployment) {}, ""},
		{"no authorizer", func(d *Deployment) { d.Parts[1].Authorizer = nil }, "broken authorizer-missing"},
		{"no reconciler", func(d *Deployment) { d.Parts[1].Reconciler = nil }, "broken reconciler-missing"},
		{"no API", func(d *Deployment) { d.Parts[1].APIs = nil }, "risky api-missing"},
		{"failed function", func(d *Deployment) { d.Parts[0].Authorizer.State = "Failed" }, "broken function-state"},
		{"permissions not told", func(d *Deployment) { d.Parts[0].Authorizer.Allowed, d.Parts[0].Authorizer.NoGrants = nil, true }, "unknown permissions"},
		{"config of another Region not readable", func(d *Deployment) {
			d.Parts[0].Authorizer.Allowed = []Grant{{"dynamodb:*", "arn:aws:dynamodb:eu-west-1:123456789012:table/weir-*"}}
		}, "broken permissions"},
		{"failing source", func(d *Deployment) { d.Parts[0].Sources[0].Result = "PROBLEM: Function call failed" }, "risky source-failing"},
		{"disabled source", func(d *Deployment) { d.Parts[0].Sources[0].State, d.Parts[0].Sources[0].Enabled = "Disabled", false }, "broken source-disabled"},
		{"cached for 2 s", func(d *Deployment) { d.Parts[0].APIs[0].TTL = &two }, "broken authorizer-cached"},
		{"cached as nothing is said", func(d *Deployment) { d.Parts[0].APIs[0].TTL = nil }, "broken authorizer-cached"},
		{"open method", func(d *Deployment) {
			d.Parts[0].APIs[0].Methods = append(d.Parts[0].APIs[0].Methods, Method{Path: "/health", Verb: "GET", Has: "NONE"})
		}, "broken method-unlimited"},
		{"method that is meant to be open", func(d *Deployment) {
			d.Parts[0].APIs[0].Methods = append(d.Parts[0].APIs[0].Methods, Method{Path: "/health", Verb: "GET", Has: "NONE"})
			d.Parts[0].APIs[0].Open = []string{"/health"}
		}, ""},
		{"body that is not JSON", func(d *Deployment) {
			r := d.Parts[0].APIs[0].Responses["ACCESS_DENIED"]
			r.Body = `{"message":$context.authorizer.message`
			d.Parts[0].APIs[0].Responses = map[string]Response{"ACCESS_DENIED": r}
		}, "broken 429-body"},
		{"HTTP API that is cached", func(d *Deployment) {
			d.Parts[0].APIs[0] = API{Name: "h", Region: "eu-west-1", Kind: HTTP, TTL: &two, Invocable: true, Payload: "2.0", Simple: true}
		}, "broken authorizer-cached"},
		{"HTTP API of the wrong form", func(d *Deployment) {
			d.Parts[0].APIs[0] = API{Name: "h", Region: "eu-west-1", Kind: HTTP, Invocable: true, Payload: "2.0", Simple: true, HTTPResponse: "iam"}
		}, "broken http-response"},
		{"HTTP API that leaves 429 to its backend", func(d *Deployment) {
			d.Parts[0].APIs[0] = API{Name: "h", Region: "eu-west-1", Kind: HTTP, Invocable: true, Payload: "2.0", Simple: true, OverLimit: "flag"}
		}, "risky backend-429"},
		{"no table", func(d *Deployment) { d.Tables[2].Missing = true }, "broken table-missing"},
		{"TTL on config", func(d *Deployment) { d.Tables[0].TTL = "expires" }, "broken table-ttl"},
		{"late", func(d *Deployment) { d.Lag[0].Average = 3 * time.Second }, "risky replication-late"},
		{"stalled", func(d *Deployment) { d.Lag[0].None = true }, "broken replication-stalled"},
		{"nothing written", func(d *Deployment) { d.Home.Region = "" }, "risky home"},
		{"home elsewhere", func(d *Deployment) { d.Home.Region = "sa-east-1" }, "broken home"},
		{"never heard of", func(d *Deployment) { delete(d.Home.Beats, "us-east-1") }, "broken heartbeat"},
		{"silent for long", func(d *Deployment) { d.Home.Beats["us-east-1"] = 10 * time.Minute }, "broken heartbeat"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := sound()
			tt.spoil(&d)
			var got []string
			for _, f := range Check(d) {
				if f.Where == "" || f.What == "" || f.Fix == "" {
					t.Errorf("a finding without words: %+v", f)
				}
				got = append(got, string(f.Severity)+" "+f.Rule)
			}
			if tt.want == "" && len(got) > 0 || tt.want != "" && !slices.Contains(got, tt.want) {
				t.Errorf("got %v, want %q", got, tt.want)
			}
		})
	}
}

// TestWorstFirst: what is broken comes before what is risky.
func TestWorstFirst(t *testing.T) {
	d := sound()
	d.Lag[0].Average, d.Lag[0].From = 3*time.Second, "a" // risky, and first by name
	d.Home.Region = "sa-east-1"
	found := Check(d)
	if len(found) != 2 || found[0].Severity != Broken || found[1].Severity != Risky {
		t.Errorf("got %v", found)
	}
}

func TestInvocable(t *testing.T) {
	const principal = `"Principal":{"Service":"apigateway.amazonaws.com"}`
	statement := func(principal, condition string) string {
		return `{"Statement":[{"Effect":"Allow",` + principal + `,"Action":"lambda:InvokeFunction"` + condition + `}]}`
	}
	source := func(arn string) string { return `,"Condition":{"ArnLike":{"AWS:SourceArn":"` + arn + `"}}` }
	for _, tt := range []struct {
		name, policy string
		want         bool
	}{
		{"of the authorizer", statement(principal, source("arn:aws:execute-api:eu-west-1:1:abc/authorizers/x")), true},
		{"of the whole API", statement(principal, source("arn:aws:execute-api:eu-west-1:1:abc/*")), true},
		{"without a condition", statement(principal, ""), true},
		{"of another API", statement(principal, source("arn:aws:execute-api:eu-west-1:1:xyz/authorizers/x")), false},
		{"of a method", statement(principal, source("arn:aws:execute-api:eu-west-1:1:abc/v1/GET/")), false},
		{"of somebody else", statement(`"Principal":{"Service":"events.amazonaws.com"}`, ""), false},
		{"denied", strings.Replace(statement(principal, ""), "Allow", "Deny", 1), false},
		{"none", "", false},
	} {
		if got := Invocable(tt.policy, "abc"); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestSynthesised says what to do where there is nothing to look at.
func TestSynthesised(t *testing.T) {
	if _, err := Synthesised(t.TempDir()); err == nil || !strings.Contains(err.Error(), "make synth") {
		t.Errorf("an empty folder: %v", err)
	}
}

func FuzzParseTemplate(f *testing.F) {
	f.Add([]byte(`{"Resources":{"A":{"Type":"AWS::ApiGateway::Authorizer","Metadata":{"weir":{"part":"authorizer"}},"Properties":{"RestApiId":{"Ref":"B"},"AuthorizerUri":{"Fn::Join":["",["a",{"Fn::GetAtt":["F","Arn"]}]]}}}}}`))
	f.Add([]byte(`{"Resources":{"R":{"Type":"AWS::ApiGateway::Resource","Properties":{"ParentId":{"Ref":"R"}}},"M":{"Type":"AWS::ApiGateway::Method","Properties":{"ResourceId":{"Ref":"R"},"RestApiId":{"Ref":"B"}}},"A":{"Type":"AWS::ApiGateway::Authorizer","Metadata":{"weir":{"part":"authorizer"}},"Properties":{"RestApiId":{"Ref":"B"}}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		parsed, err := ParseTemplate("eu-west-1", text)
		if err != nil {
			return
		}
		for _, a := range parsed.APIs() {
			CheckAPI(a)
		}
		parsed.part()
	})
}
