package reconciler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"weir/internal/directory"
	"weir/internal/plan"
	"weir/pkg/ddbstore"
)

// pageSize is how many tenants of a plan are brought to it before that is saved.
// It is what is looked at twice when a process ends in the middle.
const pageSize = 200

// jobs is what a fan-out needs of the config table.
type jobs interface {
	TenantsOn(ctx context.Context, plan, after string, most int) (ddbstore.Page, error)
	Job(ctx context.Context, region, id string) (ddbstore.Job, error)
	PutJob(ctx context.Context, j ddbstore.Job) (ddbstore.Job, error)
	Jobs(ctx context.Context, region string) ([]ddbstore.Job, error)
}

// errUnfinished: there was no time for all of it. How far it got is saved.
var errUnfinished = errors.New("not finished yet")

// plan brings the rows of all tenants on a plan to what it says now, and returns
// since when that holds; 0 if it was done already. A plan has one job in each
// Region: a newer version of the plan takes it over and begins again.
func (r *Reconciler) plan(ctx context.Context, name string) (Tally, int64, error) {
	var done Tally
	for {
		p, err := r.readPlan(ctx, name)
		if errors.Is(err, directory.ErrNotFound) {
			r.log.Warn("plan is gone", "plan", name)
			return done, 0, nil
		}
		if err != nil {
			return done, 0, fmt.Errorf("plan %s: %w", name, err)
		}
		stamp := stampOf(p, r.now())
		job, err := r.job(ctx, name, stamp)
		if err != nil {
			return done, 0, fmt.Errorf("plan %s: %w", name, err)
		}
		if job.Stamp > stamp || job.Finished != 0 {
			return done, 0, nil
		}
		n, newer, err := r.fanOut(ctx, p, job)
		done.add(n)
		if err != nil {
			return done, 0, fmt.Errorf("plan %s: %w", name, err)
		}
		if !newer {
			return done, plan.Since(p, plan.Tenant{}, r.now()), nil
		}
	}
}

// stampOf returns the stamp of what a plan says now: that of its last change, and
// the odd number after it once its scheduled change is in force.
func stampOf(p *plan.Plan, now int64) int64 {
	if p.Next.InForce(now) {
		return p.Stamp | 1 // stamps are even
	}
	return p.Stamp
}

// job returns the job of a plan as it is to be gone on with: a new one if the last
// was for an older version.
func (r *Reconciler) job(ctx context.Context, name string, stamp int64) (job ddbstore.Job, err error) {
	job, err = r.readJob(ctx, name)
	if err == nil && (job.Version == 0 || job.Stamp < stamp) {
		job = ddbstore.Job{Region: r.region, ID: name, Plan: name, Stamp: stamp, Started: r.now(), Version: job.Version}
	}
	return job, err
}

// readJob returns a job of this Region, of Version 0 if there is none.
func (r *Reconciler) readJob(ctx context.Context, id string) (job ddbstore.Job, err error) {
	err = r.pace.try(ctx, func() (err error) { job, err = r.config.Job(ctx, r.region, id); return err })
	if errors.Is(err, ddbstore.ErrNotFound) {
		return ddbstore.Job{}, nil
	}
	return job, err
}

// fanOut goes through the tenants of a plan from where the job is. It ends early,
// and says so, when the plan has a newer version.
func (r *Reconciler) fanOut(ctx context.Context, p *plan.Plan, job ddbstore.Job) (done Tally, newer bool, err error) {
	for {
		var page ddbstore.Page
		err := r.pace.try(ctx, func() (err error) {
			page, err = r.config.TenantsOn(ctx, p.Name, job.Cursor, r.page)
			return err
		})
		if err != nil {
			return done, false, err
		}
		n, seen, bringing := r.bringAll(ctx, p, page.IDs)
		done.add(n)
		job.Changed += n.Changed
		job.Skipped += n.Skipped
		if bringing == nil { // else they are counted when they are tried again
			job.Failed += n.Failed
		}
		if job, err = r.save(ctx, job, page, seen); err != nil {
			return done, false, errors.Join(bringing, err)
		}
		if bringing != nil || job.Finished != 0 {
			return done, false, bringing
		}
		now, err := r.readPlan(ctx, p.Name)
		if err != nil {
			return done, false, err
		}
		if stampOf(now, r.now()) > job.Stamp {
			return done, true, nil
		}
	}
}

// saveTime is what it may take to save how far a job has got when its time is
// over; shift leaves more.
const saveTime = 3 * time.Second

// save moves a job on by seen tenants of a page, and finishes it with the last.
func (r *Reconciler) save(ctx context.Context, job ddbstore.Job, page ddbstore.Page, seen int) (ddbstore.Job, error) {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), saveTime)
		defer cancel()
	}
	job.Seen += int64(seen)
	job.Updated = r.now()
	switch {
	case seen == len(page.IDs):
		if job.Cursor = page.Next; page.Next == "" {
			job.Finished = job.Updated
		}
	case seen > 0:
		job.Cursor = page.IDs[seen-1]
	}
	err := r.pace.try(ctx, func() error {
		saved, err := r.config.PutJob(ctx, job)
		if err == nil {
			job = saved
		}
		return err
	})
	return job, err
}

// bringAll brings tenants to a plan, and returns how many of them, from the first
// on, are dealt with.
func (r *Reconciler) bringAll(ctx context.Context, p *plan.Plan, ids []string) (sum Tally, done int, err error) {
	var mu sync.Mutex
	done, failed, err := r.forAll(ctx, r.log.With("plan", p.Name), ids, func(id string) error {
		n, err := r.bringOne(ctx, p, id)
		mu.Lock()
		defer mu.Unlock()
		sum.add(n)
		return err
	}, func(err error) bool { return errors.Is(err, directory.ErrInvalid) })
	sum.Failed = failed
	return sum, done, err
}

// forAll calls f for tenants, several at a time, and returns how many of them, from
// the first on, are dealt with. One that f fails for is counted and reported, and
// left to the next round; if it is most of them and the fault is not theirs, none
// is dealt with and that is the error.
func (r *Reconciler) forAll(ctx context.Context, log *slog.Logger, ids []string, f func(id string) error, theirs func(error) bool) (done int, failed int64, err error) {
	var mu sync.Mutex
	var first error
	done, err = r.pace.each(ctx, len(ids), func(i int) bool {
		err := r.safely("tenant", func() error { return f(ids[i]) })
		switch {
		case err == nil:
			return true
		case ctx.Err() != nil:
			return false
		}
		log.Error("tenant left out", "tenant", ids[i], "error", err)
		mu.Lock()
		defer mu.Unlock()
		failed++
		if first == nil {
			first = err
		}
		return true
	})
	switch {
	case err != nil || done < len(ids):
		return done, failed, fmt.Errorf("%w: %w", errUnfinished, context.Cause(ctx))
	case 2*int(failed) > len(ids) && !theirs(first):
		return 0, failed, first
	}
	return done, failed, nil
}

// bringOne brings a tenant to a plan that it is said to be on.
func (r *Reconciler) bringOne(ctx context.Context, p *plan.Plan, id string) (Tally, error) {
	t, err := r.readTenant(ctx, id)
	switch {
	case errors.Is(err, directory.ErrNotFound):
		return Tally{}, nil // listed before it is there: its own record is on its way
	case err != nil:
		return Tally{}, err
	case t.Plan != p.Name:
		return Tally{}, nil // moved: its own record says so
	}
	return r.bring(ctx, p, t)
}
