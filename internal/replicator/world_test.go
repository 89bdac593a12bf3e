package replicator

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"weir/internal/testengine"
)

const (
	dublin   = "eu-west-1"
	virginia = "us-east-1"
	tokyo    = "ap-northeast-1"
)

var regions = []string{dublin, virginia, tokyo}

// world is a table in three Regions and its replicator, running.
type world struct {
	*Replicator
	t      *testing.T
	table  string
	client map[string]*dynamodb.Client
}

var tables struct {
	sync.Mutex
	n int
}

func start(t *testing.T, o Options) *world {
	t.Helper()
	e := testengine.Start(t)
	tables.Lock()
	tables.n++
	w := &world{t: t, table: fmt.Sprintf("replicated-%d", tables.n), client: map[string]*dynamodb.Client{}}
	tables.Unlock()
	for _, region := range regions {
		w.client[region] = e.Client(region)
		create(t, w.client[region], w.table, true)
	}
	if o.Endpoint == "" {
		o.Endpoint = e.Endpoint()
	}
	o.Table, o.Regions = w.table, regions
	o.Poll = 10 * time.Millisecond
	r, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	w.Replicator = r
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return w
}

func create(t *testing.T, c *dynamodb.Client, table string, stream bool) {
	t.Helper()
	in := &dynamodb.CreateTableInput{
		TableName:   &table,
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	}
	if stream {
		in.StreamSpecification = &types.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages,
		}
	}
	_, err := c.CreateTable(t.Context(), in)
	var exists *types.ResourceInUseException // says the second attempt of a call whose answer was lost
	if err != nil && !errors.As(err, &exists) {
		t.Fatal(err)
	}
}

func key(pk, sk string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: sk},
	}
}

// add adds n to an item's count, and returns what it came to.
func (w *world) add(region, pk, sk string, n int) int {
	w.t.Helper()
	out, err := w.client[region].UpdateItem(w.t.Context(), &dynamodb.UpdateItemInput{
		TableName: &w.table, Key: key(pk, sk),
		UpdateExpression: aws.String("ADD #n :n"), ReturnValues: types.ReturnValueAllNew,
		ExpressionAttributeNames:  map[string]string{"#n": "spent"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":n": number64(n)},
	})
	if err != nil {
		w.t.Error(err)
		return 0
	}
	return count(out.Attributes)
}

func number64(n int) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.Itoa(n)}
}

// count returns an item's count; -1 if there is no item.
func count(item map[string]types.AttributeValue) int {
	v, ok := item["spent"].(*types.AttributeValueMemberN)
	if !ok {
		return -1
	}
	n, err := strconv.Atoi(v.Value)
	if err != nil {
		return -2
	}
	return n
}

func (w *world) get(region, pk, sk string) map[string]types.AttributeValue {
	w.t.Helper()
	out, err := w.client[region].GetItem(w.t.Context(), &dynamodb.GetItemInput{TableName: &w.table, Key: key(pk, sk)})
	if err != nil {
		w.t.Fatal(err)
	}
	return out.Item
}

func (w *world) remove(region, pk, sk string) {
	w.t.Helper()
	_, err := w.client[region].DeleteItem(w.t.Context(), &dynamodb.DeleteItemInput{TableName: &w.table, Key: key(pk, sk)})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) drain() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 30*time.Second)
	defer cancel()
	if err := w.Drain(ctx); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) want(pk, sk string, want int) {
	w.t.Helper()
	for _, region := range regions {
		if got := count(w.get(region, pk, sk)); got != want {
			w.t.Errorf("%s %s in %s: %d, want %d", pk, sk, region, got, want)
		}
	}
}
