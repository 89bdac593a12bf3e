// Authorizer is the Lambda function that decides each request. What it is
// configured with is in package settings, what it answers in docs/answers.md.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/aws/aws-lambda-go/lambda"

	"weir/internal/authorizer"
	"weir/internal/limiter"
	"weir/internal/settings"
)

func main() {
	h, err := handler()
	if err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintln(os.Stderr, "weir: "+line)
		}
		os.Exit(1)
	}
	lambda.StartWithOptions(h)
}

// handler puts the parts together. It makes no call: what fails in a network
// should cost a request its limit, not the function its start.
func handler() (*authorizer.Handler, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s, err := settings.FromEnv(os.Getenv, executable)
	if err != nil {
		return nil, err
	}
	log := s.Logger(os.Stdout)
	b, err := open(s, log)
	if err != nil {
		return nil, err
	}
	l := limiter.New(b.store, limiter.Options{
		Timeout: s.StoreTimeout,
		Region:  s.Region,
		Regions: len(s.Regions),
		Grace:   s.Grace,
		Strict:  b.strict,
	})
	return authorizer.New(b.directory, l, authorizer.Options{
		KeyHeader:      s.KeyHeader,
		HTTP:           authorizer.HTTPStyle{IAM: s.HTTPResponse == settings.IAM, Flag: s.OverLimit == settings.Flag},
		LookupTimeout:  10 * s.StoreTimeout,
		Strict:         b.strict != nil || len(s.Regions) == 1, // one Region alone is exact
		BadCredentials: b.badCredentials,
		Log:            log,
	}), nil
}
