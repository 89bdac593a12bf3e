package ddbstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// configAPI is what a Config needs of a client. An authorizer has permission for
// GetItem only.
type configAPI interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
}

// Config reads and writes plans, tenants and credentials in a table. It holds no
// state of its own and is safe for concurrent use.
//
// The readers are eventually consistent: they cost half a read unit per 4 KB and
// may miss what was written less than about a second ago. They return
// ErrNotFound, ErrThrottled, ErrUnavailable or the error of the context.
//
// The writers replace one version by the next: the Version of what is passed is
// that which the change is based on, 0 to create, and the new one is returned.
// They return ErrConflict if the current version is another. They cost a write
// unit per KB, in every Region of the table. The condition holds within a
// Region; where several Regions write one item, the last one wins, so changes of
// configuration are to be made in one Region.
type Config struct {
	client configAPI
	table  string
}

// NewConfig returns a Config on the named table. It makes no call.
func NewConfig(client configAPI, table string) *Config {
	return &Config{client: client, table: table}
}

// Change says who changed something, why and when.
type Change struct {
	Author string // required
	Reason string
	At     int64 // ns since the Unix epoch
}

// current is the sort key of what holds now. Older versions have room beside it.
const current = "CURRENT"

// Attributes that every item of the configuration has.
const (
	attrVersion = "ver"
	attrAuthor  = "author"
	attrReason  = "reason"
	attrChanged = "changed"
)

// get returns the current item of pk.
func (c *Config) get(ctx context.Context, pk string) (item, error) {
	out, err := c.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &c.table,
		Key:       primaryKey(pk, current),
	}, reconnecting)
	if err != nil {
		return nil, classify(ctx, c.table, err)
	}
	if out.Item == nil {
		return nil, ErrNotFound
	}
	return out.Item, nil
}

// put writes the current item of pk as the version after base, and returns that
// version. It takes over it.
func (c *Config) put(ctx context.Context, pk string, it item, base int64, ch Change) (int64, error) {
	if ch.Author == "" {
		return 0, errors.New("a change needs an author")
	}
	if base < 0 {
		return 0, fmt.Errorf("version %d: want 0 to create, or the version the change is based on", base)
	}
	for name, v := range primaryKey(pk, current) {
		it[name] = v
	}
	it[attrVersion] = num(base + 1)
	it[attrAuthor] = text(ch.Author)
	it[attrReason] = text(ch.Reason)
	it[attrChanged] = num(ch.At)

	in := &dynamodb.PutItemInput{
		TableName:                           &c.table,
		Item:                                it,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if base == 0 {
		in.ConditionExpression = aws.String("attribute_not_exists(pk)")
	} else {
		in.ConditionExpression = aws.String("ver = :base")
		in.ExpressionAttributeValues = item{":base": num(base)}
	}
	_, err := c.client.PutItem(ctx, in, reconnecting)
	var failed *types.ConditionalCheckFailedException
	switch {
	case err == nil:
		return base + 1, nil
	case errors.As(err, &failed):
		if equalItems(failed.Item, it) {
			return base + 1, nil // by an attempt of this call whose answer was lost
		}
		return 0, conflict(failed.Item, base)
	}
	return 0, classify(ctx, c.table, err)
}

// conflict explains why a change based on version base was not made.
func conflict(found item, base int64) error {
	if found == nil {
		return fmt.Errorf("%w: it does not exist, and the change is based on version %d", ErrConflict, base)
	}
	d := decoder{it: found}
	now := d.number(attrVersion)
	if base == 0 {
		return fmt.Errorf("%w: it exists already, at version %d", ErrConflict, now)
	}
	return fmt.Errorf("%w: it is at version %d, changed by %s, and the change is based on version %d", ErrConflict, now, d.text(attrAuthor), base)
}

// change decodes what put has added.
func (d *decoder) change() (version int64, ch Change) {
	return d.number(attrVersion), Change{
		Author: d.text(attrAuthor),
		Reason: d.text(attrReason),
		At:     d.number(attrChanged),
	}
}

// equalItems compares items of the configuration, which hold numbers and strings.
func equalItems(a, b item) bool {
	if len(a) != len(b) {
		return false
	}
	for name := range a {
		switch v := a[name].(type) {
		case *types.AttributeValueMemberS:
			w, ok := b[name].(*types.AttributeValueMemberS)
			if !ok || v.Value != w.Value {
				return false
			}
		case *types.AttributeValueMemberN:
			w, ok := b[name].(*types.AttributeValueMemberN)
			if !ok || v.Value != w.Value {
				return false
			}
		default:
			return false
		}
	}
	return true
}
