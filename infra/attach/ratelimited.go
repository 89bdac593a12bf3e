package attach

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"weir/internal/doctor"
)

// RateLimitedProps say which API is limited, and by which deployment.
type RateLimitedProps struct {
	// Api is put behind Weir, with all its methods, whenever they are added.
	Api awsapigateway.RestApi

	// Deployment names the deployment of Weir in the API's account and Region
	// that decides. Default: "weir".
	Deployment *string

	// Authorizer is the function that decides, if it is not found by the name of
	// its deployment.
	Authorizer awslambda.IFunction

	// Origin is the Access-Control-Allow-Origin of answers that Weir gives.
	// Default: "*".
	Origin *string

	// Open are paths whose methods anybody may call, unlimited: "/health". They
	// keep the authorization they have.
	Open []string
}

// RateLimited is a REST API behind Weir.
type RateLimited interface {
	constructs.Construct
	Authorizer() awsapigateway.CfnAuthorizer
}

type rateLimited struct {
	constructs.Construct
	authorizer awsapigateway.CfnAuthorizer
}

func (r *rateLimited) Authorizer() awsapigateway.CfnAuthorizer { return r.authorizer }

// NewRateLimited puts an API behind Weir. What makes it impossible is a panic at
// once, as with any construct; what is changed behind its back stops the synthesis.
func NewRateLimited(scope constructs.Construct, id *string, props *RateLimitedProps) RateLimited {
	c := constructs.NewConstruct(scope, id)
	api := props.Api
	if api == nil {
		panic(fmt.Errorf("%s: Api is missing: name the RestApi to put behind Weir", *c.Node().Path()))
	}
	fn := props.Authorizer
	if fn == nil {
		fn = authorizerOf(c, props.Deployment)
	}
	stack := awscdk.Stack_Of(c)
	a := awsapigateway.NewCfnAuthorizer(c, jsii.String("Authorizer"), &awsapigateway.CfnAuthorizerProps{
		RestApiId: api.RestApiId(),
		Name:      jsii.String("weir"),
		Type:      jsii.String("REQUEST"),
		AuthorizerUri: jsii.String(fmt.Sprintf("arn:%s:apigateway:%s:lambda:path/2015-03-31/functions/%s/invocations",
			*stack.Partition(), *stack.Region(), *fn.FunctionArn())),
		// A cached answer counts nothing. And no identity sources, so that the authorizer is called for requests
		// without a credential too and can limit them by address.
		AuthorizerResultTtlInSeconds: jsii.Number(0),
	})
	a.AddMetadata(jsii.String(doctor.MetadataKey), map[string]any{"part": "authorizer", "open": append([]string{}, props.Open...)})
	fn.AddPermission(jsii.String("Invoke"+*c.Node().Addr()), &awslambda.Permission{
		Scope:     c,
		Principal: awsiam.NewServicePrincipal(jsii.String("apigateway.amazonaws.com"), nil),
		SourceArn: stack.FormatArn(&awscdk.ArnComponents{
			Service:      jsii.String("execute-api"),
			Resource:     api.RestApiId(),
			ResourceName: jsii.String("authorizers/" + *a.Ref()),
		}),
	})
	origin := "*"
	if props.Origin != nil {
		origin = *props.Origin
	}
	for _, r := range responses(origin) {
		r.addTo(api)
	}
	// Otherwise an API that is deployed already would go on without.
	if d := api.LatestDeployment(); d != nil {
		d.AddToLogicalId(map[string]any{"weir": *fn.FunctionArn(), "open": strings.Join(props.Open, " ")})
		d.Node().AddDependency(a)
	}
	awscdk.Aspects_Of(api).Add(&cover{authorizer: a, open: props.Open}, &awscdk.AspectOptions{
		Priority: awscdk.AspectPriority_MUTATING(),
	})
	checkAtSynthesis(c)
	return &rateLimited{c, a}
}

// authorizerOf returns the authorizer of a deployment in the scope's own account
// and Region. It goes by the alias, which carries provisioned environments.
func authorizerOf(scope constructs.Construct, deployment *string) awslambda.IFunction {
	name := "weir"
	if deployment != nil {
		name = *deployment
	}
	return awslambda.Function_FromFunctionAttributes(scope, jsii.String("Function"), &awslambda.FunctionAttributes{
		FunctionArn: awscdk.Stack_Of(scope).FormatArn(&awscdk.ArnComponents{
			Service:      jsii.String("lambda"),
			Resource:     jsii.String("function"),
			ResourceName: jsii.String(name + "-authorizer:live"),
			ArnFormat:    awscdk.ArnFormat_COLON_RESOURCE_NAME,
		}),
		SameEnvironment: jsii.Bool(true),
	})
}

// cover puts the methods of an API behind the authorizer. It runs when the app is
// synthesised, so it sees methods that were added later.
type cover struct {
	authorizer awsapigateway.CfnAuthorizer
	open       []string
}

// Visit implements awscdk.IAspect.
func (v *cover) Visit(node constructs.IConstruct) {
	m, ok := node.(awsapigateway.CfnMethod)
	if !ok || *m.HttpMethod() == "OPTIONS" { // browsers send no credential with a preflight
		return
	}
	if l2, ok := m.Node().Scope().(awsapigateway.Method); ok && slices.Contains(v.open, *l2.Resource().Path()) {
		return
	}
	m.SetAuthorizationType(jsii.String("CUSTOM"))
	m.SetAuthorizerId(v.authorizer.Ref())
}
