// Package app puts the stacks of one deployment together.
//
//	data             the tables; once, in the primary Region
//	<Region>         functions and API; in every Region
package app

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"weir/infra/config"
	"weir/infra/data"
	"weir/infra/regional"
)

// Options of an app that are not part of the deployment.
type Options struct {
	Outdir   string // for the templates and assets; "" for what the CDK CLI says
	Binaries string // folder with <function>/bootstrap for arm64
}

// New returns the app of a deployment.
func New(c *config.Config, o Options) awscdk.App {
	props := &awscdk.AppProps{
		AnalyticsReporting: jsii.Bool(false),
		TreeMetadata:       jsii.Bool(false),
	}
	if o.Outdir != "" {
		props.Outdir = jsii.String(o.Outdir)
	}
	app := awscdk.NewApp(props)
	awscdk.Tags_Of(app).Add(jsii.String("weir"), jsii.String(c.Name), nil)
	tables := data.NewStack(app, c)
	for _, r := range c.Regions {
		regional.NewStack(app, c, r, o.Binaries).AddStackDependency(tables, jsii.String("it looks for its replica's stream"))
	}
	return app
}
