// Package resilience is the stack of an experiment: AWS Fault Injection Service
// pauses the replication of the primary Region's tables and starts it again, and
// stops at once if clients are hurt. It shows on the deployed stack what the
// project's tests show on local parts: a cut refuses nobody falsely, and what was
// admitted twice is repaid.
//
// Nothing starts it by itself.
package resilience

import (
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsfis"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"weir/infra/config"
	"weir/infra/observability"
)

// stops are the alarms at which the experiment ends. Those on replication are not
// among them: they are to be raised by it.
var stops = []string{observability.SoftLimitMode, observability.UnexpectedErrors, observability.AuthorizerThrottle}

// NewStack adds the stack to an app.
func NewStack(scope constructs.Construct, c *config.Config) awscdk.Stack {
	region := c.Primary().Name
	stack := awscdk.NewStack(scope, jsii.String("resilience"), &awscdk.StackProps{
		StackName:   jsii.String(c.Name + "-resilience"),
		Description: jsii.String("Weir: an experiment that pauses replication."),
		Env:         &awscdk.Environment{Account: jsii.String(c.Account), Region: jsii.String(region)},
	})
	// The strict table is not paused: that would refuse its writes here, which is another experiment.
	tables := jsii.Strings(c.TableARN(region, c.BucketsTable()), c.TableARN(region, c.ConfigTable()))
	logs := awslogs.NewLogGroup(stack, jsii.String("Logs"), &awslogs.LogGroupProps{
		LogGroupName:  jsii.String("/aws/vendedlogs/fis/" + c.Name),
		Retention:     awslogs.RetentionDays_ONE_MONTH,
		RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
	})
	var conditions []any
	for _, id := range stops {
		conditions = append(conditions, &awsfis.CfnExperimentTemplate_ExperimentTemplateStopConditionProperty{
			Source: jsii.String("aws:cloudwatch:alarm"),
			Value:  jsii.String(c.ARN(region, "cloudwatch", "alarm:"+observability.AlarmName(c, id))),
		})
	}
	awsfis.NewCfnExperimentTemplate(stack, jsii.String("PauseReplication"), &awsfis.CfnExperimentTemplateProps{
		Description: jsii.String(fmt.Sprintf("Pause replication between %s and the other Regions for %v.", region, c.Resilience.Pause)),
		RoleArn:     role(stack, c, tables).RoleArn(),
		Targets: map[string]any{"Tables": &awsfis.CfnExperimentTemplate_ExperimentTemplateTargetProperty{
			ResourceType:  jsii.String("aws:dynamodb:global-table"),
			ResourceArns:  tables,
			SelectionMode: jsii.String("ALL"),
		}},
		Actions: map[string]any{"Pause": &awsfis.CfnExperimentTemplate_ExperimentTemplateActionProperty{
			ActionId:   jsii.String("aws:dynamodb:global-table-pause-replication"),
			Parameters: &map[string]*string{"duration": jsii.String(iso8601(c.Resilience.Pause))},
			Targets:    &map[string]*string{"Tables": jsii.String("Tables")},
		}},
		StopConditions: &conditions,
		LogConfiguration: &awsfis.CfnExperimentTemplate_ExperimentTemplateLogConfigurationProperty{
			LogSchemaVersion:            jsii.Number(2),
			CloudWatchLogsConfiguration: map[string]any{"LogGroupArn": *logs.LogGroupArn()},
		},
		Tags: &map[string]*string{"Name": jsii.String(c.Name + "-pause-replication")},
	})
	return stack
}

// role returns what FIS acts as. It pauses a table by a resource policy that denies
// replication, and takes that away again.
func role(stack awscdk.Stack, c *config.Config, tables *[]*string) awsiam.Role {
	r := awsiam.NewRole(stack, jsii.String("Role"), &awsiam.RoleProps{
		Description: jsii.String("Pauses replication of Weir's tables."),
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("fis.amazonaws.com"), &awsiam.ServicePrincipalOpts{
			Conditions: &map[string]any{"StringEquals": map[string]string{"aws:SourceAccount": c.Account}},
		}),
	})
	allow := func(sid string, resources *[]*string, actions ...string) {
		r.AddToPolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Sid: jsii.String(sid), Actions: jsii.Strings(actions...), Resources: resources,
		}))
	}
	allow("PauseReplication", tables, "dynamodb:DescribeTable", "dynamodb:GetResourcePolicy", "dynamodb:PutResourcePolicy", "dynamodb:DeleteResourcePolicy")
	// Neither knows resources.
	allow("FindTargets", jsii.Strings("*"), "tag:GetResources")
	allow("DeliverLogs", jsii.Strings("*"), "logs:CreateLogDelivery", "logs:PutResourcePolicy", "logs:DescribeResourcePolicies", "logs:DescribeLogGroups")
	return r
}

// iso8601 writes whole minutes as FIS wants them.
func iso8601(d time.Duration) string { return fmt.Sprintf("PT%dM", int(d.Minutes())) }
