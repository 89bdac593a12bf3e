package ddbstore

import (
	"context"
	"fmt"
	"math"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// configAPI is what a Config needs of a client. One that only reads makes
// GetItem and Query calls, and nothing else of the client is linked then.
type configAPI interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// Config reads and writes plans, tenants and credentials in a table, their
// history, the feed of their changes, and the state of the reconcilers. It holds
// no state of its own and is safe for concurrent use.
//
// Readers are eventually consistent, unless Consistent says otherwise: they may
// miss what was written less than about a second ago. They return ErrNotFound,
// ErrThrottled, ErrUnavailable or the error of the context.
//
// Plans, tenants and credentials are changed by Write, in the home Region only.
// What the reconcilers keep there (jobs, heartbeats, usage) each Region writes
// for itself.
type Config struct {
	client configAPI
	table  string
	region string // of the writer; "" if it has not said
	strong bool   // read consistently
}

// NewConfig returns a Config on the named table. It makes no call.
func NewConfig(client configAPI, table string) *Config {
	return &Config{client: client, table: table}
}

// In returns c as a writer in the named Region, which must be that of the client.
// A writer that does not say where it is can write only as long as no home is
// set.
func (c *Config) In(region string) *Config {
	in := *c
	in.region = region
	return &in
}

// Consistent returns c with strongly consistent readers: they see everything
// written in their Region, and cost twice as much.
func (c *Config) Consistent() *Config {
	strong := *c
	strong.strong = true
	return &strong
}

// get returns an item, or ErrNotFound.
func (c *Config) get(ctx context.Context, pk, sk string) (item, error) {
	out, err := c.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      &c.table,
		Key:            primaryKey(pk, sk),
		ConsistentRead: &c.strong,
	}, reconnecting)
	if err != nil {
		return nil, classify(ctx, c.table, err)
	}
	if out.Item == nil {
		return nil, ErrNotFound
	}
	return out.Item, nil
}

// span is a part of an item collection, in the order of its sort keys.
type span struct {
	pk     string
	prefix string // that the sort keys have; "" is any
	from   string // least sort key, where there is no prefix; "" is any
	after  string // go on after this sort key; "" is from the beginning
	newest bool   // backwards
}

// query returns the first items of a span, at most so many, and the sort key
// after which to go on, "" if there is no more.
func (c *Config) query(ctx context.Context, s span, most int) (items []item, next string, err error) {
	in := &dynamodb.QueryInput{
		TableName:                 &c.table,
		KeyConditionExpression:    aws.String("pk = :pk"),
		ExpressionAttributeValues: item{":pk": text(s.pk)},
		ConsistentRead:            &c.strong,
		ScanIndexForward:          aws.Bool(!s.newest),
	}
	switch {
	case s.prefix != "":
		in.KeyConditionExpression = aws.String("pk = :pk AND begins_with(sk, :sk)")
		in.ExpressionAttributeValues[":sk"] = text(s.prefix)
	case s.from != "":
		in.KeyConditionExpression = aws.String("pk = :pk AND sk >= :sk")
		in.ExpressionAttributeValues[":sk"] = text(s.from)
	}
	if s.after != "" {
		in.ExclusiveStartKey = primaryKey(s.pk, s.after)
	}
	for {
		in.Limit = aws.Int32(int32(min(most-len(items), math.MaxInt32))) //nolint:gosec // bounded here
		out, err := c.client.Query(ctx, in, reconnecting)
		if err != nil {
			return nil, "", classify(ctx, c.table, err)
		}
		items = append(items, out.Items...)
		if len(out.LastEvaluatedKey) == 0 {
			return items, "", nil
		}
		if len(items) >= most {
			d := decoder{it: out.LastEvaluatedKey}
			next = d.text(sortKey)
			return items, next, d.err
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// checkMost refuses to list nothing.
func checkMost(most int) error {
	if most < 1 {
		return fmt.Errorf("at most %d is nothing: want 1 or more", most)
	}
	return nil
}
