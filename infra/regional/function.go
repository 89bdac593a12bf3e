package regional

import (
	"maps"
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"weir/infra/config"
	"weir/internal/telemetry/metric"
)

// function is what differs between functions.
type function struct {
	id, name, code, about string
	config.Function
	environment map[string]string
	statements  []awsiam.PolicyStatement

	// Called by events that nobody waits for. A run that failed is made up for by
	// the next, so it is not tried again.
	asynchronous bool
}

// add adds a function with a role and a log group of its own.
func (s region) add(f function) awslambda.Function {
	logs := awslogs.NewLogGroup(s.Stack, jsii.String(f.id+"Logs"), &awslogs.LogGroupProps{
		LogGroupName:  jsii.String("/aws/lambda/" + f.name),
		Retention:     retention(s.Logs.Retention),
		RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
	})
	role := awsiam.NewRole(s.Stack, jsii.String(f.id+"Role"), &awsiam.RoleProps{
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
		Description: jsii.String(f.about),
	})
	for _, st := range f.statements {
		role.AddToPolicy(st)
	}
	// Not AWSLambdaBasicExecutionRole, which allows every log group of the account.
	role.AddToPolicy(allow("WriteLogs", []string{"logs:CreateLogStream", "logs:PutLogEvents"},
		s.here("logs", "log-group:/aws/lambda/"+f.name+":*")))

	environment := map[string]*string{}
	for k, v := range f.environment {
		environment[k] = jsii.String(v)
	}
	p := &awslambda.FunctionProps{
		FunctionName:  jsii.String(f.name),
		Description:   jsii.String(f.about),
		Runtime:       awslambda.Runtime_PROVIDED_AL2023(),
		Architecture:  awslambda.Architecture_ARM_64(),
		Handler:       jsii.String("bootstrap"),
		Code:          awslambda.Code_FromAsset(s.code(f.code), nil),
		MemorySize:    jsii.Number(f.Memory),
		Timeout:       awscdk.Duration_Millis(jsii.Number(float64(f.Timeout.Milliseconds()))),
		Tracing:       awslambda.Tracing_ACTIVE,
		Environment:   &environment,
		Role:          role,
		LogGroup:      logs,
		LoggingFormat: awslambda.LoggingFormat_JSON,
		// The functions filter their own lines (WEIR_LOG_LEVEL). Lambda's START, END and REPORT of every request would
		// be most of the log volume, and most of its cost; metrics carry the same figures.
		ApplicationLogLevelV2: awslambda.ApplicationLogLevel_TRACE,
		SystemLogLevelV2:      awslambda.SystemLogLevel_WARN,
	}
	if n := f.Concurrency.Reserved; n > 0 {
		p.ReservedConcurrentExecutions = jsii.Number(n)
	}
	if f.asynchronous {
		p.RetryAttempts, p.MaxEventAge = jsii.Number(0), awscdk.Duration_Minutes(jsii.Number(1))
	}
	return awslambda.NewFunction(s.Stack, jsii.String(f.id+"Function"), p)
}

// tables are the variables that both functions have.
func (s region) tables() map[string]string {
	env := map[string]string{
		"WEIR_BUCKETS_TABLE": s.BucketsTable(),
		"WEIR_CONFIG_TABLE":  s.ConfigTable(),
		"WEIR_REGIONS":       strings.Join(config.Nearest(s.Region.Name, s.RegionNames()), ","),
		"WEIR_LOG_LEVEL":     s.Logs.Level,
	}
	if s.Strict != nil {
		env["WEIR_STRICT_TABLE"] = s.StrictTable()
	}
	if ns := s.Namespace(metric.Namespace); ns != metric.Namespace {
		env["WEIR_METRICS_NAMESPACE"] = ns // two deployments in an account must not be counted together
	}
	return env
}

// authorizer adds the function on the request path and returns what is to be
// called: its alias, which carries provisioned environments and moves to a new
// version only once that is there.
func (s region) authorizer() awslambda.IFunction {
	buckets := s.TableARN(s.Region.Name, s.BucketsTable())
	f := function{
		id: "Authorizer", name: s.AuthorizerName(), code: "authorizer",
		about:    "Decides each request; Weir's Lambda authorizer.",
		Function: s.Authorizer.Function,
		environment: map[string]string{
			"WEIR_STORE":           "dynamodb",
			"WEIR_KEY_HEADER":      s.API.KeyHeader,
			"WEIR_HTTP_RESPONSE":   "simple",
			"WEIR_HTTP_OVER_LIMIT": "deny",
			"WEIR_STORE_TIMEOUT":   s.Authorizer.StoreTimeout.String(),
			"WEIR_PROCESSES":       strconv.Itoa(s.Authorizer.Processes),
		},
		statements: []awsiam.PolicyStatement{
			allow("ChargeBuckets", []string{"dynamodb:UpdateItem"}, buckets),
			allow("ReadRowsOfOtherRegions", []string{"dynamodb:GetItem", "dynamodb:Query"}, buckets),
			// Of every Region: while this one's table fails, another's replica is read.
			allow("ReadPlansTenantsAndCredentials", []string{"dynamodb:GetItem", "dynamodb:Query"}, s.everywhere(s.ConfigTable())...),
		},
	}
	f.Concurrency = s.ConcurrencyIn(s.Region)
	maps.Copy(f.environment, s.tables())
	if s.API.OverLimit != "" {
		f.environment["WEIR_HTTP_OVER_LIMIT"] = string(s.API.OverLimit)
	}
	if s.API.AnonymousPlan != "" {
		f.environment["WEIR_ANONYMOUS_PLAN"] = s.API.AnonymousPlan
	}
	if s.Strict != nil {
		f.statements = append(f.statements, allow("ChargeStrictBuckets", []string{"dynamodb:UpdateItem"}, s.TableARN(s.Region.Name, s.StrictTable())))
	}
	fn := s.add(f)
	alias := &awslambda.AliasProps{AliasName: jsii.String("live"), Version: fn.CurrentVersion()}
	if n := f.Concurrency.Provisioned; n > 0 {
		alias.ProvisionedConcurrentExecutions = jsii.Number(n)
	}
	return awslambda.NewAlias(s.Stack, jsii.String("Live"), alias)
}

// everywhere returns the ARNs of a table's replicas.
func (s region) everywhere(table string) []string {
	var arns []string
	for _, name := range s.RegionNames() {
		arns = append(arns, s.TableARN(name, table))
	}
	return arns
}

// allow returns a statement that allows actions on resources.
func allow(sid string, actions []string, resources ...string) awsiam.PolicyStatement {
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid:       jsii.String(sid),
		Actions:   jsii.Strings(actions...),
		Resources: jsii.Strings(resources...),
	})
}

func retention(days int) awslogs.RetentionDays {
	return map[int]awslogs.RetentionDays{
		1: awslogs.RetentionDays_ONE_DAY, 3: awslogs.RetentionDays_THREE_DAYS, 5: awslogs.RetentionDays_FIVE_DAYS,
		7: awslogs.RetentionDays_ONE_WEEK, 14: awslogs.RetentionDays_TWO_WEEKS, 30: awslogs.RetentionDays_ONE_MONTH,
		60: awslogs.RetentionDays_TWO_MONTHS, 90: awslogs.RetentionDays_THREE_MONTHS, 120: awslogs.RetentionDays_FOUR_MONTHS,
		150: awslogs.RetentionDays_FIVE_MONTHS, 180: awslogs.RetentionDays_SIX_MONTHS, 365: awslogs.RetentionDays_ONE_YEAR,
	}[days]
}
