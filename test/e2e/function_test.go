package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"weir/internal/devgateway"
	"weir/internal/testengine"
)

func (w *world) lambda(region string) *lambda.Client {
	return lambda.New(lambda.Options{Region: region, BaseEndpoint: aws.String(w.Endpoint()), Credentials: testengine.Credentials})
}

func (w *world) apigateway(region string) *apigateway.Client {
	return apigateway.New(apigateway.Options{Region: region, BaseEndpoint: aws.String(w.Endpoint()), Credentials: testengine.Credentials})
}

// invoke calls a deployed function and returns its answer, or its error's text.
func (w *world) invoke(ctx context.Context, region, name string, event []byte) (json.RawMessage, error) {
	out, err := w.lambda(region).Invoke(ctx, &lambda.InvokeInput{FunctionName: &name, Payload: event})
	if err != nil {
		return nil, err
	}
	if out.FunctionError != nil {
		var failure struct{ ErrorMessage string }
		if err := json.Unmarshal(out.Payload, &failure); err != nil {
			return nil, err
		}
		return nil, errors.New(failure.ErrorMessage)
	}
	return out.Payload, nil
}

// gateway serves a template's gateway responses before a function that is deployed.
// It is a second opinion on what they make of the function's answers: that of
// `weir dev --template`.
func (w *world) gateway(t *testing.T, file, region, function string) api {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	template, err := devgateway.ParseTemplate(filepath.Base(file), text)
	if err != nil {
		t.Fatal(err)
	}
	g, err := devgateway.New(devgateway.Options{
		Template: template,
		Authorizer: func(ctx context.Context, event json.RawMessage) (any, error) {
			return w.invoke(ctx, region, function, event)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(g)
	t.Cleanup(s.Close)
	return api{base: s.URL}
}

// expectHealthy gives the deployed function the event that the health route makes
// of a health check's request, with the key that the deployed stage has.
func (w *world) expectHealthy(t *testing.T, file, region string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Resources map[string]struct {
			Type       string
			Properties struct {
				HTTPMethod  string `json:"HttpMethod"`
				Integration struct{ RequestTemplates map[string]string }
			}
		}
	}
	if err := json.Unmarshal(text, &template); err != nil {
		t.Fatal(err)
	}
	event := ""
	for _, r := range template.Resources {
		if r.Type == "AWS::ApiGateway::Method" && r.Properties.HTTPMethod == "GET" {
			event = r.Properties.Integration.RequestTemplates["application/json"]
		}
	}
	filled := strings.NewReplacer("$stageVariables.weirHealthKey", w.healthKey(t, region), "$context.apiId", "abc", "$context.stage", "v1",
		"$context.requestId", "r-1", "$context.identity.sourceIp", "192.0.2.1").Replace(event)
	if event == "" || strings.Contains(filled, "$") {
		t.Fatalf("event of the health route: %s", filled)
	}
	out, err := w.invoke(t.Context(), region, "weir-authorizer:live", []byte(filled))
	if err != nil {
		t.Fatal(err)
	}
	var decision struct {
		Context struct{ Code, Remaining, Tenant string }
	}
	if err := json.Unmarshal(out, &decision); err != nil {
		t.Fatal(err)
	}
	if c := decision.Context; c.Code != "ok" || c.Remaining == "-1" || c.Remaining == "" || c.Tenant != "health" {
		t.Errorf("%s: the health check's decision: %s", region, out)
	}
}

// healthKey returns the key that CloudFormation has put into the deployed stage.
func (w *world) healthKey(t *testing.T, region string) string {
	t.Helper()
	client := w.apigateway(region)
	apis, err := client.GetRestApis(t.Context(), &apigateway.GetRestApisInput{})
	if err != nil || len(apis.Items) != 1 {
		t.Fatalf("APIs in %s: %v, %v, want one", region, apis, err)
	}
	stage, err := client.GetStage(t.Context(), &apigateway.GetStageInput{RestApiId: apis.Items[0].Id, StageName: aws.String("v1")})
	if err != nil {
		t.Fatal(err)
	}
	return stage.Variables["weirHealthKey"]
}
