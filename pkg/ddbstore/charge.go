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
//
// In a strict table, attempts that another Region's write kept out do not count;
// they have a bound of their own.
const maxCalls = 3

// Charge adds consumption to the Store's row of the bucket in one conditional
// write, with the semantics of c.Apply. It takes one round trip if c.Known is
// not outdated in a way that matters (a full bucket that no longer is, an epoch
// that has ended, another version), two if it is, at most three.
//
// A charge that fits no bucket is Refused without a call; the Outcome's Row is
// then c.Known, or only names the Region.
//
// The request is never repeated unless DynamoDB has said that nothing was
// written. After ErrUnavailable or the end of ctx the charge may have been done.
// With an error the Outcome holds what the attempts cost.
func (s *Store) Charge(ctx context.Context, key string, c bucket.Charge) (bucket.Outcome, error) {
	out := bucket.Outcome{Row: bucket.Row{Region: s.row}}
	known := c.Known != nil
	if known {
		out.Row = *c.Known
	}
	if !fits(c) {
		out.Status = bucket.Refused
		return out, nil
	}
	in := s.charging(key, c, out.Row, known)
	var pauses backoff
	for tries := 0; tries < maxCalls; {
		pauses.begin(ctx)
		a, err := s.attempt(ctx, in)
		out.Calls++
		out.Units += a.units
		switch {
		case errors.Is(err, ErrConflict) && s.strict:
			if !pauses.pause(ctx) {
				return out, fmt.Errorf("charge bucket, %d attempts: %w", out.Calls, err)
			}
			continue
		case errors.Is(err, ErrConflict):
			tries++
			continue
		case err != nil:
			return out, fmt.Errorf("charge bucket: %w", err)
		case a.written:
			out.Status, out.Row = bucket.Charged, a.row
			return out, nil
		}
		tries++
		after, status := c.Apply(a.row, a.found)
		if status != bucket.Charged {
			out.Status, out.Row = status, after // as found: only a charge changes it
			return out, nil
		}
		out.Row = a.row
		in = s.charging(key, c, a.row, a.found)
	}
	return out, fmt.Errorf("charge bucket: %w after %d attempts", ErrConflict, out.Calls)
}

// charging returns the write that makes the charge on row r. If r is of an older
// version, all of it depends on what r is; if it then refuses the charge, r may
// have changed since it was seen, and any form of the charge's version tells.
func (s *Store) charging(key string, c bucket.Charge, r bucket.Row, found bool) *dynamodb.UpdateItemInput {
	if found && c.Rescales(r) {
		if after, status := c.Apply(r, found); status == bucket.Charged {
			return s.swap(key, r, after, c.Expiry())
		}
	}
	f := formOf(c, r, found)
	e := expressions[f]
	return s.update(key, e.update, e.condition, f.names(c.Now), f.values(c))
}

// attempt is what came of one write.
type attempt struct {
	written bool       // else the condition failed, if there is no error
	row     bucket.Row // as written, else as found
	found   bool
	expiry  int64   // of the row as found, s
	units   float64 // billed, also with an error
}

// attempt sends the write, once. An error is one of this package's.
func (s *Store) attempt(ctx context.Context, in *dynamodb.UpdateItemInput) (attempt, error) {
	res, err := s.client.UpdateItem(ctx, in, once)
	if err == nil {
		row, err := rowOf(res.Attributes)
		return attempt{written: true, row: row, found: true, units: writeUnits(res.Attributes)}, err
	}
	failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok {
		err = classify(ctx, s.table, err)
		return attempt{units: unitsOfError(err)}, err
	}
	a := attempt{row: bucket.Row{Region: s.row}, units: writeUnits(failed.Item)}
	if failed.Item == nil {
		return a, nil
	}
	a.found = true
	a.row, a.expiry, err = storedRow(failed.Item)
	return a, err
}

// update returns a conditional write to the Store's row of the bucket.
func (s *Store) update(key, update, condition string, names map[string]string, values item) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName:                           &s.table,
		Key:                                 primaryKey(bucketKey(key), s.row),
		UpdateExpression:                    &update,
		ConditionExpression:                 &condition,
		ExpressionAttributeNames:            names,
		ExpressionAttributeValues:           values,
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
