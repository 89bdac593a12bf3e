package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/logging"
	"github.com/spf13/pflag"

	"weir/pkg/ddbstore"
)

// credentialsTimeout is for finding credentials, which may ask an instance's
// metadata or an identity provider.
const credentialsTimeout = 10 * time.Second

// connection are the flags that say where the tables are.
type connection struct {
	region   string
	endpoint string
	profile  string
	config   string
	buckets  string
	strict   string
}

func (c *connection) addTo(fl *pflag.FlagSet) {
	fl.StringVar(&c.region, "region", "", "`REGION` whose replicas to read; default AWS_REGION, or that of the profile")
	fl.StringVar(&c.endpoint, "endpoint", os.Getenv("WEIR_ENDPOINT"), "`URL` of a local DynamoDB, with the tables of weir dev unless others are named; env WEIR_ENDPOINT")
	fl.StringVar(&c.profile, "profile", "", "`PROFILE` of the AWS configuration; default AWS_PROFILE")
	fl.StringVar(&c.config, "config-table", os.Getenv("WEIR_CONFIG_TABLE"), "`TABLE` of plans, tenants and keys; env WEIR_CONFIG_TABLE")
	fl.StringVar(&c.buckets, "buckets-table", os.Getenv("WEIR_BUCKETS_TABLE"), "`TABLE` of buckets; env WEIR_BUCKETS_TABLE")
	fl.StringVar(&c.strict, "strict-table", os.Getenv("WEIR_STRICT_TABLE"), "`TABLE` of strict limits, if there is one; env WEIR_STRICT_TABLE")
}

// deployment is Weir's tables in all Regions, as the caller's credentials reach
// them.
type deployment struct {
	region  string // whose replicas are read
	local   bool   // an endpoint on this machine
	aws     aws.Config
	names   tableNames
	clients map[string]*dynamodb.Client
}

type tableNames struct{ config, buckets, strict string }

// open finds credentials and a Region. It makes no call to DynamoDB.
func (c *connection) open(ctx context.Context) (*deployment, error) {
	local, err := c.local()
	if err != nil {
		return nil, err
	}
	d := &deployment{
		local:   local,
		names:   tableNames{c.config, c.buckets, c.strict},
		clients: map[string]*dynamodb.Client{},
	}
	if d.aws, err = c.awsConfig(ctx, local); err != nil {
		return nil, err
	}
	d.region = d.aws.Region
	if local {
		d.names.config = orElse(d.names.config, devConfig)
		d.names.buckets = orElse(d.names.buckets, devBuckets)
	}
	if d.names.config == "" {
		return nil, errors.New("which table has the plans and tenants? Name it with --config-table or WEIR_CONFIG_TABLE: it is the output ConfigTableName of the stack")
	}
	return d, nil
}

// local reports whether the endpoint is on this machine, where credentials do not
// matter.
func (c *connection) local() (bool, error) {
	if c.endpoint == "" {
		return false, nil
	}
	u, err := url.Parse(c.endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return false, fmt.Errorf("--endpoint %q: want a URL, for example http://127.0.0.1:4566", c.endpoint)
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback(), nil
}

func (c *connection) awsConfig(ctx context.Context, local bool) (aws.Config, error) {
	options := []func(*config.LoadOptions) error{
		config.WithRegion(c.region), config.WithSharedConfigProfile(c.profile),
		config.WithLogger(logging.Nop{}), // what matters of a call is in its error
	}
	if local && c.profile == "" && os.Getenv("AWS_PROFILE") == "" && os.Getenv("AWS_ACCESS_KEY_ID") == "" {
		// Made up, so that nobody needs any and no account can be reached by mistake.
		options = append(options, config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider("weir-dev", "weir-dev", "")))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return cfg, fmt.Errorf("read the AWS configuration: %w", err)
	}
	if cfg.Region == "" && local {
		cfg.Region = "us-east-1" // as weir dev
	}
	if cfg.Region == "" {
		return cfg, errors.New("which Region? Name one with --region or AWS_REGION; the tables are the same in all that Weir runs in")
	}
	if c.endpoint != "" {
		cfg.BaseEndpoint = &c.endpoint
	}
	ctx, cancel := context.WithTimeout(ctx, credentialsTimeout)
	defer cancel()
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		return cfg, noCredentials(c.profile, err)
	}
	return cfg, nil
}

// noCredentials says what to do for credentials. The SDK's own text names every
// source that it has tried, and may be long.
func noCredentials(profile string, err error) error {
	what := "set AWS_PROFILE or pass --profile, log in with `aws sso login`, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; for a local DynamoDB pass --endpoint"
	if profile != "" {
		what = fmt.Sprintf("is profile %s logged in? Try `aws sts get-caller-identity --profile %s`", profile, profile)
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return fmt.Errorf("there are no usable AWS credentials: %s (%s)", what, first)
}

// client returns the client for a Region's replicas.
func (d *deployment) client(region string) *dynamodb.Client {
	c := d.clients[region]
	if c == nil {
		cfg := d.aws
		cfg.Region = region
		c = ddbstore.NewClient(cfg)
		d.clients[region] = c
	}
	return c
}

// rows returns the buckets in a Region's replica.
func (d *deployment) rows(region string) (*ddbstore.Store, error) {
	if d.names.buckets == "" {
		return nil, errors.New("which table has the buckets? Name it with --buckets-table or WEIR_BUCKETS_TABLE: it is the output BucketsTableName of the stack")
	}
	return ddbstore.New(d.client(region), d.names.buckets, region), nil
}

// strictRows returns the buckets of strict limits, or nil if their table is not
// named.
func (d *deployment) strictRows(region string) *ddbstore.Store {
	if d.names.strict == "" {
		return nil
	}
	return ddbstore.NewStrict(d.client(region), d.names.strict)
}

func orElse(s, unset string) string {
	if s == "" {
		return unset
	}
	return s
}
