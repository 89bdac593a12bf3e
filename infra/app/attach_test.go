package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/jsii-runtime-go"

	"weir/infra/attach"
	"weir/infra/examples/attach/orders"
	"weir/internal/doctor"
)

// synthesise runs build on an app and returns what stops it, "" if nothing does,
// with the folder of the templates.
func synthesise(t *testing.T, build func(awscdk.App)) (dir, refusal string) {
	t.Helper()
	dir = t.TempDir()
	defer func() {
		if p := recover(); p != nil {
			refusal = fmt.Sprint(p)
			if report, err := os.ReadFile(filepath.Join(dir, "validation-report.json")); err == nil {
				refusal += string(report)
			}
		}
	}()
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(dir), AnalyticsReporting: jsii.Bool(false), TreeMetadata: jsii.Bool(false)})
	build(app)
	app.Synth(nil)
	return dir, ""
}

// api adds a small REST API of somebody's.
func api(stack awscdk.Stack) awsapigateway.RestApi {
	api := awsapigateway.NewRestApi(stack, jsii.String("Api"), &awsapigateway.RestApiProps{CloudWatchRole: jsii.Bool(false)})
	api.Root().AddMethod(jsii.String("GET"), awsapigateway.NewMockIntegration(nil), nil)
	return api
}

func TestExampleAttach(t *testing.T) {
	dir, refusal := synthesise(t, func(app awscdk.App) {
		orders.NewStack(app, &awscdk.StackProps{Env: &awscdk.Environment{Account: jsii.String("123456789012"), Region: jsii.String("eu-west-1")}})
	})
	if refusal != "" {
		t.Fatal(refusal)
	}
	text, err := os.ReadFile(filepath.Join(dir, "orders.template.json"))
	if err != nil {
		t.Fatal(err)
	}
	template, err := doctor.ParseTemplate("eu-west-1", text)
	if err != nil {
		t.Fatal(err)
	}
	apis := template.APIs()
	if len(apis) != 1 || len(apis[0].Methods) != 4 {
		t.Fatalf("got %+v, want one API with four methods", apis)
	}
	for _, f := range doctor.CheckAPI(apis[0]) {
		t.Error(f)
	}
	for _, m := range apis[0].Methods {
		if m.Limited == (m.Path == "/health") {
			t.Errorf("%s %s: limited is %v", m.Verb, m.Path, m.Limited)
		}
	}
	if !strings.Contains(string(text), "function:weir-authorizer:live") {
		t.Error("it does not call the deployment's authorizer")
	}

	source, err := os.ReadFile("../examples/attach/orders/orders.go")
	if err != nil {
		t.Fatal(err)
	}
	added := 0
	for line := range strings.Lines(string(source)) {
		if strings.HasSuffix(strings.TrimSpace(line), "// +") {
			added++
		}
	}
	if added == 0 || added > 10 {
		t.Errorf("limiting it took %d lines, want 1 to 10", added)
	}
}

// TestAttachAfterwards: attaching Weir to an API that is deployed already deploys
// it anew.
func TestAttachAfterwards(t *testing.T) {
	deployment := func(limited bool) string {
		dir, refusal := synthesise(t, func(app awscdk.App) {
			stack := awscdk.NewStack(app, jsii.String("peer"), nil)
			a := api(stack)
			if limited {
				attach.NewRateLimited(stack, jsii.String("Limits"), &attach.RateLimitedProps{Api: a})
			}
		})
		if refusal != "" {
			t.Fatal(refusal)
		}
		text, err := os.ReadFile(filepath.Join(dir, "peer.template.json"))
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(text), `"ApiDeployment`)
		id, _, _ := strings.Cut(after, `"`)
		return id
	}
	if before, after := deployment(false), deployment(true); before == after {
		t.Errorf("the deployment is %s before and after: the authorizer would not be in force", before)
	}
}

