package reconciler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"weir/pkg/ddbstore"
)

const (
	// runTime is less than a minute, so that one scheduled run is over when the
	// next begins; jobTime leaves the other tasks their part of it.
	runTime = 50 * time.Second
	jobTime = 25 * time.Second

	// abandoned is how long nobody has saved a job that is not finished before the
	// schedule takes it up.
	abandoned = int64(time.Minute)
)

// Report is what a scheduled run has found and done.
type Report struct {
	Region string                   `json:"region"`
	Home   string                   `json:"home"`            // "" if nothing has been written yet
	Lag    map[string]time.Duration `json:"lagNs,omitempty"` // by which other Regions' writes are late here
	Cut    []string                 `json:"cut,omitempty"`   // other Regions that are not heard
	Rows   int64                    `json:"rows"`            // looked at by the last full round
	Drift  int64                    `json:"drift"`           // of those, not what the configuration says
	Jobs   int                      `json:"jobs"`            // unfinished ones that were gone on with
	Round  Round                    `json:"round"`           // what was done of one
	Done   []string                 `json:"rollouts,omitempty"`
	Swept  int                      `json:"swept"`            // expired rows of the strict table removed
	Failed []string                 `json:"failed,omitempty"` // tasks that could not be done
}

// schedule does what is to be done from time to time. A task that fails keeps
// none of the others from being done, unless it is the first, without which
// nothing is known; then the answer is the error of all that failed.
func (r *Reconciler) schedule(ctx context.Context) (Report, error) {
	ctx, cancel := context.WithTimeout(ctx, runTime)
	defer cancel()
	now := r.now()
	out := Report{Region: r.region}
	home, err := r.config.Home(ctx)
	var beat ddbstore.Heartbeat
	if err == nil {
		out.Home = home
		beat, err = r.beat(ctx, now)
	}
	if err != nil {
		return out, fmt.Errorf("reconciler: the config table cannot be used: %w: check WEIR_CONFIG_TABLE, the Region and the role", err)
	}
	out.take(beat)

	var errs []error
	task := func(name string, do func() error) {
		if err := r.safely(name, do); err != nil {
			out.Failed = append(out.Failed, name)
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
			r.log.Error("task not done", "task", name, "error", err)
		}
	}
	task("presence", func() error { return r.idle(ctx, now) })
	task("jobs", func() (err error) { out.Jobs, err = r.resume(ctx, now); return err })
	if home == r.region {
		task("rollouts", func() (err error) { out.Done, err = r.rollouts(ctx, now); return err })
	}
	task("round", func() (err error) { out.Round, err = r.round(ctx, now, home == r.region); return ours(err) })
	if home == r.region {
		task("sweep", func() (err error) { out.Swept, err = r.sweepStrict(ctx, now); return ours(err) })
	}
	r.observe.Scheduled(out)
	r.log.Info("scheduled run", "report", out)
	if len(errs) > 0 {
		return out, fmt.Errorf("reconciler: %w", errors.Join(errs...))
	}
	return out, nil
}

// take fills in what the heartbeat says.
func (out *Report) take(h ddbstore.Heartbeat) {
	out.Cut, out.Rows, out.Drift = h.Cut, h.Rows, h.Drift
	for region, lag := range h.Lag {
		if out.Lag == nil {
			out.Lag = make(map[string]time.Duration)
		}
		out.Lag[region] = time.Duration(lag)
	}
}

// ours leaves out what is no failure: that there was no time for all of it, or
// that another process did it.
func ours(err error) error {
	if errors.Is(err, errUnfinished) || errors.Is(err, ddbstore.ErrConflict) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// resume goes on with the jobs that a process left unfinished.
func (r *Reconciler) resume(ctx context.Context, now int64) (n int, err error) {
	ctx, cancel := context.WithTimeout(ctx, jobTime)
	defer cancel()
	all, err := r.config.Jobs(ctx, r.region)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, j := range all {
		if j.Plan == "" || j.Finished != 0 || now-j.Updated < abandoned || ctx.Err() != nil {
			continue
		}
		n++
		if err := r.apply(ctx, change{planChange, j.Plan}); ours(err) != nil {
			errs = append(errs, err)
		}
	}
	return n, errors.Join(errs...)
}
