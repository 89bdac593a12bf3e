// Package observability is the stack, in every Region, of what tells people how
// Weir is: alarms, whom they reach, and a dashboard. It refers to everything by
// name, so that a change of it never touches what serves requests.
package observability

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssnssubscriptions"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"weir/infra/config"
)

// NewStack adds the stack of a Region to an app.
func NewStack(scope constructs.Construct, c *config.Config, r config.Region) awscdk.Stack {
	stack := awscdk.NewStack(scope, jsii.String(r.Name+"-observability"), &awscdk.StackProps{
		StackName:   jsii.String(c.Name + "-observability-" + r.Name),
		Description: jsii.String("Weir: alarms and dashboard of one Region."),
		Env:         &awscdk.Environment{Account: jsii.String(c.Account), Region: jsii.String(r.Name)},
	})
	if c.Observability.Alarms {
		topic := NewTopic(stack, c)
		for _, a := range alarms(c, r) {
			a.add(stack, c, topic.TopicArn())
		}
	}
	if c.Observability.Dashboards {
		NewDashboard(stack, c.Name+"-"+r.Name, regionDashboard(c, r))
	}
	return stack
}

// NewTopic adds the topic of a stack's alarms, with those who hear of them.
func NewTopic(stack awscdk.Stack, c *config.Config) awssns.Topic {
	topic := awssns.NewTopic(stack, jsii.String("Alarms"), &awssns.TopicProps{
		TopicName:  jsii.String(c.Name + "-alarms" + suffix(stack, c)),
		EnforceSSL: jsii.Bool(true),
	})
	topic.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid:        jsii.String("CloudWatchRaisesAlarms"),
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("cloudwatch.amazonaws.com"), nil)},
		Actions:    jsii.Strings("sns:Publish"),
		Resources:  &[]*string{topic.TopicArn()},
		Conditions: &map[string]any{"StringEquals": map[string]string{"aws:SourceAccount": c.Account}},
	}))
	for _, address := range c.Observability.Emails {
		topic.AddSubscription(awssnssubscriptions.NewEmailSubscription(jsii.String(address), nil))
	}
	return topic
}

// suffix tells the global stack's topic from that of the Region it is in.
func suffix(stack awscdk.Stack, c *config.Config) string {
	if *stack.StackName() == c.Name+"-global" {
		return "-global"
	}
	return ""
}

// NewDashboard adds a dashboard. Names are global: one Region's must not be another's.
func NewDashboard(stack awscdk.Stack, name string, d Dashboard) {
	awscloudwatch.NewCfnDashboard(stack, jsii.String("Dashboard"), &awscloudwatch.CfnDashboardProps{
		DashboardName: jsii.String(name),
		DashboardBody: jsii.String(d.body()),
	})
}
