package ddbstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"weir/pkg/bucket"
)

// maxSwaps bounds the writes of one Rescale. Each may lose to a charge made since
// the row was seen; a row that is charged n times a second loses one in about
// 1/n of a second divided by the round trip.
const maxSwaps = 6

// Row returns the Store's own row of the bucket, and whether there is one. It is
// a strongly consistent read: one read unit for up to 4 KB. A row that has
// expired but was not removed yet is one.
func (s *Store) Row(ctx context.Context, key string) (bucket.Row, bool, error) {
	row, found, _, err := s.get(ctx, key)
	if err != nil {
		return bucket.Row{}, false, fmt.Errorf("read row: %w", err)
	}
	return row, found, nil
}

// Rescale brings the Store's row of the bucket to another limit, with the
// semantics of c.Apply. The Outcome's Status is Charged if the row was changed,
// Outdated if there was nothing to do, and 0 if there is no row, or one that has
// expired; a bucket without one is full under any limit. The Row is as written or
// as found.
//
// It takes two round trips, and another for every charge that comes in between.
// After a few of those it ends in ErrConflict: nothing was written, and processes
// that charge the bucket under the new version do the same themselves. After
// ErrUnavailable or the end of ctx the row may have been changed. To repeat a
// Rescale is harmless.
func (s *Store) Rescale(ctx context.Context, key string, c bucket.Rescale) (bucket.Outcome, error) {
	out := bucket.Outcome{Calls: 1}
	row, found, expiry, err := s.get(ctx, key)
	if err != nil {
		return out, fmt.Errorf("rescale bucket: %w", err)
	}
	var pauses backoff
	for tries := 0; tries < maxSwaps; tries++ {
		if out.Row = row; !found || expiry != 0 && c.Now/1e9 > expiry {
			return out, nil
		}
		after, changes := c.Apply(row)
		if !changes {
			out.Status = bucket.Outdated
			return out, nil
		}
		pauses.begin(ctx)
		a, err := s.attempt(ctx, s.swap(key, row, after, max(expiry, c.Expiry(after))))
		out.Calls++
		out.Units += a.units
		switch {
		case errors.Is(err, ErrConflict):
			if !pauses.pause(ctx) {
				return out, fmt.Errorf("rescale bucket, %d attempts: %w", out.Calls-1, err)
			}
			continue
		case err != nil:
			return out, fmt.Errorf("rescale bucket: %w", err)
		case a.written:
			out.Status, out.Row = bucket.Charged, a.row
			return out, nil
		}
		row, found, expiry = a.row, a.found, a.expiry
	}
	return out, fmt.Errorf("rescale bucket: %w after %d attempts", ErrConflict, maxSwaps)
}

// get reads the Store's row of the bucket as it is now.
func (s *Store) get(ctx context.Context, key string) (row bucket.Row, found bool, expiry int64, err error) {
	consistent := true
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.table, Key: primaryKey(bucketKey(key), s.row), ConsistentRead: &consistent,
	}, reconnecting)
	switch {
	case err != nil:
		return row, false, 0, classify(ctx, s.table, err)
	case out.Item == nil:
		return bucket.Row{Region: s.row}, false, 0, nil
	}
	row, expiry, err = storedRow(out.Item)
	return row, err == nil, expiry, err
}
