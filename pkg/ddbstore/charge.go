package ddbstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"weir/pkg/bucket"
)

// maxCalls bounds the round trips of one charge.
//
// The first may fail because its form was guessed wrongly; then the row that
// DynamoDB returns with the failure says which form is right. A second failure
// means that another process changed the row in between. For one point in time
// a row goes from idle to busy and its epoch from old to current, and neither
// ever goes back, so a third failure takes two such changes between three calls
// (or a rescaled or expired row). Then the charge ends in ErrConflict.
const maxCalls = 3

// Charge adds consumption to this Region's row of the bucket in one conditional
// write, with the semantics of c.Apply. It takes one round trip if c.Known is
// not outdated in a way that matters (a full bucket that no longer is, an epoch
// that has ended), two if it is, at most three.
//
// A charge that fits no bucket is Refused without a call; the Outcome's Row is
// then c.Known, or only names the Region.
//
// The request is never repeated unless DynamoDB has said that nothing was
// written. After ErrUnavailable or the end of ctx the charge may have been done.
// With an error the Outcome holds what the attempts cost.
func (s *Store) Charge(ctx context.Context, key string, c bucket.Charge) (bucket.Outcome, error) {
	out := bucket.Outcome{Row: bucket.Row{Region: s.region}}
	known := c.Known != nil
	if known {
		out.Row = *c.Known
	}
	if !fits(c) {
		out.Status = bucket.Refused
		return out, nil
	}
	f := formOf(c, out.Row, known)
	for out.Calls < maxCalls {
		out.Calls++
		res, err := s.client.UpdateItem(ctx, s.update(key, c, f), once)
		if err == nil {
			out.Units += writeUnits(res.Attributes)
			if out.Row, err = rowOf(res.Attributes); err != nil {
				return out, fmt.Errorf("charge bucket: %w", err)
			}
			out.Status = bucket.Charged
			return out, nil
		}
		var failed *types.ConditionalCheckFailedException
		if !errors.As(err, &failed) {
			err = classify(ctx, s.table, err)
			out.Units += unitsOfError(err)
			if errors.Is(err, ErrConflict) {
				continue
			}
			return out, fmt.Errorf("charge bucket: %w", err)
		}
		out.Units += writeUnits(failed.Item)
		found := failed.Item != nil
		row := bucket.Row{Region: s.region}
		if found {
			if row, err = rowOf(failed.Item); err != nil {
				return out, fmt.Errorf("charge bucket: %w", err)
			}
		}
		after, status := c.Apply(row, found)
		if status != bucket.Charged {
			out.Status, out.Row = status, after // as found: only a charge changes it
			return out, nil
		}
		out.Row = row
		f = formOf(c, row, found)
	}
	return out, fmt.Errorf("charge bucket: %w after %d attempts", ErrConflict, out.Calls)
}

func (s *Store) update(key string, c bucket.Charge, f form) *dynamodb.UpdateItemInput {
	e := expressions[f]
	return &dynamodb.UpdateItemInput{
		TableName:                           &s.table,
		Key:                                 primaryKey(bucketKey(key), s.region),
		UpdateExpression:                    &e.update,
		ConditionExpression:                 &e.condition,
		ExpressionAttributeNames:            aliases,
		ExpressionAttributeValues:           f.values(c),
		ReturnValues:                        types.ReturnValueAllNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}

// unitsOfError returns what an attempt that ended in err is taken to have cost:
// a throttled one nothing, one whose end is unknown a unit.
func unitsOfError(err error) float64 {
	if errors.Is(err, ErrThrottled) {
		return 0
	}
	return 1
}
