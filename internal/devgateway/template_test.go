package devgateway

import (
	"errors"
	"maps"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
)

// parse parses a template that must be good.
func parse(t testing.TB, text string) *Template {
	t.Helper()
	tpl, err := ParseTemplate("t.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return tpl
}

// api is a SAM template with the given text, indented by six, as GatewayResponses.
func api(responses string) string {
	const head = "Resources:\n  Api:\n    Type: AWS::Serverless::Api\n    Properties:\n     GatewayResponses:\n"
	return head + "      " + strings.ReplaceAll(strings.TrimSpace(responses), "\n", "\n      ")
}

// answer writes the gateway response for v.err.
func (t *Template) answer(v variables) (*httptest.ResponseRecorder, []string) {
	w := httptest.NewRecorder()
	_, warnings := t.write(w, v)
	return w, warnings
}

// TestRepositoryTemplate checks that the template that is deployed says what a
// client of a limited API needs, once it has gone through this gateway's eyes.
func TestRepositoryTemplate(t *testing.T) {
	text, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tpl, err := ParseTemplate("template.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range []responseType{"ACCESS_DENIED", "UNAUTHORIZED", "AUTHORIZER_FAILURE", "AUTHORIZER_CONFIGURATION_ERROR"} {
		if _, ok := tpl.responses[typ]; !ok {
			t.Errorf("%s is not customised", typ)
		}
	}
	if got := tpl.DenyStatus(); got != 429 {
		t.Errorf("ACCESS_DENIED is %d, want 429", got)
	}
	if got := tpl.responseFor(errUnauthorized()).status; got != 401 {
		t.Errorf("UNAUTHORIZED is %d, want 401", got)
	}
	for _, resource := range []string{"/", "/{proxy+}", "/only/in/the/plans"} {
		var names []string
		for _, h := range tpl.successHeaders(resource) {
			names = append(names, h.name)
		}
		for _, want := range []string{"RateLimit", "RateLimit-Policy", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
			if !slices.Contains(names, want) {
				t.Errorf("a 200 of %s has no %s, only %v", resource, want, names)
			}
		}
	}
}

func TestGatewayResponse(t *testing.T) {
	tests := []struct {
		name     string
		template string
		err      *gatewayError
		status   int
		body     string
		headers  map[string]string // as on the wire
	}{
		{"AWS's 403 with a capital M", "Resources: {}", errAccessDenied(explicitDeny), 403,
			`{"Message":"User is not authorized to access this resource with an explicit deny"}`,
			map[string]string{"x-amzn-ErrorType": "AccessDeniedException", "Content-Type": "application/json"}},
		{"AWS's 403 without a match", "Resources: {}", errAccessDenied(implicitDeny), 403,
			`{"Message":"User is not authorized to access this resource"}`, nil},
		{"AWS's 401", "Resources: {}", errUnauthorized(), 401,
			`{"message":"Unauthorized"}`, map[string]string{"x-amzn-ErrorType": "UnauthorizedException"}},
		{"AWS's 500", "Resources: {}", errAuthorizer(errors.New("secret")), 500,
			`{"message":null}`, map[string]string{"x-amzn-ErrorType": "AuthorizerConfigurationException"}},
		{"AWS's 414", "Resources: {}", errURITooLong(), 414, `{"message":"Request URI too long"}`, nil},
		{"own status and body", api(`
ACCESS_DENIED:
  StatusCode: "429"
  ResponseParameters:
    Headers:
      Retry-After: context.authorizer.retryAfter
      X-RateLimit-Limit: context.authorizer.gone
      Cache-Control: "'no-store'"
  ResponseTemplates:
    application/json: '{"code":"$context.authorizer.code","in":$context.authorizer.retryAfter}'`),
			errAccessDenied(explicitDeny), 429, `{"code":"rate_limited","in":3}`,
			map[string]string{"Retry-After": "3", "Cache-Control": "no-store", "X-RateLimit-Limit": "", "x-amzn-ErrorType": "AccessDeniedException"}},
		{"own entry without a body", api("ACCESS_DENIED: {StatusCode: 404}"), errAccessDenied(explicitDeny), 404,
			`{"message":"User is not authorized to access this resource with an explicit deny"}`, nil},
		{"family", api(`
DEFAULT_4XX:
  ResponseParameters: {Headers: {X-From: "'family'"}}
DEFAULT_5XX:
  StatusCode: 503`), errUnauthorized(), 401, `{"message":"Unauthorized"}`, map[string]string{"X-From": "family"}},
		{"family of 5xx", api("DEFAULT_5XX: {StatusCode: 503}"), errAuthorizer(nil), 503, `{"message":null}`, nil},
		{"nothing is inherited by an own entry", api(`
UNAUTHORIZED: {StatusCode: 401}
DEFAULT_4XX:
  StatusCode: 418
  ResponseParameters: {Headers: {X-From: "'family'"}}`), errUnauthorized(), 401, `{"message":"Unauthorized"}`, map[string]string{"X-From": ""}},
		{"CloudFormation's resource, in JSON", `{"Resources":{"Denied":{"Type":"AWS::ApiGateway::GatewayResponse","Properties":{
			"ResponseType":"ACCESS_DENIED","StatusCode":"429","RestApiId":{"Ref":"Api"},
			"ResponseParameters":{"gatewayresponse.header.RateLimit":"context.authorizer.code"},
			"ResponseTemplates":{"application/json":"{}"}}}}}`, errAccessDenied(explicitDeny), 429, `{}`,
			map[string]string{"RateLimit": "rate_limited"}},
		{"Globals, overridden", "Globals:\n  Api:\n    GatewayResponses:\n      UNAUTHORIZED: {StatusCode: 400}\n      ACCESS_DENIED: {StatusCode: 400}\n" +
			api("ACCESS_DENIED: {StatusCode: 429}"), errUnauthorized(), 400, `{"message":"Unauthorized"}`, nil},
		{"short tags and anchors elsewhere do not matter", "Conditions:\n  C: !Equals [!Ref A, '']\nResources:\n  F:\n    Type: X\n    Properties: &p\n      E: !If [C, !Ref A, !Sub '${B}']\n  G: *p\n",
			errUnauthorized(), 401, `{"message":"Unauthorized"}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := testVariables(t)
			v.err = tt.err
			w, _ := parse(t, tt.template).answer(v)
			if w.Code != tt.status || w.Body.String() != tt.body {
				t.Errorf("got %d %s, want %d %s", w.Code, w.Body, tt.status, tt.body)
			}
			for name, want := range tt.headers {
				if got := strings.Join(w.Header()[name], ","); got != want {
					t.Errorf("header %s is %q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestGatewayResponseWarnings(t *testing.T) {
	tpl := parse(t, api(`
ACCESS_DENIED:
  ResponseParameters: {Headers: {X-Gone: context.authorizer.gone}}
  ResponseTemplates:
    application/json: '{"in":$context.authorizer.missing}'`))
	_, warnings := tpl.answer(testVariables(t))
	all := strings.Join(warnings, "\n")
	for _, want := range []string{"context.authorizer.gone", "context.authorizer.missing", "not JSON"} {
		if !strings.Contains(all, want) {
			t.Errorf("warnings do not mention %q: %q", want, warnings)
		}
	}
}

func TestParseTemplateBad(t *testing.T) {
	tests := []struct {
		name, template string
		line           int
		want           string
	}{
		{"empty", "", 0, "empty"},
		{"comment", "# nothing\n", 0, "empty"},
		{"not YAML", "a: [", 0, "yaml"},
		{"not a template", "hello: world", 0, "not a CloudFormation"},
		{"a list", "- a", 0, "not a CloudFormation"},
		{"unknown type", api("ACCESS_DENYED: {StatusCode: 429}"), 6, "ACCESS_DENIED"},
		{"dollar in a header", api("ACCESS_DENIED:\n  ResponseParameters:\n    Headers:\n      Retry-After: $context.authorizer.retryAfter"), 9, "write context.authorizer.retryAfter"},
		{"bare literal", api("ACCESS_DENIED:\n  ResponseParameters:\n    Headers:\n      Retry-After: '60'"), 9, `"'60'"`},
		{"misspelt variable", api("ACCESS_DENIED:\n  ResponseParameters:\n    Headers:\n      Retry-After: context.authoriser.x"), 9, "context.authorizer.NAME"},
		{"header twice", api("ACCESS_DENIED:\n  ResponseParameters:\n    Headers:\n      A: \"'1'\"\n      a: \"'2'\""), 10, "twice"},
		{"reserved header", api("ACCESS_DENIED:\n  ResponseParameters:\n    Headers:\n      content-length: \"'1'\""), 9, "cannot be mapped"},
		{"header name", api("ACCESS_DENIED:\n  ResponseParameters:\n    Headers:\n      'a b': \"'1'\""), 9, "name of a header"},
		{"header by function", api("ACCESS_DENIED:\n  ResponseParameters:\n    Headers:\n      A: !Sub \"'${X}'\""), 9, "!Sub"},
		{"paths", api("ACCESS_DENIED:\n  ResponseParameters:\n    Paths: {a: b}"), 8, "only Headers"},
		{"status", api("ACCESS_DENIED:\n  StatusCode: 42"), 7, "from 200 to 599"},
		{"status by function", api("ACCESS_DENIED:\n  StatusCode: !Ref Status"), 7, "not evaluated"},
		{"content type", api("ACCESS_DENIED:\n  ResponseTemplates:\n    text/html: x"), 8, "only application/json"},
		{"body is a mapping", api("ACCESS_DENIED:\n  ResponseTemplates:\n    application/json: {a: b}"), 8, "a mapping"},
		{"VTL", api("ACCESS_DENIED:\n  ResponseTemplates:\n    application/json: '#set($a = 1)'"), 8, "VTL"},
		{"body is not JSON", api("ACCESS_DENIED:\n  ResponseTemplates:\n    application/json: \"{'a':1}\""), 8, "not JSON"},
		{"messageString in quotes", api("ACCESS_DENIED:\n  ResponseTemplates:\n    application/json: '{\"a\":\"$context.error.messageString\"}'"), 8, "not JSON"},
		{"two APIs", "Resources:\n  A: {Type: AWS::Serverless::Api}\n  B: {Type: AWS::Serverless::Api}", 3, "a second API"},
		{"CloudFormation key", "Resources:\n  D:\n    Type: AWS::ApiGateway::GatewayResponse\n    Properties:\n      ResponseType: ACCESS_DENIED\n      ResponseParameters:\n        Retry-After: \"'1'\"", 7, "gatewayresponse.header.NAME"},
		{"undeclared header", integration("context.authorizer.limit", "{}"), 11, "not declared"},
		{"bad integration mapping", integration("$context.authorizer.limit", "{X-Limit: {}}"), 12, "takes no"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseTemplate("t.yaml", []byte(tt.template))
			var fault *TemplateError
			if !errors.As(err, &fault) {
				t.Fatalf("error = %v, want a *TemplateError", err)
			}
			if fault.Line != tt.line || !strings.Contains(fault.Error(), tt.want) || !strings.HasPrefix(fault.Error(), "t.yaml:") {
				t.Errorf("error = %v (line %d), want line %d and %q", fault, fault.Line, tt.line, tt.want)
			}
		})
	}
}

// integration is a template whose API maps X-Limit on success and declares headers.
func integration(mapping, headers string) string {
	return `Resources:
  Api:
    Type: AWS::Serverless::Api
    Properties:
      DefinitionBody:
        paths:
          /{proxy+}:
            get:
              responses: {"200": {headers: ` + headers + `}}
              x-amazon-apigateway-integration:
                responses: {"2\\d{2}": {statusCode: "200", responseParameters: {
                  method.response.header.X-Limit: ` + mapping + `}}, default: {statusCode: "500"}}`
}

func TestSuccessHeaders(t *testing.T) {
	tpl := parse(t, integration("context.authorizer.retryAfter", "{x-limit: {}}"))
	w := httptest.NewRecorder()
	if unset := mapHeaders(w.Header(), tpl.successHeaders("/v1/only-in-plans"), testVariables(t)); len(unset) > 0 {
		t.Errorf("unset: %v", unset)
	}
	if got := w.Header()["X-Limit"]; !slices.Equal(got, []string{"3"}) {
		t.Errorf("X-Limit is %q, want 3", got)
	}
}

// FuzzParseTemplate checks that no template panics, and that a good one answers
// every kind of error with a status and a body.
func FuzzParseTemplate(f *testing.F) {
	f.Add(api("ACCESS_DENIED:\n  StatusCode: 429\n  ResponseParameters:\n    Headers:\n      A: context.requestId\n  ResponseTemplates:\n    application/json: '{}'"))
	f.Add(integration("context.authorizer.limit", "{X-Limit: {}}"))
	f.Add("Resources: &r\n  A: *r\n")
	f.Add("Resources: !Transform {}\n<<: *x")
	if text, err := os.ReadFile("../../template.yaml"); err == nil {
		f.Add(string(text))
	}
	v := testVariables(f)
	f.Fuzz(func(t *testing.T, text string) {
		tpl, err := ParseTemplate("t.yaml", []byte(text))
		if err != nil {
			return
		}
		for _, e := range []*gatewayError{errAccessDenied(allow), errUnauthorized(), errAuthorizer(nil), errNoMethod(), errTooLarge(), errURITooLong()} {
			v.err = e
			if w, _ := tpl.answer(v); w.Code < 200 || w.Code > 599 {
				t.Errorf("%s: status %d", e.typ, w.Code)
			}
		}
	})
}

func TestAWSDefaultsHaveStatus(t *testing.T) {
	for typ, status := range maps.All(awsDefaults) {
		if status == 0 && typ != default4XX && typ != default5XX {
			t.Errorf("%s has no status", typ)
		}
	}
}
