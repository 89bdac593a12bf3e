package regional

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"weir/infra/attach"
)

// successHeaders are those of a decision that let a request pass.
var successHeaders = map[string]string{
	"RateLimit":                     "context.authorizer.rateLimit",
	"RateLimit-Policy":              "context.authorizer.rateLimitPolicy",
	"X-RateLimit-Limit":             "context.authorizer.limit",
	"X-RateLimit-Remaining":         "context.authorizer.remaining",
	"X-RateLimit-Reset":             "context.authorizer.reset",
	"Access-Control-Expose-Headers": "'RateLimit,RateLimit-Policy,X-RateLimit-Limit,X-RateLimit-Remaining,X-RateLimit-Reset'",
}

// echoBody is what the API answers without a backend: the decision.
const echoBody = `{"tenant":"$context.authorizer.tenant","plan":"$context.authorizer.plan","limited":$context.authorizer.limited,` +
	`"method":"$context.httpMethod","resource":"$context.resourcePath","requestId":"$context.requestId"}`

// restAPI adds the REST API, with every path behind the authorizer.
func (s region) restAPI(authorizer awslambda.IFunction) {
	access := s.accessLogs()
	stage := &awsapigateway.StageOptions{
		StageName:            jsii.String(s.API.Stage),
		TracingEnabled:       jsii.Bool(true),
		MetricsEnabled:       jsii.Bool(true),
		AccessLogDestination: awsapigateway.NewLogGroupLogDestination(access),
		AccessLogFormat:      awsapigateway.AccessLogFormat_Custom(jsii.String(accessLog)),
	}
	if s.Domain != nil {
		stage.Variables = &map[string]*string{healthKeyVariable: jsii.String("{{resolve:ssm:" + s.Domain.HealthKey + "}}")}
	}
	api := awsapigateway.NewRestApi(s.Stack, jsii.String("Api"), &awsapigateway.RestApiProps{
		RestApiName:    jsii.String(s.Config.Name),
		Description:    jsii.String("The API that Weir limits."),
		EndpointTypes:  &[]awsapigateway.EndpointType{awsapigateway.EndpointType_REGIONAL},
		CloudWatchRole: jsii.Bool(s.API.LogsRole),
		DeployOptions:  stage,
		DefaultCorsPreflightOptions: &awsapigateway.CorsOptions{
			AllowOrigins: jsii.Strings(s.API.CORSOrigin),
			AllowHeaders: jsii.Strings("Authorization", "Content-Type", s.API.KeyHeader),
		},
	})
	root := api.Root()
	proxy := root.AddResource(jsii.String("{proxy+}"), nil)
	for _, at := range []awsapigateway.IResource{root, proxy} {
		if s.API.Backend == "" {
			s.echo(at)
		} else {
			s.pass(at)
		}
	}
	limits := &attach.RateLimitedProps{Api: api, Authorizer: authorizer, Origin: jsii.String(s.API.CORSOrigin)}
	if s.Domain != nil {
		s.health(api, authorizer)
		limits.Open = []string{healthPath}
		s.domain(api)
	}
	attach.NewRateLimited(s.Stack, jsii.String("Limits"), limits)
	awscdk.NewCfnOutput(s.Stack, jsii.String("ApiUrl"), &awscdk.CfnOutputProps{
		Description: jsii.String("Base URL of the API."),
		Value:       api.Url(),
	})
}

// echo answers any method with the decision.
func (s region) echo(at awsapigateway.IResource) {
	returned, declared := map[string]*string{}, map[string]*bool{}
	for name, value := range successHeaders {
		returned["method.response.header."+name] = jsii.String(value)
		declared["method.response.header."+name] = jsii.Bool(true)
	}
	returned["method.response.header.Access-Control-Allow-Origin"] = jsii.String("'" + s.API.CORSOrigin + "'")
	declared["method.response.header.Access-Control-Allow-Origin"] = jsii.Bool(true)
	integration := awsapigateway.NewMockIntegration(&awsapigateway.IntegrationOptions{
		PassthroughBehavior: awsapigateway.PassthroughBehavior_WHEN_NO_TEMPLATES,
		RequestTemplates:    &map[string]*string{"application/json": jsii.String(`{"statusCode":200}`)},
		IntegrationResponses: &[]*awsapigateway.IntegrationResponse{{
			StatusCode:         jsii.String("200"),
			ResponseParameters: &returned,
			ResponseTemplates:  &map[string]*string{"application/json": jsii.String(echoBody)},
		}},
	})
	at.AddMethod(jsii.String("ANY"), integration, &awsapigateway.MethodOptions{
		MethodResponses: &[]*awsapigateway.MethodResponse{{StatusCode: jsii.String("200"), ResponseParameters: &declared}},
	})
}

// passedHeaders tell the backend what was decided; it returns them to the client
// where it likes, as a proxy integration has no response mapping. Each is always
// set, so no header of the client's can pass for it.
var passedHeaders = map[string]string{
	"X-Weir-Tenant":         "context.authorizer.tenant",
	"X-Weir-Plan":           "context.authorizer.plan",
	"RateLimit":             "context.authorizer.rateLimit",
	"RateLimit-Policy":      "context.authorizer.rateLimitPolicy",
	"X-RateLimit-Limit":     "context.authorizer.limit",
	"X-RateLimit-Remaining": "context.authorizer.remaining",
	"X-RateLimit-Reset":     "context.authorizer.reset",
}

// pass hands any method to the backend.
func (s region) pass(at awsapigateway.IResource) {
	url, to, taken := strings.TrimSuffix(s.API.Backend, "/"), map[string]*string{}, map[string]*bool{}
	for name, value := range passedHeaders {
		to["integration.request.header."+name] = jsii.String(value)
	}
	if *at.Path() != "/" {
		url += "/{proxy}"
		to["integration.request.path.proxy"] = jsii.String("method.request.path.proxy")
		taken["method.request.path.proxy"] = jsii.Bool(true)
	} else {
		url += "/"
	}
	at.AddMethod(jsii.String("ANY"), awsapigateway.NewHttpIntegration(jsii.String(url), &awsapigateway.HttpIntegrationProps{
		Proxy:      jsii.Bool(true),
		HttpMethod: jsii.String("ANY"),
		Options:    &awsapigateway.IntegrationOptions{RequestParameters: &to},
	}), &awsapigateway.MethodOptions{RequestParameters: &taken})
}

// accessLog is one line for each request: who, what was decided, how long it took.
// No header and no query, as both may hold a key.
const accessLog = `{"requestId":"$context.requestId","time":$context.requestTimeEpoch,"method":"$context.httpMethod","resource":"$context.resourcePath",` +
	`"status":"$context.status","tenant":"$context.authorizer.tenant","plan":"$context.authorizer.plan","code":"$context.authorizer.code",` +
	`"reason":"$context.authorizer.reason","remaining":"$context.authorizer.remaining","retryAfter":"$context.authorizer.retryAfter","held":"$context.authorizer.held",` +
	`"authorizerLatency":"$context.authorizer.latency","authorizerStatus":"$context.authorizer.status","latency":"$context.responseLatency",` +
	`"integrationLatency":"$context.integration.latency","error":"$context.error.responseType"}`

func (s region) accessLogs() awslogs.LogGroup {
	return awslogs.NewLogGroup(s.Stack, jsii.String("AccessLogs"), &awslogs.LogGroupProps{
		LogGroupName:  jsii.String("/aws/apigateway/" + s.Config.Name),
		Retention:     retention(s.Logs.Retention),
		RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
	})
}
