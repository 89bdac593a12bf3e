package regional

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2integrations"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"weir/infra/attach"
)

// httpAPI adds an HTTP API, with every path behind the authorizer. It has no
// gateway responses: over a limit is 403, or the backend's 429 (api.overLimit).
func (s region) httpAPI(authorizer awslambda.IFunction) {
	api := awsapigatewayv2.NewHttpApi(s.Stack, jsii.String("Api"), &awsapigatewayv2.HttpApiProps{
		ApiName:            jsii.String(s.Config.Name),
		Description:        jsii.String("The API that Weir limits."),
		CreateDefaultStage: jsii.Bool(false),
		CorsPreflight: &awsapigatewayv2.CorsPreflightOptions{
			AllowOrigins:  jsii.Strings(s.API.CORSOrigin),
			AllowMethods:  &[]awsapigatewayv2.CorsHttpMethod{awsapigatewayv2.CorsHttpMethod_ANY},
			AllowHeaders:  jsii.Strings("Authorization", "Content-Type", s.API.KeyHeader),
			ExposeHeaders: jsii.Strings("RateLimit", "RateLimit-Policy", "Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"),
		},
		DefaultAuthorizer: attach.NewRateLimitedHttp(s.Stack, jsii.String("Limits"), &attach.RateLimitedHttpProps{
			Authorizer: authorizer,
			OverLimit:  jsii.String(string(s.API.OverLimit)),
		}),
	})
	stage := awsapigatewayv2.NewHttpStage(s.Stack, jsii.String("Stage"), &awsapigatewayv2.HttpStageProps{
		HttpApi:    api,
		StageName:  jsii.String(s.API.Stage),
		AutoDeploy: jsii.Bool(true),
	})
	stage.Node().DefaultChild().(awsapigatewayv2.CfnStage).SetAccessLogSettings(&awsapigatewayv2.CfnStage_AccessLogSettingsProperty{
		DestinationArn: s.accessLogs().LogGroupArn(),
		Format:         jsii.String(httpAccessLog),
	})
	mapping := awsapigatewayv2.NewParameterMapping()
	for name, value := range passedHeaders {
		mapping.OverwriteHeader(jsii.String(name), awsapigatewayv2.MappingValue_Custom(jsii.String("$"+value)))
	}
	mapping.OverwriteHeader(jsii.String("X-Weir-Limited"), awsapigatewayv2.MappingValue_Custom(jsii.String("$context.authorizer.limited")))
	mapping.OverwriteHeader(jsii.String("X-Weir-Retry-After"), awsapigatewayv2.MappingValue_Custom(jsii.String("$context.authorizer.retryAfter")))
	api.AddRoutes(&awsapigatewayv2.AddRoutesOptions{
		Path:    jsii.String("/{proxy+}"),
		Methods: &[]awsapigatewayv2.HttpMethod{awsapigatewayv2.HttpMethod_ANY},
		Integration: awsapigatewayv2integrations.NewHttpUrlIntegration(jsii.String("Backend"), jsii.String(strings.TrimSuffix(s.API.Backend, "/")+"/{proxy}"),
			&awsapigatewayv2integrations.HttpUrlIntegrationProps{ParameterMapping: mapping}),
	})
	awscdk.NewCfnOutput(s.Stack, jsii.String("ApiUrl"), &awscdk.CfnOutputProps{
		Description: jsii.String("Base URL of the API."),
		Value:       jsii.String(*api.ApiEndpoint() + "/" + s.API.Stage + "/"),
	})
}

const httpAccessLog = `{"requestId":"$context.requestId","time":$context.requestTimeEpoch,"method":"$context.httpMethod","route":"$context.routeKey",` +
	`"status":"$context.status","tenant":"$context.authorizer.tenant","plan":"$context.authorizer.plan","code":"$context.authorizer.code",` +
	`"reason":"$context.authorizer.reason","remaining":"$context.authorizer.remaining","retryAfter":"$context.authorizer.retryAfter",` +
	`"latency":"$context.responseLatency","integrationLatency":"$context.integrationLatency"}`
