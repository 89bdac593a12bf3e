package limiter

import (
	"context"

	"weir/pkg/bucket"
)

// Store keeps rows. A refusal is an Outcome; an error means that the store could
// not tell, and wraps one of ErrThrottled, ErrUnavailable or a context error.
type Store interface {
	// Charge applies c to this Region's row of the bucket, atomically.
	Charge(ctx context.Context, key string, c bucket.Charge) (bucket.Outcome, error)

	// Rows returns the rows of all Regions as this Region's replica has them,
	// in no order; a bucket without rows is an empty slice.
	Rows(ctx context.Context, key string) ([]bucket.Row, error)
}
