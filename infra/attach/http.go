package attach

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2authorizers"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// RateLimitedHttpProps say how an HTTP API is limited, and by which deployment.
type RateLimitedHttpProps struct {
	// OverLimit says what the clients of an API get that cannot answer 429:
	// "deny" is 403, "flag" passes the request on with limited=true to a backend
	// that answers 429. It must be what the deployment's functions are told
	// (api.overLimit in weir.yaml). There is no default.
	OverLimit *string

	// Deployment names the deployment of Weir that decides. Default: "weir".
	Deployment *string

	// Authorizer is the function that decides, if it is not found by the name of
	// its deployment.
	Authorizer awslambda.IFunction
}

// NewRateLimitedHttp returns an authorizer for the routes of an HTTP API: as its
// DefaultAuthorizer, or route by route.
func NewRateLimitedHttp(scope constructs.Construct, id *string, props *RateLimitedHttpProps) awsapigatewayv2.IHttpRouteAuthorizer {
	c := constructs.NewConstruct(scope, id)
	if props.OverLimit == nil || *props.OverLimit != "deny" && *props.OverLimit != "flag" {
		panic(fmt.Errorf(`%s: an HTTP API cannot answer 429 itself: set OverLimit to "deny" for 403, or to "flag" if the backend answers 429 when it sees limited=true; or use a REST API`, *c.Node().Path()))
	}
	fn := props.Authorizer
	if fn == nil {
		fn = authorizerOf(c, props.Deployment)
	}
	return awsapigatewayv2authorizers.NewHttpLambdaAuthorizer(jsii.String("Weir"), fn, &awsapigatewayv2authorizers.HttpLambdaAuthorizerProps{
		AuthorizerName:  jsii.String("weir"),
		ResponseTypes:   &[]awsapigatewayv2authorizers.HttpLambdaResponseType{awsapigatewayv2authorizers.HttpLambdaResponseType_SIMPLE},
		ResultsCacheTtl: awscdk.Duration_Seconds(jsii.Number(0)),
		IdentitySource:  &[]*string{},
	})
}
