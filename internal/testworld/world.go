// Package testworld runs Weir's real parts in several Regions on this machine:
// authorizers and reconcilers as they are deployed, on AWS's emulator of the
// Lambda runtime; DynamoDB tables and streams on MiniStack; the test replicator
// between the Regions, and event source mappings from each Region's config
// stream to its reconciler. Nothing leaves the machine, and everything ends with
// the program.
package testworld

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"weir/internal/replicator"
	"weir/internal/testbootstrap"
	"weir/internal/testengine"
	"weir/pkg/ddbstore"
)

// The tables, by the same name in every Region.
const (
	BucketsTable = "weir-buckets"
	ConfigTable  = "weir-config"
)

// Options of a World.
type Options struct {
	Regions    []string // the first is where configuration is written
	Processes  int      // authorizers in each Region
	Reconciler bool     // a reconciler in each Region too

	Lag  time.Duration // mean replication lag; it varies by half of it either way
	Seed uint64        // of the lags

	Env []string // more of the functions' environment
}

// World is several Regions, running.
type World struct {
	Engine  *testengine.Engine
	Regions []*Region
	Buckets *replicator.Replicator // of the table of buckets
	Config  *replicator.Replicator // of the config table

	o    Options
	dir  string // of the bootstraps
	stop []func()
}

// Start builds everything up. Without its tools on the machine the error is
// testtool.ErrMissing. The caller closes the World.
func Start(ctx context.Context, o Options) (_ *World, err error) {
	w := &World{o: o}
	defer func() {
		if err != nil {
			w.Close()
		}
	}()
	if w.dir, err = os.MkdirTemp("", "weir-world-"); err != nil {
		return nil, err
	}
	w.onClose(func() { os.RemoveAll(w.dir) })
	authorizer, err := w.build("authorizer")
	if err != nil {
		return nil, err
	}
	if w.Engine, err = testengine.Launch(ctx); err != nil {
		return nil, err
	}
	w.onClose(w.Engine.Close)
	for i, name := range o.Regions {
		if err := w.createTables(ctx, name); err != nil {
			return nil, fmt.Errorf("create tables in %s: %w", name, err)
		}
		r, err := w.startRegion(i, name, authorizer)
		if err != nil {
			return nil, fmt.Errorf("start %s: %w", name, err)
		}
		w.Regions = append(w.Regions, r)
	}
	if w.Buckets, err = w.replicate(ctx, BucketsTable); err != nil {
		return nil, err
	}
	if w.Config, err = w.replicate(ctx, ConfigTable); err != nil {
		return nil, err
	}
	if o.Reconciler {
		if err := w.startReconcilers(ctx); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// build builds a function into a folder of its own.
func (w *World) build(name string) (string, error) {
	dir := filepath.Join(w.dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	return testbootstrap.Build(dir, name)
}

func (w *World) onClose(f func()) { w.stop = append(w.stop, f) }

// Close ends everything, the last started first.
func (w *World) Close() {
	for i := len(w.stop) - 1; i >= 0; i-- {
		w.stop[i]()
	}
	w.stop = nil
}

// Home returns the configuration as it is written: in the first Region. What is
// written arrives elsewhere after the lag; see Config.Drain.
func (w *World) Home() *ddbstore.Config {
	home := w.o.Regions[0]
	return ddbstore.NewConfig(w.Engine.Client(home), ConfigTable).In(home)
}

// createTables creates a Region's tables, each by itself: the replicator joins
// them.
func (w *World) createTables(ctx context.Context, region string) error {
	client := w.Engine.Client(region)
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:   aws.String(BucketsTable),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
		// As every replica of a global table has; ddbstore creates it without.
		StreamSpecification: &types.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages,
		},
	})
	var exists *types.ResourceInUseException // says the second attempt of a call whose answer was lost
	if err != nil && !errors.As(err, &exists) {
		return err
	}
	return ddbstore.CreateTables(ctx, client, BucketsTable, ConfigTable)
}

func (w *World) replicate(ctx context.Context, table string) (*replicator.Replicator, error) {
	r, err := replicator.New(ctx, replicator.Options{
		Endpoint: w.Engine.Endpoint(), Table: table, Regions: w.o.Regions,
		Lag: w.o.Lag, Jitter: 0.5, Seed: w.o.Seed,
	})
	if err != nil {
		return nil, err
	}
	w.run(ctx, "replicate "+table, r.Run) // Drain will say if nothing moves
	return r, nil
}

// run runs f until the World is closed.
func (w *World) run(ctx context.Context, what string, f func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := f(ctx); err != nil {
			fmt.Fprintf(os.Stderr, "testworld: %s: %v\n", what, err)
		}
	}()
	w.onClose(func() {
		cancel()
		<-done
	})
}

// env is the environment of a function in a Region whose store is at endpoint.
func (w *World) env(region, endpoint string) []string {
	return append([]string{
		"AWS_REGION=" + region,
		"AWS_ENDPOINT_URL_DYNAMODB=" + endpoint,
		"WEIR_BUCKETS_TABLE=" + BucketsTable,
		"WEIR_CONFIG_TABLE=" + ConfigTable,
		"WEIR_REGIONS=" + strings.Join(w.o.Regions, ","),
		"WEIR_LOG_LEVEL=warn",
	}, w.o.Env...)
}
