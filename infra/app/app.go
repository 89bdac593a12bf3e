// Package app puts the stacks of one deployment together.
//
//	data             the tables; once, in the primary Region
//	<Region>         functions and API; in every Region
//	<Region>-observability
//	                 alarms and dashboard; in every Region
//	global           DNS, and the dashboard of all; once
//	resilience       an experiment; optional, in the primary Region
package app

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"weir/infra/config"
	"weir/infra/data"
	"weir/infra/global"
	"weir/infra/observability"
	"weir/infra/regional"
	"weir/infra/resilience"
)

// Options of an app that are not part of the deployment.
type Options struct {
	Outdir   string // for the templates and assets; "" for what the CDK CLI says
	Binaries string // folder with <function>/bootstrap for arm64
	Nag      bool   // check the stacks by cdk-nag's AwsSolutions
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
	var regions []awscdk.Stack
	for _, r := range c.Regions {
		stack := regional.NewStack(app, c, r, o.Binaries)
		stack.AddStackDependency(tables, jsii.String("it looks for its replica's stream"))
		regions = append(regions, stack)
		if c.Observability.Alarms || c.Observability.Dashboards {
			observability.NewStack(app, c, r)
		}
	}
	if global.Needed(c) {
		stack := global.NewStack(app, c)
		for _, r := range regions {
			stack.AddStackDependency(r, jsii.String("it points DNS at its domain"))
		}
	}
	if c.Resilience.Experiment {
		resilience.NewStack(app, c)
	}
	if o.Nag {
		nag(app)
	}
	return app
}
