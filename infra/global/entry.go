package global

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/aws-cdk-go/awscdk/v2/customresources"
	"github.com/aws/jsii-runtime-go"

	"weir/infra/config"
)

// How soon a Region that fails is left out: after three checks, ten seconds apart,
// and the minute for which resolvers may keep an answer.
const (
	checkEvery    = 10 // seconds; 10 or 30
	checkFailures = 3
)

// entry adds the way into one Region: its health check and its latency records.
func entry(stack awscdk.Stack, c *config.Config, r config.Region, topic *string) {
	domain := "arn:" + c.Partition + ":apigateway:" + r.Name + "::/domainnames/" + c.Domain.Name
	names := look(stack, r, "Name", "getDomainName", domain, c, "regionalDomainName", "regionalHostedZoneId")
	apis := look(stack, r, "Mapping", "getBasePathMappings", domain+"/basepathmappings", c, "items.0.restApiId")
	api := *apis.GetResponseField(jsii.String("items.0.restApiId"))

	check := awsroute53.NewCfnHealthCheck(stack, id(r.Name, "Check"), &awsroute53.CfnHealthCheckProps{
		HealthCheckConfig: &awsroute53.CfnHealthCheck_HealthCheckConfigProperty{
			Type:                     jsii.String("HTTPS"),
			FullyQualifiedDomainName: jsii.String(api + ".execute-api." + r.Name + "." + *stack.UrlSuffix()),
			ResourcePath:             jsii.String("/" + c.API.Stage + "/weir/health"),
			Port:                     jsii.Number(443),
			EnableSni:                jsii.Bool(true),
			RequestInterval:          jsii.Number(checkEvery),
			FailureThreshold:         jsii.Number(checkFailures),
			MeasureLatency:           jsii.Bool(true),
		},
		HealthCheckTags: named(c.Name + " " + r.Name + " answers"),
	})
	// One healthy child makes this one healthy; more than it has never do, which drains the Region whatever it answers.
	threshold := 1
	if r.Drained {
		threshold = 2
	}
	health := awsroute53.NewCfnHealthCheck(stack, id(r.Name, "Serves"), &awsroute53.CfnHealthCheckProps{
		HealthCheckConfig: &awsroute53.CfnHealthCheck_HealthCheckConfigProperty{
			Type:              jsii.String("CALCULATED"),
			ChildHealthChecks: &[]*string{check.AttrHealthCheckId()},
			HealthThreshold:   jsii.Number(threshold),
		},
		HealthCheckTags: named(c.Name + " " + r.Name + " serves"),
	})
	for _, typ := range []string{"A", "AAAA"} {
		awsroute53.NewCfnRecordSet(stack, id(r.Name, typ), &awsroute53.CfnRecordSetProps{
			HostedZoneId:  jsii.String(c.Domain.ZoneID),
			Name:          jsii.String(c.Domain.Name + "."),
			Type:          jsii.String(typ),
			Region:        jsii.String(r.Name), // by latency
			SetIdentifier: jsii.String(r.Name),
			HealthCheckId: health.AttrHealthCheckId(),
			AliasTarget: &awsroute53.CfnRecordSet_AliasTargetProperty{
				DnsName:              names.GetResponseField(jsii.String("regionalDomainName")),
				HostedZoneId:         names.GetResponseField(jsii.String("regionalHostedZoneId")),
				EvaluateTargetHealth: jsii.Bool(false), // the health check does
			},
		})
	}
	if *topic != "" {
		awscloudwatch.NewCfnAlarm(stack, id(r.Name, "Unhealthy"), &awscloudwatch.CfnAlarmProps{
			AlarmName:          jsii.String(c.Name + "-region-unhealthy-" + r.Name),
			AlarmDescription:   jsii.String("DNS sends nobody to " + r.Name + " any more. What to do: docs/operations.md, region-unhealthy."),
			Namespace:          jsii.String("AWS/Route53"),
			MetricName:         jsii.String("HealthCheckStatus"),
			Dimensions:         &[]any{&awscloudwatch.CfnAlarm_DimensionProperty{Name: jsii.String("HealthCheckId"), Value: health.AttrHealthCheckId()}},
			Statistic:          jsii.String("Minimum"),
			Period:             jsii.Number(60),
			Threshold:          jsii.Number(1),
			ComparisonOperator: jsii.String("LessThanThreshold"),
			EvaluationPeriods:  jsii.Number(1),
			TreatMissingData:   jsii.String("breaching"),
			ActionsEnabled:     jsii.Bool(!r.Drained),
			AlarmActions:       &[]any{topic},
			OkActions:          &[]any{topic},
		})
	}
}

// look asks API Gateway of a Region for what only it knows: the target of the
// domain, the id of the API. It is asked when the entry is made or its question
// changes, and not while the Region is away.
func look(stack awscdk.Stack, r config.Region, what, action, arn string, c *config.Config, paths ...string) customresources.AwsCustomResource {
	call := &customresources.AwsSdkCall{
		Service:            jsii.String("APIGateway"),
		Action:             jsii.String(action),
		Region:             jsii.String(r.Name),
		Parameters:         map[string]any{"domainName": c.Domain.Name},
		OutputPaths:        jsii.Strings(paths...),
		PhysicalResourceId: customresources.PhysicalResourceId_Of(jsii.String(c.Domain.Name + "-" + r.Name + "-" + what)),
	}
	return customresources.NewAwsCustomResource(stack, id(r.Name, what), &customresources.AwsCustomResourceProps{
		OnCreate:            call,
		OnUpdate:            call,
		InstallLatestAwsSdk: jsii.Bool(false),
		Timeout:             awscdk.Duration_Minutes(jsii.Number(1)),
		LogGroup:            logs(stack),
		Policy: customresources.AwsCustomResourcePolicy_FromStatements(&[]awsiam.PolicyStatement{
			awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
				Actions: jsii.Strings("apigateway:GET"), Resources: jsii.Strings(arn),
			}),
		}),
	})
}

// logs returns the log group of the function that looks; there is one for all.
func logs(stack awscdk.Stack) awslogs.ILogGroup {
	if found := stack.Node().TryFindChild(jsii.String("LookLogs")); found != nil {
		return found.(awslogs.LogGroup)
	}
	return awslogs.NewLogGroup(stack, jsii.String("LookLogs"), &awslogs.LogGroupProps{
		Retention: awslogs.RetentionDays_TWO_WEEKS, RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
	})
}

func named(name string) *[]*awsroute53.CfnHealthCheck_HealthCheckTagProperty {
	return &[]*awsroute53.CfnHealthCheck_HealthCheckTagProperty{{Key: jsii.String("Name"), Value: jsii.String(name)}}
}
