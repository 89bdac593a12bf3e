package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"weir/internal/directory"
	"weir/internal/limiter"
	"weir/internal/plan"
	"weir/pkg/ddbstore"
)

// The tables of `weir dev` on a DynamoDB endpoint.
const (
	devBuckets = "weir-dev-buckets"
	devConfig  = "weir-dev-config"
)

// setupTimeout is for creating and filling the tables.
const setupTimeout = 30 * time.Second

// devTTL is how long `weir dev` believes what it has read of the config table: a
// change made by hand should show soon.
const devTTL = 2 * time.Second

// tables opens the development tables at a DynamoDB endpoint: creates what is
// missing and writes plans and tenants into it.
func tables(ctx context.Context, endpoint, region string, f *plan.File, log *slog.Logger) (limiter.Store, directory.Directory, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, nil, fmt.Errorf("--dynamodb-endpoint %q: want a URL, for example http://127.0.0.1:4566", endpoint)
	}
	ctx, cancel := context.WithTimeout(ctx, setupTimeout)
	defer cancel()
	client := ddbstore.NewClient(aws.Config{
		Region:       region,
		BaseEndpoint: &endpoint,
		// Made up, so that no account can be reached by mistake.
		Credentials: credentials.NewStaticCredentialsProvider("weir-dev", "weir-dev", ""),
	})
	if err := ddbstore.CreateTables(ctx, client, devBuckets, devConfig); err != nil {
		return nil, nil, fmt.Errorf("no tables at %s: %w; is a local DynamoDB running there? Without --dynamodb-endpoint buckets are kept in memory", endpoint, err)
	}
	config := ddbstore.NewConfig(client, devConfig)
	if err := seed(ctx, config, f, time.Now().UnixNano()); err != nil {
		return nil, nil, fmt.Errorf("fill %s at %s: %w", devConfig, endpoint, err)
	}
	source := directory.FromTable(config)
	dir := directory.NewCached(source, directory.Options{
		Anonymous: f.Anonymous, TTL: devTTL, MissingTTL: devTTL, Feed: source, Log: log,
	})
	return ddbstore.New(client, devBuckets, region), dir, nil
}
