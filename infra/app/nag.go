package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
)

// exception is a rule of the AwsSolutions pack that does not hold here, and why.
// Without what it applies to, it is the rule as a whole.
type exception struct {
	rule, reason string
	to           []string
}

// exceptions hold in every stack: the same construct is the same exception in each
// Region.
var exceptions = []exception{
	{"AwsSolutions-APIG2", "What a request must look like is the backend's business; Weir looks at the key and the route.", nil},
	{"AwsSolutions-APIG3", "What Weir limits is tenants. A web ACL against floods of addresses is the owner's choice, and has a price.", nil},
	{"AwsSolutions-APIG4", "OPTIONS carries no credential, and the health route asks the authorizer itself; all others are behind it (TestEveryMethodIsLimited).", nil},
	{"AwsSolutions-APIG6", "Execution logs hold headers, and so API keys. The access log and metrics say what is needed.", nil},
	{"AwsSolutions-COG4", "The authorizer is Weir.", nil},
	{"AwsSolutions-SQS3", "The queue is itself where failures end.", nil},
	{"AwsSolutions-IAM4", "The function that looks things up during deployment is the CDK's, and API Gateway's role to write logs needs every log group of the Region.", []string{
		"Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole",
		"Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs",
	}},
}

// wildcards are the resources that end in one, and why. Anything else with a
// wildcard fails.
var wildcards = []exception{
	{"AwsSolutions-IAM5", "Streams cannot be listed, trace segments put, targets found, or log deliveries made for a resource: these actions know none.", []string{"Resource::*"}},
	{"AwsSolutions-IAM5", "The streams of a function's own log group: their names are made at run time.", []string{`/^Resource::.*:log-group:\/aws\/lambda\/.*:\*$/`}},
	{"AwsSolutions-IAM5", "Which alarm pauses a rollout is said in a plan, which is written later.", []string{`/^Resource::.*:alarm:\*$/`}},
}

// nag has an app checked by the AwsSolutions pack as it is synthesised.
func nag(app awscdk.App) {
	awscdk.Aspects_Of(app).Add(cdknag.NewAwsSolutionsChecks(&cdknag.NagPackProps{Verbose: jsii.Bool(true)}), nil)
	var all []*cdknag.NagPackSuppression
	for _, e := range append(slices.Clone(exceptions), wildcards...) {
		all = append(all, e.suppression())
	}
	for _, child := range *app.Node().Children() {
		if stack, ok := child.(awscdk.Stack); ok {
			cdknag.NagSuppressions_AddStackSuppressions(stack, &all, nil)
		}
	}
}

// suppression is the exception in words of cdk-nag. What stands between slashes is
// a regular expression.
func (e exception) suppression() *cdknag.NagPackSuppression {
	s := &cdknag.NagPackSuppression{Id: jsii.String(e.rule), Reason: jsii.String(e.reason)}
	if e.to == nil {
		return s
	}
	to := []any{}
	for _, t := range e.to {
		if strings.HasPrefix(t, "/") {
			to = append(to, &cdknag.RegexAppliesTo{Regex: jsii.String(t)})
		} else {
			to = append(to, t)
		}
	}
	s.AppliesTo = &to
	return s
}

// Complaints returns what the constructs, and the checks on them, noted while a
// folder was synthesised: errors and warnings, sorted.
func Complaints(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.metadata.json"))
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var notes map[string][]struct {
			Type string
			Data any
		}
		if err := json.Unmarshal(text, &notes); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
		for path, entries := range notes {
			for _, e := range entries {
				if e.Type == "aws:cdk:error" || e.Type == "aws:cdk:warning" {
					found[fmt.Sprintf("%s: %v", path, e.Data)] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}
