package attach

import (
	"os"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"weir/internal/doctor"
)

// checkAtSynthesis has the templates of an app checked once they are written.
func checkAtSynthesis(c constructs.Construct) {
	stage := awscdk.Stage_Of(c)
	if stage == nil || stage.Node().TryFindChild(jsii.String(checkID)) != nil {
		return // a stack alone, or registered by another API
	}
	constructs.NewConstruct(stage, jsii.String(checkID))
	awscdk.Validations_Of(stage).AddPlugins(&check{})
}

const checkID = "WeirCheck"

// check applies the doctor's rules for APIs to templates.
type check struct{}

// Name implements awscdk.IPolicyValidationPlugin.
func (*check) Name() *string { return jsii.String("weir") }

// Version implements awscdk.IPolicyValidationPlugin.
func (*check) Version() *string { return jsii.String("1.0.0") }

// RuleIds implements awscdk.IPolicyValidationPlugin.
func (*check) RuleIds() *[]*string { return nil }

// Validate implements awscdk.IPolicyValidationPlugin.
func (*check) Validate(context awscdk.IPolicyValidationContext) *awscdk.PolicyValidationPluginReport {
	var violations []*awscdk.PolicyViolation
	for _, s := range *context.StackTemplates() {
		region := "any Region"
		if s.Region != nil && !*awscdk.Token_IsUnresolved(*s.Region) {
			region = *s.Region
		}
		violations = append(violations, violationsOf(*s.TemplatePath, region)...)
	}
	return &awscdk.PolicyValidationPluginReport{
		Success:    jsii.Bool(len(violations) == 0),
		Violations: &violations,
	}
}

func violationsOf(path, region string) []*awscdk.PolicyViolation {
	violation := func(rule, what, fix string) *awscdk.PolicyViolation {
		return &awscdk.PolicyViolation{
			RuleName: jsii.String(rule), Description: jsii.String(what), Fix: jsii.String(fix), Severity: jsii.String("error"),
			ViolatingResources: &[]*awscdk.PolicyViolatingResource{{
				ResourceLogicalId: jsii.String("Api"), TemplatePath: jsii.String(path), Locations: &[]*string{},
			}},
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return []*awscdk.PolicyViolation{violation("template", err.Error(), "")}
	}
	t, err := doctor.ParseTemplate(region, text)
	if err != nil {
		return []*awscdk.PolicyViolation{violation("template", err.Error(), "")}
	}
	var all []*awscdk.PolicyViolation
	for _, a := range t.APIs() {
		for _, f := range doctor.CheckAPI(a) {
			if f.Severity == doctor.Broken {
				all = append(all, violation(f.Rule, f.Where+": "+f.What, f.Fix))
			}
		}
	}
	return all
}
