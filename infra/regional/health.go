package regional

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"
)

// What a health check calls. It can send no header, so the key of its tenant comes
// from a stage variable, which CloudFormation fills from the Parameter Store.
const (
	healthPath        = "/weir/health"
	healthKeyVariable = "weirHealthKey"
)

// healthEvent asks the authorizer about a request with that key, so the answer
// took the way of every request: the function, the caller's plan from the config
// table, a charge in the buckets table.
const healthEvent = `{"type":"REQUEST","methodArn":"arn:aws:execute-api:%[1]s:%[2]s:$context.apiId/$context.stage/GET/weir/health",` +
	`"resource":"/weir/health","path":"/weir/health","httpMethod":"GET","headers":{"%[3]s":"$stageVariables.` + healthKeyVariable + `"},` +
	`"multiValueHeaders":{"%[3]s":["$stageVariables.` + healthKeyVariable + `"]},"queryStringParameters":{},"pathParameters":{},"stageVariables":{},` +
	`"requestContext":{"resourcePath":"/weir/health","httpMethod":"GET","path":"/weir/health","stage":"$context.stage","apiId":"$context.apiId",` +
	`"requestId":"$context.requestId","identity":{"sourceIp":"$context.identity.sourceIp"}}}`

// healthAnswer makes 200 of a decision that the store had a part in: allowed or
// refused, with a number of tokens left. "unchecked" and "unavailable" are 503.
const healthAnswer = `#set($c = $input.path('$.context'))
#if($c.remaining && $c.remaining != "-1" && ($c.code == "ok" || $c.code == "rate_limited"))
{"healthy":true,"code":"$c.code"}
#else
#set($context.responseOverride.status = 503)
{"healthy":false,"code":"$!c.code"}
#end`

// health adds the route that health checks call.
func (s region) health(api awsapigateway.RestApi, authorizer awslambda.IFunction) {
	at := api.Root().ResourceForPath(jsii.String(healthPath))
	event := fmt.Sprintf(healthEvent, s.Region.Name, s.Config.Account, s.API.KeyHeader)
	at.AddMethod(jsii.String("GET"), awsapigateway.NewLambdaIntegration(authorizer, &awsapigateway.LambdaIntegrationOptions{
		Proxy:               jsii.Bool(false),
		PassthroughBehavior: awsapigateway.PassthroughBehavior_NEVER,
		RequestTemplates:    &map[string]*string{"application/json": jsii.String(event)},
		AllowTestInvoke:     jsii.Bool(false),
		IntegrationResponses: &[]*awsapigateway.IntegrationResponse{
			{StatusCode: jsii.String("200"), ResponseTemplates: &map[string]*string{"application/json": jsii.String(healthAnswer)}},
			// An error of the function: "Unauthorized", if the key is not known.
			{StatusCode: jsii.String("503"), SelectionPattern: jsii.String(`(\n|.)+`), ResponseTemplates: &map[string]*string{
				"application/json": jsii.String(`{"healthy":false,"code":"error"}`),
			}},
		},
	}), &awsapigateway.MethodOptions{
		AuthorizationType: awsapigateway.AuthorizationType_NONE,
		MethodResponses: &[]*awsapigateway.MethodResponse{
			{StatusCode: jsii.String("200")}, {StatusCode: jsii.String("503")},
		},
	})
}
