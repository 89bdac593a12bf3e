package replicator

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// maxFailures bounds the calls for one write that come to nothing known.
const maxFailures = 10

// apply makes w the item in a Region, unless the item there was written later:
// then it reports false.
func (r *Replicator) apply(ctx context.Context, to *region, w write) (bool, error) {
	r.mu.Lock()
	it := to.item(w)
	r.mu.Unlock()
	it.applying.Lock()
	defer it.applying.Unlock()
	for failures := 0; ; {
		r.mu.Lock()
		if it.version >= w.version {
			r.mu.Unlock()
			return false, nil
		}
		c := change{write: w, old: it.image}
		it.busy = true
		r.mu.Unlock()

		err := to.write(ctx, r.o.Table, c)
		var changed *types.ConditionalCheckFailedException
		refused := errors.As(err, &changed)
		if err != nil && !refused {
			if failures++; failures == maxFailures || ctx.Err() != nil {
				return false, fmt.Errorf("apply a write in %s: %w", to.name, err)
			}
		}
		if err != nil { // the stream tells what is there instead, or what came of the call
			now := time.Now().UnixNano()
			if err := r.await(ctx, func() bool { return to.readTo >= now }); err != nil {
				return false, err
			}
		}
		if r.settle(to, it, c, err == nil, refused) {
			return true, nil
		}
	}
}

// settle takes in what the stream showed while c was being applied. It reports
// whether c was: if neither written nor refused is known, the stream says.
func (r *Replicator) settle(to *region, it *item, c change, written, refused bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !written && !refused {
		written = slices.ContainsFunc(it.held, c.same)
	}
	if written {
		it.version, it.image = c.version, c.image
		if !reflect.DeepEqual(c.old, c.image) { // what changes nothing is in no stream
			it.echoes = append(it.echoes, c)
		}
	}
	it.busy = false
	for _, h := range it.held {
		r.take(to, it, h)
	}
	to.held -= len(it.held)
	it.held = nil
	r.wake()
	return written
}

// write makes the change, on condition that there is what it is to replace.
func (reg *region) write(ctx context.Context, table string, c change) error {
	condition, names, values := unchanged(c.key, c.old)
	if c.image == nil {
		_, err := reg.table.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: &table, Key: c.key, ConditionExpression: &condition,
			ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		})
		return err
	}
	_, err := reg.table.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &table, Item: c.image, ConditionExpression: &condition,
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	})
	return err
}
