package ddbstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// sweepAPI is what Sweep needs of a client.
type sweepAPI interface {
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
}

// Sweep removes the rows of a strict table whose ttl lies before now (ns since
// the Unix epoch), and returns how many it removed. It does what DynamoDB does
// by itself where it can: a table with multi-Region strong consistency cannot
// have a TTL. Rows that nobody removes change no decision; they take space.
//
// It reads the whole table, for half a read unit per 4 KB, and writes a unit for
// each row it removes. A row that is charged meanwhile stays. One Region is to
// do it, about once a day. It can end at any point, by error or by ctx, and be
// begun again.
func Sweep(ctx context.Context, client sweepAPI, table string, now int64) (removed int, err error) {
	in := &dynamodb.ScanInput{
		TableName:                 &table,
		FilterExpression:          aws.String("#ttl < :now"),
		ProjectionExpression:      aws.String("pk, sk, #ttl"),
		ExpressionAttributeNames:  map[string]string{"#ttl": attrTTL},
		ExpressionAttributeValues: item{":now": num(now / 1e9)},
	}
	for {
		out, err := client.Scan(ctx, in, reconnecting)
		if err != nil {
			return removed, fmt.Errorf("sweep: %w", classify(ctx, table, err))
		}
		for _, it := range out.Items {
			gone, err := sweepRow(ctx, client, table, it)
			if err != nil {
				return removed, fmt.Errorf("sweep: %w", err)
			}
			if gone {
				removed++
			}
		}
		if len(out.LastEvaluatedKey) == 0 {
			return removed, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// sweepRow removes a row unless it has been charged since it was read.
func sweepRow(ctx context.Context, client sweepAPI, table string, it item) (bool, error) {
	_, err := client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                 &table,
		Key:                       item{partitionKey: it[partitionKey], sortKey: it[sortKey]},
		ConditionExpression:       aws.String("#ttl = :ttl"),
		ExpressionAttributeNames:  map[string]string{"#ttl": attrTTL},
		ExpressionAttributeValues: item{":ttl": it[attrTTL]},
	}, reconnecting)
	if err == nil {
		return true, nil
	}
	if _, charged := errors.AsType[*types.ConditionalCheckFailedException](err); charged {
		return false, nil
	}
	if err = classify(ctx, table, err); errors.Is(err, ErrConflict) {
		return false, nil // it is being charged
	}
	return false, err
}
