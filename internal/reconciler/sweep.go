package reconciler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"weir/pkg/ddbstore"
)

const (
	// sweepID is the job that says when the strict table was last swept.
	sweepID = "~sweep"

	sweepEvery = int64(24 * time.Hour)
	sweepAgain = int64(10 * time.Minute) // after one that did not come to its end
)

// sweepStrict removes the expired rows of the strict table, about once a day, and
// returns how many there were. One that runs out of time is begun again.
func (r *Reconciler) sweepStrict(ctx context.Context, now int64) (removed int, err error) {
	if r.sweep == nil {
		return 0, nil
	}
	job, err := r.readJob(ctx, sweepID)
	switch {
	case err != nil:
		return 0, err
	case job.Finished != 0 && now-job.Finished < sweepEvery, job.Finished == 0 && now-job.Started < sweepAgain:
		return 0, nil
	}
	job = ddbstore.Job{Region: r.region, ID: sweepID, Started: now, Updated: now, Version: job.Version}
	if job, err = r.config.PutJob(ctx, job); err != nil {
		if errors.Is(err, ddbstore.ErrConflict) {
			return 0, nil // somebody else does it
		}
		return 0, err
	}
	removed, err = r.sweep(ctx, now)
	if err != nil {
		return removed, fmt.Errorf("%d rows removed: %w", removed, err)
	}
	job.Updated, job.Changed = r.now(), int64(removed)
	job.Finished = job.Updated
	_, err = r.config.PutJob(ctx, job)
	return removed, err
}
