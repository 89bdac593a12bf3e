package ddbstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The state of the reconcilers is in the config table because it has to be in
// every Region, and survive. Each Region writes its own items, without a stamp, a
// history, or a look at where the home is.

// attrOnce tells a write from all others, also from one that says the same.
const attrOnce = "once"

// putVersion makes an item the version after base, 0 to create, and returns that
// version.
func (c *Config) putVersion(ctx context.Context, it item, base int64) (int64, error) {
	if base < 0 {
		return 0, fmt.Errorf("version %d: want 0 to create, or the version it is based on", base)
	}
	once := rand.Text()
	it[attrVersion] = num(base + 1)
	it[attrOnce] = text(once)
	in := &dynamodb.PutItemInput{
		TableName:                           &c.table,
		Item:                                it,
		ConditionExpression:                 aws.String("attribute_not_exists(pk)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if base > 0 {
		in.ConditionExpression = aws.String("ver = :base")
		in.ExpressionAttributeValues = item{":base": num(base)}
	}
	_, err := c.client.PutItem(ctx, in, reconnecting)
	if err == nil {
		return base + 1, nil
	}
	failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok {
		return 0, classify(ctx, c.table, err)
	}
	d := decoder{it: failed.Item}
	if d.text(attrOnce) == once {
		return base + 1, nil // by an attempt of this call whose answer was lost
	}
	return 0, fmt.Errorf("%w: it is at version %d, and this is based on version %d", ErrConflict, d.number(attrVersion), base)
}

// putNewer writes an item unless the one there has a later time in the attribute.
func (c *Config) putNewer(ctx context.Context, it item, attr string) error {
	_, err := c.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                 &c.table,
		Item:                      it,
		ConditionExpression:       aws.String("attribute_not_exists(pk) OR #at <= :at"),
		ExpressionAttributeNames:  map[string]string{"#at": attr},
		ExpressionAttributeValues: item{":at": it[attr]},
	}, reconnecting)
	if _, newer := errors.AsType[*types.ConditionalCheckFailedException](err); err == nil || newer {
		return nil
	}
	return classify(ctx, c.table, err)
}
