// Package orders is somebody's API, which knew nothing of Weir: an HTTP backend
// behind a REST API, with a route for monitoring. The lines that end in "// +" are
// all that limiting it took; a deployment of Weir must be in its account and Region.
package orders

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"weir/infra/attach" // +
)

// NewStack adds the stack to an app.
func NewStack(scope constructs.Construct, props *awscdk.StackProps) awscdk.Stack {
	stack := awscdk.NewStack(scope, jsii.String("orders"), props)
	api := awsapigateway.NewRestApi(stack, jsii.String("Orders"), &awsapigateway.RestApiProps{
		RestApiName:   jsii.String("orders"),
		EndpointTypes: &[]awsapigateway.EndpointType{awsapigateway.EndpointType_REGIONAL},
	})
	attach.NewRateLimited(stack, jsii.String("Limits"), &attach.RateLimitedProps{ // +
		Api:        api,                 // +
		Deployment: jsii.String("weir"), // +
		Open:       []string{"/health"}, // +
	}) // +

	backend := func(path string) awsapigateway.Integration {
		return awsapigateway.NewHttpIntegration(jsii.String("https://orders.internal.example.com"+path), &awsapigateway.HttpIntegrationProps{Proxy: jsii.Bool(true)})
	}
	orders := api.Root().AddResource(jsii.String("orders"), nil)
	orders.AddMethod(jsii.String("GET"), backend("/orders"), nil)
	orders.AddMethod(jsii.String("POST"), backend("/orders"), nil)
	order := orders.AddResource(jsii.String("{id}"), nil)
	order.AddMethod(jsii.String("GET"), backend("/orders/1"), nil)
	api.Root().AddResource(jsii.String("health"), nil).AddMethod(jsii.String("GET"), awsapigateway.NewMockIntegration(nil), nil)
	awscdk.NewCfnOutput(stack, jsii.String("ApiUrl"), &awscdk.CfnOutputProps{Value: api.Url()})
	return stack
}