// TestRefusals: what would not limit, or not say so, is not synthesised.
func TestRefusals(t *testing.T) {
	type peer struct {
		stack  awscdk.Stack
		api    awsapigateway.RestApi
		limits attach.RateLimited
	}
	for _, tt := range []struct {
		name  string
		spoil func(peer)
		want  string // "" if it is to be synthesised
	}{
		{"as it is", func(peer) {}, ""},
		{"a method added later", func(p peer) {
			p.api.Root().AddResource(jsii.String("later"), nil).AddMethod(jsii.String("POST"), awsapigateway.NewMockIntegration(nil), nil)
		}, ""},
		{"caching", func(p peer) {
			p.limits.Authorizer().SetAuthorizerResultTtlInSeconds(jsii.Number(300))
		}, "the authorizer's answers are cached for 300 s"},
		{"caching, by override", func(p peer) {
			p.limits.Authorizer().AddPropertyOverride(jsii.String("AuthorizerResultTtlInSeconds"), 60)
		}, "the authorizer's answers are cached for 60 s"},
		{"caching, by deleting the 0", func(p peer) {
			p.limits.Authorizer().AddPropertyDeletionOverride(jsii.String("AuthorizerResultTtlInSeconds"))
		}, "the authorizer's answers are cached for 300 s, as nothing is said"},
		{"429 overridden", func(p peer) {
			response(p.api).AddPropertyOverride(jsii.String("StatusCode"), "403")
		}, "gateway response ACCESS_DENIED is 403: a client over its limit gets no 429."},
		{"429 replaced", func(p peer) {
			p.api.AddGatewayResponse(jsii.String("Zz"), &awsapigateway.GatewayResponseOptions{
				Type: awsapigateway.ResponseType_ACCESS_DENIED(), StatusCode: jsii.String("403"),
			})
		}, "gateway response ACCESS_DENIED is set twice"},
		{"429 removed", func(p peer) {
			p.api.Node().TryRemoveChild(jsii.String("WeirAccessDenied"))
		}, "gateway response ACCESS_DENIED is not customised"},
		{"Retry-After removed", func(p peer) {
			response(p.api).AddPropertyDeletionOverride(jsii.String("ResponseParameters.gatewayresponse\\.header\\.Retry-After"))
		}, "Retry-After of the 429 is not mapped"},
		{"a method opened", func(p peer) {
			m := (*p.api.Methods())[0].Node().DefaultChild().(awsapigateway.CfnMethod)
			m.AddPropertyOverride(jsii.String("AuthorizationType"), "NONE")
		}, "no limit holds for GET /"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, refusal := synthesise(t, func(app awscdk.App) {
				stack := awscdk.NewStack(app, jsii.String("peer"), nil)
				a := api(stack)
				tt.spoil(peer{stack, a, attach.NewRateLimited(stack, jsii.String("Limits"), &attach.RateLimitedProps{Api: a})})
			})
			switch {
			case tt.want == "" && refusal != "":
				t.Errorf("refused: %s", refusal)
			case tt.want != "" && !strings.Contains(refusal, tt.want):
				t.Errorf("got %q, want a refusal with %q", refusal, tt.want)
			}
		})
	}
}

// response returns the gateway response that makes a refusal a 429.
func response(api awsapigateway.RestApi) awscdk.CfnResource {
	return api.Node().FindChild(jsii.String("WeirAccessDenied")).Node().DefaultChild().(awscdk.CfnResource)
}

// TestHTTPMustChoose: an HTTP API says what its clients get instead of a 429.
func TestHTTPMustChoose(t *testing.T) {
	build := func(over *string) string {
		_, refusal := synthesise(t, func(app awscdk.App) {
			stack := awscdk.NewStack(app, jsii.String("peer"), nil)
			awsapigatewayv2.NewHttpApi(stack, jsii.String("Api"), &awsapigatewayv2.HttpApiProps{
				DefaultAuthorizer: attach.NewRateLimitedHttp(stack, jsii.String("Limits"), &attach.RateLimitedHttpProps{OverLimit: over}),
			})
		})
		return refusal
	}
	if got := build(nil); !strings.Contains(got, "an HTTP API cannot answer 429 itself") {
		t.Errorf("got %q", got)
	}
	if got := build(jsii.String("deny")); got != "" {
		t.Errorf("refused: %s", got)
	}
}
