package regional

import (
	"maps"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/aws-cdk-go/awscdk/v2/customresources"
	"github.com/aws/jsii-runtime-go"
)

// streamFilter lets through what holds now, and other Regions' heartbeats: not
// history, lists, or what reconcilers keep for themselves.
const streamFilter = `{"dynamodb":{"Keys":{"pk":{"S":[{"prefix":"PLAN#"},{"prefix":"TENANT#"},{"prefix":"CRED#"},{"prefix":"HEARTBEAT#"}]},"sk":{"S":["CURRENT"]}}}}`

// reconciler adds the function that keeps rows in step with the configuration, and
// what calls it: the stream of this Region's config table, and the clock.
func (s region) reconciler() {
	buckets, configuration := s.TableARN(s.Region.Name, s.BucketsTable()), s.TableARN(s.Region.Name, s.ConfigTable())
	f := function{
		id: "Reconciler", name: s.ReconcilerName(), code: "reconciler",
		about:       "Brings rows in step with plans; rolls up usage; watches the other Regions.",
		Function:    s.Reconciler,
		environment: map[string]string{"WEIR_PARALLEL": "16"},
		statements: []awsiam.PolicyStatement{
			allow("RescaleBuckets", []string{"dynamodb:GetItem", "dynamodb:UpdateItem"}, buckets),
			allow("ReadPlansTenantsAndCredentials", []string{"dynamodb:GetItem", "dynamodb:Query"}, configuration),
			onKeys(allow("SaveProgressHeartbeatsAndUsage", []string{"dynamodb:PutItem"}, configuration), "JOB#*", "HEARTBEAT#*", "USAGE#*"),
			onKeys(allow("AdvanceRolloutsAndCloseCredentials", []string{"dynamodb:PutItem", "dynamodb:ConditionCheckItem"}, configuration),
				"PLAN#*", "PLANS", "CRED#*", "TENANT#*", "CHANGES", "META"),
			// An alarm that pauses a rollout is named in the plan, by whoever writes it.
			allow("ReadAlarmsOfRollouts", []string{"cloudwatch:DescribeAlarms"}, s.here("cloudwatch", "alarm:*")),
		},
	}
	maps.Copy(f.environment, s.tables())
	if s.Strict != nil {
		f.statements = append(f.statements, allow("RescaleAndSweepStrictBuckets",
			[]string{"dynamodb:GetItem", "dynamodb:UpdateItem", "dynamodb:Scan", "dynamodb:DeleteItem"}, s.TableARN(s.Region.Name, s.StrictTable())))
	}
	f.asynchronous = true
	fn := s.add(f)
	s.source(fn, s.failures())
	awsevents.NewRule(s.Stack, jsii.String("Schedule"), &awsevents.RuleProps{
		RuleName:    jsii.String(s.ReconcilerName()),
		Description: jsii.String("Heartbeat, drift, usage, credentials that expire."),
		Schedule:    awsevents.Schedule_Rate(awscdk.Duration_Minutes(jsii.Number(1))),
		Targets: &[]awsevents.IRuleTarget{awseventstargets.NewLambdaFunction(fn, &awseventstargets.LambdaFunctionProps{
			Event:         awsevents.RuleTargetInput_FromObject(map[string]string{"source": "weir.schedule"}),
			RetryAttempts: jsii.Number(0), // the next minute comes anyway
			MaxEventAge:   awscdk.Duration_Minutes(jsii.Number(1)),
		})},
	})
}

// failures is where what the reconciler gave up on ends: pointers to stream
// records, for somebody to look at within the stream's 24 hours.
func (s region) failures() awssqs.Queue {
	return awssqs.NewQueue(s.Stack, jsii.String("Failures"), &awssqs.QueueProps{
		QueueName:       jsii.String(s.Config.Name + "-failures"),
		Encryption:      awssqs.QueueEncryption_SQS_MANAGED,
		EnforceSSL:      jsii.Bool(true),
		RetentionPeriod: awscdk.Duration_Days(jsii.Number(14)),
	})
}

