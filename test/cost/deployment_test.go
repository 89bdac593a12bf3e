package cost_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"weir/internal/onewrite"
	"weir/internal/replicator"
	"weir/internal/testengine"
	"weir/pkg/ddbstore"
)

var regions = []string{"eu-west-1", "us-east-1", "ap-northeast-1"}

var tables atomic.Int64

// deployment is tables in one Region or three, seen from the first.
type deployment struct {
	t          *testing.T
	regions    []string
	wire       *meter // of the first Region's processes
	link       *meter // of replication
	replicator *replicator.Replicator

	store  *ddbstore.Store            // of the first Region, through wire
	strict *ddbstore.Store            // the same
	others map[string]*ddbstore.Store // of the other Regions, not measured
}

func deploy(t *testing.T, n int) *deployment {
	t.Helper()
	e := testengine.Start(t)
	d := &deployment{t: t, regions: regions[:n], wire: newMeter(t, e), link: newMeter(t, e), others: map[string]*ddbstore.Store{}}
	id := tables.Add(1)
	name := func(table string) string { return fmt.Sprintf("%s-%d", table, id) }
	for _, region := range d.regions {
		c := e.Client(region)
		if err := ddbstore.CreateTables(t.Context(), c, name("buckets"), name("config")); err != nil {
			t.Fatal(err)
		}
		if n > 1 {
			stream(t, c, name("buckets"))
		}
		d.others[region] = ddbstore.New(c, name("buckets"), region)
	}
	if err := ddbstore.CreateStrictTable(t.Context(), e.Client(regions[0]), name("strict")); err != nil {
		t.Fatal(err)
	}
	delete(d.others, regions[0])
	endpoint := d.wire.Endpoint()
	c := ddbstore.NewClient(aws.Config{Region: regions[0], Credentials: testengine.Credentials, BaseEndpoint: &endpoint}, func(o *dynamodb.Options) {
		o.HTTPClient = onewrite.Client{Next: awshttp.NewBuildableClient().Freeze()} // the machine may be busy
	})
	d.store, d.strict = ddbstore.New(c, name("buckets"), regions[0]), ddbstore.NewStrict(c, name("strict"))
	if n > 1 {
		d.replicate(name("buckets"))
	}
	return d
}

// stream gives a table the stream that replication reads.
func stream(t *testing.T, c *dynamodb.Client, table string) {
	t.Helper()
	_, err := c.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{
		TableName: &table,
		StreamSpecification: &types.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (d *deployment) replicate(table string) {
	d.t.Helper()
	r, err := replicator.New(d.t.Context(), replicator.Options{
		Endpoint: d.link.Endpoint(), Table: table, Regions: d.regions, Poll: 5 * time.Millisecond,
	})
	if err != nil {
		d.t.Fatal(err)
	}
	d.replicator = r
	ctx, cancel := context.WithCancel(d.t.Context())
	done := make(chan error)
	go func() { done <- r.Run(ctx) }()
	d.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			d.t.Error(err)
		}
	})
}

// settle waits until everything written has arrived everywhere.
func (d *deployment) settle() {
	d.t.Helper()
	if d.replicator == nil {
		return
	}
	if err := d.replicator.Drain(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
}

// measure returns the bill of what do does: in this Region, and for replication
// in the others. What was written before is not part of it.
func (d *deployment) measure(do func()) (here, elsewhere bill) {
	d.t.Helper()
	d.settle()
	d.wire.take()
	d.link.take()
	do()
	d.settle()
	return d.wire.take(), d.link.take()
}
