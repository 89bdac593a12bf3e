// Package regional is the stack of one Region: the two functions, the API, its
// domain, and what feeds the reconciler. Every Region has one, all alike; it
// refers to no other stack, so any of them can be deployed, or lost, alone.
package regional

import (
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"weir/infra/config"
)

// region is a stack while it is made.
type region struct {
	awscdk.Stack
	*config.Config
	config.Region
	binaries string // folder with one folder for each function
}

// NewStack adds the stack of a Region to an app. binaries is the folder in which
// <function>/bootstrap is for each function, for arm64.
func NewStack(scope constructs.Construct, c *config.Config, r config.Region, binaries string) awscdk.Stack {
	s := region{
		Stack: awscdk.NewStack(scope, jsii.String(r.Name), &awscdk.StackProps{
			StackName:   jsii.String(c.Name + "-" + r.Name),
			Description: jsii.String("Weir: the functions and the API of one Region."),
			Env:         &awscdk.Environment{Account: jsii.String(c.Account), Region: jsii.String(r.Name)},
		}),
		Config:   c,
		Region:   r,
		binaries: binaries,
	}
	authorizer := s.authorizer()
	s.reconciler()
	switch c.API.Kind {
	case config.REST:
		s.restAPI(authorizer)
	case config.HTTP:
		s.httpAPI(authorizer)
	}
	return s.Stack
}

// here returns the ARN of something in this Region.
func (s region) here(service, resource string) string { return s.ARN(s.Region.Name, service, resource) }

func (s region) code(function string) *string {
	return jsii.String(filepath.Join(s.binaries, function))
}
