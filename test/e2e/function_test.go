package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/apigateway/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"weir/internal/devgateway"
	"weir/internal/testengine"
)

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

func (w *world) lambda(region string) *lambda.Client {
	return lambda.New(lambda.Options{Region: region, BaseEndpoint: aws.String(w.Endpoint()), Credentials: testengine.Credentials})
}

// reserve sets a function's reserved concurrency.
func (w *world) reserve(t *testing.T, region, name string, n int32) {
	t.Helper()
	_, err := w.lambda(region).PutFunctionConcurrency(t.Context(), &lambda.PutFunctionConcurrencyInput{FunctionName: &name, ReservedConcurrentExecutions: &n})
	if err != nil {
		t.Fatal(err)
	}
}

// forget429 takes the 429 away from all REST APIs of a Region.
func (w *world) forget429(t *testing.T, region string) {
	t.Helper()
	client := apigateway.New(apigateway.Options{Region: region, BaseEndpoint: aws.String(w.Endpoint()), Credentials: testengine.Credentials})
	apis, err := client.GetRestApis(t.Context(), &apigateway.GetRestApisInput{})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range apis.Items {
		if _, err := client.DeleteGatewayResponse(t.Context(), &apigateway.DeleteGatewayResponseInput{
			RestApiId: a.Id, ResponseType: types.GatewayResponseTypeAccessDenied,
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// gateway serves the gateway responses of a synthesised template, before the
// function that is deployed.
func (w *world) gateway(t *testing.T, file, region, function string) *httptest.Server {
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
	return s
}

// expectHonest429 checks what a client gets that is over its limit, values and all.
func expectHonest429(t *testing.T, s *httptest.Server, key string) {
	t.Helper()
	var got answer
	for range 40 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/things", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("x-api-key", key)
		if got = do(t, req); got.status != http.StatusOK {
			break
		}
	}
	var body struct {
		Code, Message, Scope, Reason string
		RetryAfter                   int
	}
	if err := json.Unmarshal([]byte(got.body), &body); err != nil {
		t.Fatalf("status %d, body %s: %v", got.status, got.body, err)
	}
	after, err := strconv.Atoi(got.header.Get("Retry-After"))
	if got.status != http.StatusTooManyRequests || err != nil || after < 1 || body.RetryAfter != after || body.Code != "rate_limited" || body.Reason != "api" {
		t.Errorf("status %d, Retry-After %q, body %s", got.status, got.header.Get("Retry-After"), got.body)
	}
	if !strings.HasPrefix(got.header.Get("RateLimit"), `"api";r=0;t=`) || got.header.Get("X-RateLimit-Limit") != "5" || got.header.Get("X-RateLimit-Remaining") != "0" {
		t.Errorf("headers %v", got.header)
	}
}

// expectHealthy gives the deployed function the event that the health route makes
// of a health check's request.
func (w *world) expectHealthy(t *testing.T, file, region, key string) {
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
	filled := strings.NewReplacer("$stageVariables.weirHealthKey", key, "$context.apiId", "abc", "$context.stage", "v1",
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
		t.Errorf("the health check's decision: %s", out)
	}
}
