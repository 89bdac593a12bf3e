// Reconciler is the Lambda function that brings what plans and tenants say to the
// buckets of its Region: fed by the config table's stream, and by a schedule. What
// it does is in docs/reconciler.md, what it is configured with in package settings.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"

	"weir/internal/directory"
	"weir/internal/reconciler"
	"weir/internal/settings"
	"weir/pkg/ddbstore"
)

func main() {
	r, err := newReconciler(os.Getenv)
	if err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintln(os.Stderr, "weir: "+line)
		}
		os.Exit(1)
	}
	lambda.Start(r.Handle)
}

// newReconciler puts the parts together. It makes no call.
func newReconciler(getenv func(string) string) (counted, error) {
	s, err := settings.ReconcilerFromEnv(getenv)
	if err != nil {
		return counted{}, err
	}
	cfg, err := ddbstore.EnvConfig(getenv)
	if err != nil {
		return counted{}, err
	}
	client := ddbstore.NewClient(cfg)
	config := ddbstore.NewConfig(client, s.ConfigTable).Consistent().In(s.Region)
	recorder, observer := newRecorder(s)
	o := reconciler.Options{
		Region:   s.Region,
		Regions:  s.Regions,
		Config:   config,
		Source:   directory.FromTable(config),
		Rows:     ddbstore.New(client, s.BucketsTable, s.Region),
		Grace:    s.Grace,
		Alarms:   reconciler.CloudWatch{Client: cloudwatch.NewFromConfig(cfg, elsewhere(getenv)), Region: s.Region},
		Parallel: s.Parallel,
		Observer: observer,
		Log:      s.Logger(os.Stdout),
	}
	if s.StrictTable != "" {
		o.Strict = ddbstore.NewStrict(client, s.StrictTable)
		o.Sweep = func(ctx context.Context, now int64) (int, error) {
			return ddbstore.Sweep(ctx, client, s.StrictTable, now)
		}
	}
	return counted{reconciler.New(o), recorder}, nil
}

// elsewhere keeps CloudWatch from being looked for where DynamoDB is said to be.
func elsewhere(getenv func(string) string) func(*cloudwatch.Options) {
	return func(o *cloudwatch.Options) {
		o.BaseEndpoint = nil
		for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_CLOUDWATCH"} {
			if url := getenv(name); url != "" {
				o.BaseEndpoint = &url
			}
		}
	}
}
