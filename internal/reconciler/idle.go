package reconciler

import (
	"context"
	"time"

	"weir/internal/limiter"
	"weir/pkg/bucket"
)

// presenceLimit is wide enough for one charge a minute.
var presenceLimit, _ = bucket.NewLimit(bucket.Rate{Count: 1000, Period: time.Second}, 1000) // possible

// idle says that this Region is alive although it has no requests that would say
// so: those for limits with onPartition: share. Without it the Regions that have
// some would hold themselves to their share for as long as this one has none.
func (r *Reconciler) idle(ctx context.Context, now int64) error {
	if len(r.regions) < 2 {
		return nil
	}
	row, found, err := r.rows.Row(ctx, limiter.PresenceKey)
	if err != nil || found && now-row.At <= r.grace {
		return err
	}
	inc, _ := presenceLimit.Charge(1, 0)
	_, err = r.rows.Charge(ctx, limiter.IdleKey, bucket.Charge{Limit: presenceLimit, Now: now, Tokens: 1, Inc: inc})
	return err
}
