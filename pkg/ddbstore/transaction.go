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

// What DynamoDB takes, in bytes.
const (
	maxItem        = 400 << 10
	maxTransaction = 4 << 20
	maxKey         = 2 << 10 // more than key, version and stamp of an item take
)

// transaction is a change of the configuration: made under the next stamp, in the
// home Region, as a whole or not at all.
type transaction struct {
	clock clock
	home  home
	stamp int64 // of the last attempt
}

// action is one item of a transaction.
type action struct {
	write types.TransactWriteItem

	// failed says what it means that its condition does not hold for what was
	// found, nil if nothing was: an error that ends the change, or nil to try once
	// more. It is nil for those without a condition.
	failed func(found item) error
}

// put returns an action without a condition.
func (c *Config) put(it item) action {
	return action{write: types.TransactWriteItem{Put: &types.Put{TableName: &c.table, Item: it}}}
}

// putIf returns one with a condition.
func (c *Config) putIf(it item, condition string, values item, failed func(found item) error) action {
	a := c.put(it)
	a.write.Put.ConditionExpression = &condition
	a.write.Put.ExpressionAttributeValues = values
	a.write.Put.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	a.failed = failed
	return a
}

// transact makes a change. What it consists of is asked for under each stamp that
// is tried.
func (c *Config) transact(ctx context.Context, t *transaction, changes func(stamp int64) []action) error {
	var pauses backoff
	for {
		t.stamp = t.clock.next()
		actions := append([]action{t.home.action(c, t.stamp), t.clock.action(c, t.stamp)}, changes(t.stamp)...)
		again, err := c.attempt(ctx, actions, &pauses)
		if err != nil || !again {
			return err
		}
		if pauses.pause(ctx) {
			continue
		}
		if ctx.Err() != nil {
			return fmt.Errorf("table %q: %w", c.table, ctx.Err())
		}
		return fmt.Errorf("%w: others change the configuration all the time, and this change did not get its turn: try again", ErrConflict)
	}
}

// attempt makes the writes once. It reports whether to try again, because others
// were faster; nothing was written then.
func (c *Config) attempt(ctx context.Context, actions []action, pauses *backoff) (again bool, err error) {
	in := &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String(rand.Text())}
	for _, a := range actions {
		in.TransactItems = append(in.TransactItems, a.write)
	}
	for {
		pauses.begin(ctx)
		_, err = c.client.TransactWriteItems(ctx, in, reconnecting)
		if err == nil {
			return false, nil
		}
		// The connection failed, and the attempt on it is still being worked on: the
		// same token gets its answer.
		if _, busy := errors.AsType[*types.TransactionInProgressException](err); !busy {
			break
		}
		if !pauses.pause(ctx) {
			return false, fmt.Errorf("%w: table %q: %w", ErrUnavailable, c.table, err)
		}
	}
	if canceled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		return c.verdict(actions, canceled)
	}
	return false, classify(ctx, c.table, err)
}

// verdict says what it means that DynamoDB has canceled a transaction. There is a
// reason for each item, but those behind the first that matters may be missing.
func (c *Config) verdict(actions []action, canceled *types.TransactionCanceledException) (again bool, err error) {
	var throttling, other error
	for i, r := range canceled.CancellationReasons {
		switch code := aws.ToString(r.Code); code {
		case "", "None":
		case "TransactionConflict": // another transaction has the item just now
			again = true
		case "ConditionalCheckFailed":
			again = true
			if i < len(actions) && actions[i].failed != nil {
				if err := actions[i].failed(r.Item); err != nil {
					return false, err
				}
			}
		case "ThrottlingError", "ProvisionedThroughputExceeded":
			throttling = throttled(nil, canceled)
		default:
			other = fmt.Errorf("%w: table %q: %s: %s", ErrUnavailable, c.table, code, aws.ToString(r.Message))
		}
	}
	switch {
	case other != nil:
		return false, other
	case throttling != nil:
		return false, throttling
	case !again:
		return false, fmt.Errorf("%w: table %q: %w", ErrUnavailable, c.table, canceled)
	}
	return true, nil
}