// source feeds the function from the stream of this Region's own replica.
//
// CloudFormation has no attribute for the stream of a replica, and what the CDK
// writes in its place ends in "stream/*", which passes synthesis and is no event
// source. So the stream is asked for while the stack is deployed.
func (s region) source(fn awslambda.Function, failures awssqs.Queue) {
	configuration := s.TableARN(s.Region.Name, s.ConfigTable())
	call := &customresources.AwsSdkCall{
		Service:            jsii.String("DynamoDB"),
		Action:             jsii.String("describeTable"),
		Parameters:         map[string]any{"TableName": s.ConfigTable()},
		OutputPaths:        jsii.Strings("Table.LatestStreamArn"),
		PhysicalResourceId: customresources.PhysicalResourceId_Of(jsii.String(s.ConfigTable() + "-stream")),
	}
	look := customresources.NewAwsCustomResource(s.Stack, jsii.String("ConfigStream"), &customresources.AwsCustomResourceProps{
		OnCreate:            call,
		OnUpdate:            call,
		InstallLatestAwsSdk: jsii.Bool(false),
		Timeout:             awscdk.Duration_Minutes(jsii.Number(1)),
		LogGroup: awslogs.NewLogGroup(s.Stack, jsii.String("ConfigStreamLogs"), &awslogs.LogGroupProps{
			Retention:     retention(s.Logs.Retention),
			RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
		}),
		Policy: customresources.AwsCustomResourcePolicy_FromStatements(&[]awsiam.PolicyStatement{
			allow("FindTheStream", []string{"dynamodb:DescribeTable"}, configuration),
		}),
	})
	stream := look.GetResponseField(jsii.String("Table.LatestStreamArn"))

	fn.Role().AddToPrincipalPolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid:       jsii.String("ReadConfigStream"),
		Actions:   jsii.Strings("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"),
		Resources: &[]*string{stream},
	}))
	fn.Role().AddToPrincipalPolicy(allow("ListStreams", []string{"dynamodb:ListStreams"}, "*")) // knows no resources
	fn.Role().AddToPrincipalPolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid:       jsii.String("HandOverWhatFailed"),
		Actions:   jsii.Strings("sqs:SendMessage"),
		Resources: &[]*string{failures.QueueArn()},
	}))

	m := awslambda.NewCfnEventSourceMapping(s.Stack, jsii.String("ConfigChanges"), &awslambda.CfnEventSourceMappingProps{
		EventSourceArn:   stream,
		FunctionName:     fn.FunctionName(),
		StartingPosition: jsii.String("TRIM_HORIZON"), // what changed while it was being deployed counts too
		FilterCriteria: &awslambda.CfnEventSourceMapping_FilterCriteriaProperty{
			Filters: &[]any{&awslambda.CfnEventSourceMapping_FilterProperty{Pattern: jsii.String(streamFilter)}},
		},
		BatchSize:                  jsii.Number(100),
		BisectBatchOnFunctionError: jsii.Bool(true),
		FunctionResponseTypes:      jsii.Strings("ReportBatchItemFailures"),
		// A record that fails holds up its shard for so long. After an hour the round over all tenants has made up for it.
		MaximumRetryAttempts:      jsii.Number(5),
		MaximumRecordAgeInSeconds: jsii.Number(60 * 60),
		DestinationConfig: &awslambda.CfnEventSourceMapping_DestinationConfigProperty{
			OnFailure: &awslambda.CfnEventSourceMapping_OnFailureProperty{Destination: failures.QueueArn()},
		},
	})
	m.Node().AddDependency(fn.Role()) // with its policy: Lambda tries to read the stream at once
}

// onKeys limits a statement to items whose partition keys have these forms.
func onKeys(statement awsiam.PolicyStatement, forms ...string) awsiam.PolicyStatement {
	statement.AddCondition(jsii.String("ForAllValues:StringLike"), map[string]any{"dynamodb:LeadingKeys": forms})
	return statement
}
