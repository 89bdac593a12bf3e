// Attach synthesises the example of a peer's API that Weir limits: see package orders.
package main

import (
	"os"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"weir/infra/examples/attach/orders"
)

func main() {
	defer jsii.Close()
	app := awscdk.NewApp(nil)
	orders.NewStack(app, &awscdk.StackProps{Env: &awscdk.Environment{
		Account: jsii.String(os.Getenv("CDK_DEFAULT_ACCOUNT")), Region: jsii.String(os.Getenv("CDK_DEFAULT_REGION")),
	}})
	app.Synth(nil)
}
