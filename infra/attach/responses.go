package attach

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/jsii-runtime-go"
)

// response is one gateway response. Header values are mapping expressions without
// `$`; literals wear single quotes of their own.
type response struct {
	id      string
	typ     awsapigateway.ResponseType
	status  string
	headers map[string]string
	body    string
}

// Bodies. Every variable is among the characters that a JSON string may hold as
// they are: docs/answers.md, The context.
const (
	limitedBody = `{"code":"$context.authorizer.code","message":"$context.authorizer.message","retryAfter":$context.authorizer.retryAfter,` +
		`"scope":"$context.authorizer.scope","reason":"$context.authorizer.reason","requestId":"$context.requestId"}`
	unauthorizedBody = `{"code":"unauthorized","message":"The credential is missing or not valid.","requestId":"$context.requestId"}`
	failedBody       = `{"code":"internal_error","message":"The request could not be checked. Please try again.","requestId":"$context.requestId"}`
)

// responses returns what clients of an API get that the authorizer did not let
// through. An entry that is customised inherits nothing from DEFAULT_4XX, hence
// CORS in each. origin is that of Access-Control-Allow-Origin.
func responses(origin string) []response {
	allow := fmt.Sprintf("'%s'", origin)
	failed := map[string]string{"Cache-Control": "'no-store'", "Access-Control-Allow-Origin": allow}
	return []response{
		{
			id: "AccessDenied", typ: awsapigateway.ResponseType_ACCESS_DENIED(), status: "429", body: limitedBody,
			headers: map[string]string{
				"Retry-After":                   "context.authorizer.retryAfter",
				"RateLimit":                     "context.authorizer.rateLimit",
				"RateLimit-Policy":              "context.authorizer.rateLimitPolicy",
				"X-RateLimit-Limit":             "context.authorizer.limit",
				"X-RateLimit-Remaining":         "context.authorizer.remaining",
				"X-RateLimit-Reset":             "context.authorizer.reset",
				"X-RateLimit-Scope":             "context.authorizer.scope",
				"X-RateLimit-Reason":            "context.authorizer.reason",
				"Cache-Control":                 "'no-store'",
				"Access-Control-Allow-Origin":   allow,
				"Access-Control-Expose-Headers": "'Retry-After,RateLimit,RateLimit-Policy,X-RateLimit-Limit,X-RateLimit-Remaining,X-RateLimit-Reset,X-RateLimit-Scope,X-RateLimit-Reason'",
			},
		},
		{
			id: "Unauthorized", typ: awsapigateway.ResponseType_UNAUTHORIZED(), status: "401", body: unauthorizedBody,
			headers: map[string]string{
				"WWW-Authenticate":              `'ApiKey realm="api"'`,
				"Cache-Control":                 "'no-store'",
				"Access-Control-Allow-Origin":   allow,
				"Access-Control-Expose-Headers": "'WWW-Authenticate'",
			},
		},
		// The authorizer crashed, timed out, was throttled or may not be invoked. AWS does not document which of the
		// two types each is, so both say the same, and nothing of the inside.
		{id: "AuthorizerFailure", typ: awsapigateway.ResponseType_AUTHORIZER_FAILURE(), status: "500", body: failedBody, headers: failed},
		{id: "AuthorizerConfigurationError", typ: awsapigateway.ResponseType_AUTHORIZER_CONFIGURATION_ERROR(), status: "500", body: failedBody, headers: failed},
	}
}

// addTo adds the response to an API. It also takes part in the name of the API's
// deployment, as a response is in force only once deployed.
func (r response) addTo(api awsapigateway.RestApi) {
	headers := map[string]*string{}
	for name, value := range r.headers {
		headers[name] = jsii.String(value)
	}
	api.AddGatewayResponse(jsii.String("Weir"+r.id), &awsapigateway.GatewayResponseOptions{
		Type:            r.typ,
		StatusCode:      jsii.String(r.status),
		ResponseHeaders: &headers,
		Templates:       &map[string]*string{"application/json": jsii.String(r.body)},
	})
}
