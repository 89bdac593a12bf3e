package limiter

import (
	"context"

	"weir/pkg/bucket"
)

// Store keeps rows. A refusal is an Outcome; an error means that the store could
// not tell, and wraps ErrThrottled, ErrUnavailable, ErrConflict or the error of
// the context. Implementations are safe for concurrent use, and pass the suite
// in internal/storetest.
//
// A Store reads no clock: Charge.Now is the only time it knows, so all processes
// of a Region are assumed to share one clock, give or take what Charge.Apply
// makes of a Now that lies before the row's At.
//
// The Seen map of a Row that a Store returned, and of a Fold given to one, may
// be shared: it must not be changed.
type Store interface {
	// Charge applies c to this Region's row of the bucket, atomically, with the
	// semantics of c.Apply. A charge that no row could take, because Inc plus
	// the fold's Delta exceed the limit's depth, may be Refused without looking:
	// the Outcome's Row is then c.Known, or only names the Region.
	//
	// With an error, Calls and Units still say what the attempts cost.
	Charge(ctx context.Context, key string, c bucket.Charge) (bucket.Outcome, error)

	// Rows returns the rows of all Regions as this Region's replica has them,
	// in no order; a bucket without rows is an empty slice. Rows that have
	// expired but not been removed yet are among them.
	Rows(ctx context.Context, key string) ([]bucket.Row, error)
}
