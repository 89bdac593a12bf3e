package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"weir/internal/directory"
	"weir/internal/replicator"
	"weir/internal/testbootstrap"
	"weir/internal/testengine"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

const (
	bucketsTable = "lab-buckets"
	configTable  = "lab-config"

	// storeTimeout is longer than a deployment's: the machine is busy with all
	// three Regions, and a request that waits in vain would be let through.
	storeTimeout = 5 * time.Second
)

var regionNames = []string{"eu-west-1", "us-east-1", "ap-northeast-1"}

type options struct {
	rate      int64 // of the limit, requests/s; its burst is one second's worth
	processes int   // in each Region
	lag       time.Duration
	seed      uint64
}

func defaults() options {
	return options{rate: 30, processes: 2, lag: time.Second, seed: 1}
}

// lab is three Regions, running.
type lab struct {
	o          options
	limit      bucket.Limit
	dir        string // of the bootstrap
	engine     *testengine.Engine
	regions    []*region
	replicator *replicator.Replicator
	stop       []func()
}

// start builds everything up. The caller closes it.
func start(ctx context.Context, o options) (_ *lab, err error) {
	l := &lab{o: o}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if l.limit, err = bucket.NewLimit(bucket.Rate{Count: o.rate, Period: time.Second}, o.rate); err != nil {
		return nil, err
	}
	if l.dir, err = os.MkdirTemp("", "weir-lab-"); err != nil {
		return nil, err
	}
	l.onClose(func() { os.RemoveAll(l.dir) })
	bootstrap, err := testbootstrap.Build(l.dir, "authorizer")
	if err != nil {
		return nil, err
	}
	if l.engine, err = testengine.Launch(ctx); err != nil {
		return nil, err
	}
	l.onClose(l.engine.Close)
	for i, name := range regionNames {
		if err := l.createTables(ctx, name); err != nil {
			return nil, fmt.Errorf("create tables in %s: %w", name, err)
		}
		r, err := l.startRegion(i, name, bootstrap)
		if err != nil {
			return nil, fmt.Errorf("start %s: %w", name, err)
		}
		l.regions = append(l.regions, r)
	}
	if err := l.replicate(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *lab) onClose(f func()) { l.stop = append(l.stop, f) }

// close ends everything, the last started first.
func (l *lab) close() {
	for i := len(l.stop) - 1; i >= 0; i-- {
		l.stop[i]()
	}
	l.stop = nil
}

// createTables creates a Region's tables and fills in the configuration, which
// is the same in all.
func (l *lab) createTables(ctx context.Context, region string) error {
	client := l.engine.Client(region)
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:   aws.String(bucketsTable),
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
	if err := ddbstore.CreateTables(ctx, client, bucketsTable, configTable); err != nil {
		return err
	}
	return l.configure(ctx, ddbstore.NewConfig(client, configTable))
}

// configure writes one plan, one tenant who has it, and the key in event.json.
func (l *lab) configure(ctx context.Context, c *ddbstore.Config) error {
	ch := ddbstore.Change{Author: "lab", At: time.Now().UnixNano()}
	body := fmt.Sprintf(`{"limits": [{"name": "api", "rate": "%d/s"}]}`, l.o.rate)
	if _, err := c.PutPlan(ctx, ddbstore.Plan{Name: "lab", Body: body}, ch); err != nil {
		return err
	}
	if _, err := c.PutTenant(ctx, ddbstore.Tenant{ID: "acme", Plan: "lab", Status: ddbstore.Active}, ch); err != nil {
		return err
	}
	_, err := c.PutCredential(ctx, ddbstore.Credential{Hash: ddbstore.Hash(directory.HashOf("lab-key-1")), Tenant: "acme"}, ch)
	return err
}

func (l *lab) replicate(ctx context.Context) error {
	r, err := replicator.New(ctx, replicator.Options{
		Endpoint: l.engine.Endpoint(), Table: bucketsTable, Regions: regionNames,
		Lag: l.o.lag, Jitter: 0.5, Seed: l.o.seed,
	})
	if err != nil {
		return err
	}
	l.replicator = r
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := r.Run(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "lab:", err) // Drain will say that nothing moves
		}
	}()
	l.onClose(func() {
		cancel(nil)
		<-done
	})
	return nil
}

// sleep returns early, with an error, if ctx is over.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
