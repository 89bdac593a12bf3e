// Package global is the stack of what there is once for all Regions: the name that
// clients use, and the dashboard of the whole.
//
// The name has a latency record for each Region. Route 53 leaves out those whose
// health check fails; the check asks for a decision, so it fails with the Region's
// API, its authorizer, its config table or its buckets. No deployment and no
// control plane has a part in that. The stack is apart from the Regions', so that
// one can be drained while its own control plane is down.
package global

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"weir/infra/config"
	"weir/infra/observability"
)

// Needed reports whether a deployment has anything global.
func Needed(c *config.Config) bool {
	return c.Domain != nil || c.Observability.Dashboards && len(c.Regions) > 1
}

// Home returns the Region of the stack: where Route 53 has its metrics, if there is
// a domain, and with it alarms on them.
func Home(c *config.Config) string {
	if c.Domain != nil {
		return "us-east-1"
	}
	return c.Primary().Name
}

// NewStack adds the stack to an app.
func NewStack(scope constructs.Construct, c *config.Config) awscdk.Stack {
	stack := awscdk.NewStack(scope, jsii.String("global"), &awscdk.StackProps{
		StackName:   jsii.String(c.Name + "-global"),
		Description: jsii.String("Weir: DNS of all Regions, and their dashboard."),
		Env:         &awscdk.Environment{Account: jsii.String(c.Account), Region: jsii.String(Home(c))},
	})
	if c.Domain != nil {
		topic := jsii.String("")
		if c.Observability.Alarms {
			topic = observability.NewTopic(stack, c).TopicArn()
		}
		for _, r := range c.Regions {
			entry(stack, c, r, topic)
		}
	}
	if c.Observability.Dashboards {
		observability.NewDashboard(stack, c.Name, observability.GlobalDashboard(c))
	}
	return stack
}

// id returns the logical id of a part of a Region: "EuWest1" + part.
func id(region, part string) *string {
	var b strings.Builder
	for word := range strings.SplitSeq(region, "-") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return jsii.String(b.String() + part)
}
