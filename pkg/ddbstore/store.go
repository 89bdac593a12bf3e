package ddbstore

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"weir/internal/limiter"
	"weir/pkg/bucket"
)

var _ limiter.Store = (*Store)(nil)

// rowsAPI is what a Store needs of a client.
type rowsAPI interface {
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

// Store keeps the rows of buckets in a table, and writes those of one Region, or
// of all if the table is strict. It holds no state of its own and is safe for
// concurrent use.
type Store struct {
	client rowsAPI
	table  string
	row    string // sort key of the rows it writes: the Region they are of
	strict bool   // the table is strongly consistent in all Regions
}

// New returns a Store on the named table that writes the rows of the named
// Region: that in which the process runs, and whose replica client talks to.
// It makes no call.
func New(client rowsAPI, table, region string) *Store {
	return &Store{client: client, table: table, row: region}
}

// Rows returns the rows of all Regions as this Region's replica has them, in no
// order. It costs one eventually consistent Query: half a read unit for up to
// 4 KB, which is about seven Regions. In a strict table there is one row, the
// Query is strongly consistent, and costs a unit.
func (s *Store) Rows(ctx context.Context, key string) ([]bucket.Row, error) {
	in := &dynamodb.QueryInput{
		TableName:                 &s.table,
		ConsistentRead:            &s.strict,
		KeyConditionExpression:    aws.String("pk = :pk"),
		ExpressionAttributeValues: item{":pk": text(bucketKey(key))},
	}
	var rows []bucket.Row
	for {
		out, err := s.client.Query(ctx, in, reconnecting)
		if err != nil {
			return nil, fmt.Errorf("read rows: %w", classify(ctx, s.table, err))
		}
		for _, it := range out.Items {
			row, err := rowOf(it)
			if err != nil {
				return nil, fmt.Errorf("read rows: %w", err)
			}
			rows = append(rows, row)
		}
		if len(out.LastEvaluatedKey) == 0 {
			return rows, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}
