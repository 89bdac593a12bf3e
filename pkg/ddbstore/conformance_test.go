package ddbstore_test

import (
	"net"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"weir/internal/limiter"
	"weir/internal/storetest"
	"weir/internal/testengine"
	"weir/pkg/ddbstore"
)

const (
	buckets = "weir-buckets"
	config  = "weir-config"
	region  = "eu-west-1" // of the table; rows may be of any
)

// tables creates the tables, once, and returns the engine that has them.
func tables(t *testing.T) *testengine.Engine {
	t.Helper()
	e := testengine.Start(t)
	createOnce.Do(func() {
		createErr = ddbstore.CreateTables(t.Context(), e.Client(region), buckets, config)
	})
	if createErr != nil {
		t.Fatal(createErr)
	}
	return e
}

var (
	createOnce sync.Once
	createErr  error
)

// client returns a client as a function has it, for the given endpoint.
func client(endpoint string, options ...func(*dynamodb.Options)) *dynamodb.Client {
	return ddbstore.NewClient(aws.Config{
		Region:       region,
		Credentials:  testengine.Credentials,
		BaseEndpoint: &endpoint,
	}, options...)
}

// nobody returns the address of a port that nobody listens on.
func nobody(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

func TestConformance(t *testing.T) {
	e := tables(t)
	behind := func(f testengine.Fault) func(*testing.T) limiter.Store {
		return func(t *testing.T) limiter.Store {
			p := e.Proxy(t)
			p.Set(f)
			return ddbstore.New(client(p.Endpoint()), buckets, region)
		}
	}
	storetest.Run(t, storetest.Harness{
		Open: func(_ *testing.T, region string) limiter.Store {
			return ddbstore.New(client(e.Endpoint(), patient), buckets, region)
		},
		Throttled: behind(testengine.Throttle),
		Stalled:   behind(testengine.Stall),
		Gone: func(t *testing.T) limiter.Store {
			return ddbstore.New(client(nobody(t)), buckets, region)
		},
	})
}
