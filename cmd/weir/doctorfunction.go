package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"weir/internal/doctor"
)

// function describes a function, nil if there is none.
func (r regional) function(ctx context.Context, name string) (*doctor.Function, error) {
	out, err := lambda.NewFromConfig(r.cfg).GetFunction(ctx, &lambda.GetFunctionInput{FunctionName: &name})
	var missing *types.ResourceNotFoundException
	if errors.As(err, &missing) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	c := out.Configuration
	f := &doctor.Function{
		Name:    name,
		Timeout: time.Duration(aws.ToInt32(c.Timeout)) * time.Second,
		State:   string(c.State),
		Tracing: c.TracingConfig != nil && c.TracingConfig.Mode == types.TracingModeActive,
		Env:     map[string]string{},
	}
	if c.Environment != nil {
		f.Env = c.Environment.Variables
	}
	if out.Concurrency != nil && out.Concurrency.ReservedConcurrentExecutions != nil {
		n := int(*out.Concurrency.ReservedConcurrentExecutions)
		f.Reserved = &n
	}
	f.Allowed, f.NoGrants = r.grants(ctx, aws.ToString(c.Role), aws.ToString(c.FunctionArn), f.Env)
	return f, nil
}

// asked are the actions that the functions need, of all of which IAM is asked.
var asked = []string{
	"dynamodb:GetItem", "dynamodb:Query", "dynamodb:UpdateItem", "dynamodb:PutItem", "dynamodb:ConditionCheckItem",
	"dynamodb:Scan", "dynamodb:DeleteItem",
}

// grants asks IAM what a role may do on the tables that its function knows; unknown
// if whoever asks may not.
func (r regional) grants(ctx context.Context, role, function string, env map[string]string) (all []doctor.Grant, unknown bool) {
	part := strings.SplitN(function, ":", 6) // arn, partition, lambda, Region, account, function:NAME
	if len(part) < 6 {
		return nil, true
	}
	client := iam.NewFromConfig(r.cfg)
	for _, variable := range []string{"WEIR_BUCKETS_TABLE", "WEIR_CONFIG_TABLE", "WEIR_STRICT_TABLE"} {
		table := env[variable]
		if table == "" {
			continue
		}
		for _, region := range r.regions {
			arn := strings.Join([]string{part[0], part[1], "dynamodb", region, part[4], "table/" + table[strings.LastIndex(table, "/")+1:]}, ":")
			for _, action := range asked {
				out, err := client.SimulatePrincipalPolicy(ctx, &iam.SimulatePrincipalPolicyInput{
					PolicySourceArn: &role, ActionNames: []string{action}, ResourceArns: []string{arn},
					// A statement on keys is asked with one that it is about.
					ContextEntries: []iamtypes.ContextEntry{{
						ContextKeyName: aws.String("dynamodb:LeadingKeys"), ContextKeyType: iamtypes.ContextKeyTypeEnumStringList, ContextKeyValues: []string{"META"},
					}},
				})
				if err != nil {
					return nil, true
				}
				for _, result := range out.EvaluationResults {
					if result.EvalDecision == iamtypes.PolicyEvaluationDecisionTypeAllowed {
						all = append(all, doctor.Grant{Action: action, Resource: arn})
					}
				}
			}
		}
	}
	return all, false
}

// sources describes the event source mappings of a function.
func (r regional) sources(ctx context.Context, name string) ([]doctor.Source, error) {
	pages := lambda.NewListEventSourceMappingsPaginator(lambda.NewFromConfig(r.cfg), &lambda.ListEventSourceMappingsInput{FunctionName: &name})
	var all []doctor.Source
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, m := range page.EventSourceMappings {
			s := doctor.Source{
				ARN: aws.ToString(m.EventSourceArn), State: aws.ToString(m.State), Enabled: !strings.HasPrefix(aws.ToString(m.State), "Disabl"),
				Bisect: aws.ToBool(m.BisectBatchOnFunctionError), Result: aws.ToString(m.LastProcessingResult),
				OnFailure: m.DestinationConfig != nil && m.DestinationConfig.OnFailure != nil && aws.ToString(m.DestinationConfig.OnFailure.Destination) != "",
			}
			if part := strings.Split(s.ARN, ":"); len(part) > 3 {
				s.Region = part[3]
			}
			for _, t := range m.FunctionResponseTypes {
				s.Partial = s.Partial || t == types.FunctionResponseTypeReportBatchItemFailures
			}
			if m.FilterCriteria != nil {
				for _, f := range m.FilterCriteria.Filters {
					s.Filter += aws.ToString(f.Pattern)
				}
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// invocable reports whether API Gateway may call a function for an API. arn may
// have an alias, which has a policy of its own.
func (r regional) invocable(ctx context.Context, arn, api string) (bool, error) {
	in := &lambda.GetPolicyInput{FunctionName: &arn}
	if part := strings.Split(arn, ":"); len(part) == 8 {
		in.FunctionName, in.Qualifier = aws.String(strings.Join(part[:7], ":")), &part[7]
	}
	out, err := lambda.NewFromConfig(r.cfg).GetPolicy(ctx, in)
	var missing *types.ResourceNotFoundException
	if errors.As(err, &missing) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return doctor.Invocable(aws.ToString(out.Policy), api), nil
}
