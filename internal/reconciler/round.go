package reconciler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"weir/internal/directory"
	"weir/internal/plan"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// list is what a round needs of the config table, besides its job.
type list interface {
	Tenants(ctx context.Context, after string, most int) (ddbstore.Page, error)
	Credential(ctx context.Context, h ddbstore.Hash) (ddbstore.Credential, error)
	CredentialsOf(ctx context.Context, tenant string) ([]ddbstore.Credential, error)
}

const (
	// roundID is the job that says how far the round has got. No plan has a tilde.
	roundID = "~round"

	// roundEvery is how often a round begins. It is half of what a round may take,
	// so that it has an hour even if every other one is late.
	roundEvery = int64(30 * time.Minute)

	// sliceTime and slicePages bound what a scheduled run does of a round.
	sliceTime  = 20 * time.Second
	slicePages = 100

	// settle is how long a change has before a row that it has not reached is drift.
	settle = int64(5 * time.Minute)
)

// Round is what a scheduled run has done of a round: a walk over all tenants that
// compares their rows in this Region with the configuration.
type Round struct {
	Tenants  int64 `json:"tenants"`
	Rows     int64 `json:"rows"`
	Drift    int64 `json:"drift"`   // rows that were not what they should be, and now are
	Booked   int64 `json:"booked"`  // tenants whose usage has grown
	Expired  int64 `json:"expired"` // credentials closed
	Failed   int64 `json:"failed"`  // tenants that nothing could be done for
	Finished bool  `json:"finished"`

	// Took is how long the round took from its beginning to its end, if it is
	// Finished.
	Took time.Duration `json:"tookNs,omitempty"`
}

// round does a slice of the round that is under way, or begins the next when it is
// time. home is whether this is the home Region.
func (r *Reconciler) round(ctx context.Context, now int64, home bool) (out Round, err error) {
	ctx, cancel := context.WithTimeout(ctx, sliceTime)
	defer cancel()
	job, err := r.readJob(ctx, roundID)
	switch {
	case err != nil:
		return out, err
	case job.Finished != 0 && now-job.Started < roundEvery:
		return out, nil
	case job.Finished != 0 || job.Version == 0:
		job = ddbstore.Job{Region: r.region, ID: roundID, Started: now, Version: job.Version}
	}
	v := visitor{Reconciler: r, home: home, plans: map[string]*plan.Plan{}}
	for range r.slice {
		page, err := r.config.Tenants(ctx, job.Cursor, r.page)
		if err != nil {
			return out, err
		}
		n, seen, visiting := v.visitAll(ctx, page.IDs)
		out.add(n)
		job.Changed += n.Drift
		job.Skipped += n.Rows - n.Drift
		if visiting == nil { // else they are counted when they are tried again
			job.Failed += n.Failed
		}
		if job, err = r.save(ctx, job, page, seen); err != nil {
			return out, errors.Join(visiting, err)
		}
		if job.Finished != 0 {
			out.Finished, out.Took = true, time.Duration(job.Finished-job.Started)
		}
		if visiting != nil || out.Finished {
			return out, visiting
		}
	}
	return out, nil
}

func (r *Round) add(o Round) {
	r.Tenants += o.Tenants
	r.Rows += o.Rows
	r.Drift += o.Drift
	r.Booked += o.Booked
	r.Expired += o.Expired
	r.Failed += o.Failed
}

// visitor visits tenants during one slice, and remembers their plans for as long.
type visitor struct {
	*Reconciler
	home bool

	mu    sync.Mutex
	plans map[string]*plan.Plan
}

// visitAll visits tenants, and returns how many of them, from the first on, are
// dealt with.
func (v *visitor) visitAll(ctx context.Context, ids []string) (sum Round, done int, err error) {
	var mu sync.Mutex
	done, failed, err := v.forAll(ctx, v.log, ids, func(id string) error {
		n, err := v.visit(ctx, id)
		mu.Lock()
		defer mu.Unlock()
		sum.add(n)
		return err
	}, func(err error) bool { return !errors.Is(err, ddbstore.ErrUnavailable) })
	sum.Tenants, sum.Failed = int64(done), failed
	return sum, done, err
}

// visit compares the rows of a tenant with the configuration and puts them right,
// books what was spent, and closes expired credentials.
func (v *visitor) visit(ctx context.Context, id string) (n Round, err error) {
	t, err := v.readTenant(ctx, id)
	if errors.Is(err, directory.ErrNotFound) {
		return n, nil
	}
	if err != nil {
		return n, err
	}
	p, err := v.plan(ctx, t.Plan)
	if err != nil {
		return n, fmt.Errorf("plan %s: %w", t.Plan, err)
	}
	rows, err := v.compare(ctx, p, t, &n)
	if err != nil {
		return n, err
	}
	own, strict := rows[false], rows[true]
	booked, err := v.book(ctx, v.region, id, own, v.rows)
	if err == nil && v.home && v.strict != nil {
		var more bool
		more, err = v.book(ctx, ddbstore.StrictRow, id, strict, v.strict)
		booked = booked || more
	}
	if booked {
		n.Booked++
	}
	if err == nil && v.home {
		n.Expired, err = v.expire(ctx, id)
	}
	return n, err
}

// compare puts right what of a tenant's rows is not as it should be, counts that in
// n, and returns the rows, those of the strict table under true.
func (v *visitor) compare(ctx context.Context, p *plan.Plan, t plan.Tenant, n *Round) (map[bool][]counted, error) {
	all, to := targets(p, t, v.now())
	rows := make(map[bool][]counted)
	for _, b := range all {
		row, found, err := v.row(ctx, b)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		n.Rows++
		strict := b.strict && v.strict != nil
		rows[strict] = append(rows[strict], counted{b.key, row})
		repaired, err := v.repair(ctx, b, row, to)
		if err != nil {
			return nil, err
		}
		if repaired {
			n.Drift++
		}
	}
	return rows, nil
}

// repair brings a row to the configuration if it is not there although it has had
// time to be.
func (v *visitor) repair(ctx context.Context, b target, row bucket.Row, to bucket.Rescale) (bool, error) {
	to.Limit, to.Now = b.limit, v.now()
	if age := to.Now - to.Since; -settle < age && age < settle {
		return false, nil
	}
	if _, differs := to.Apply(row); !differs {
		return false, nil
	}
	status, err := v.rescale(ctx, b, to)
	if err != nil || status != bucket.Charged {
		return false, err
	}
	v.log.Warn("drift repaired", "bucket", b.key, "had", row.Ver, "has", to.Ver)
	return true, nil
}

func (r *Reconciler) row(ctx context.Context, b target) (row bucket.Row, found bool, err error) {
	err = r.pace.try(ctx, func() (err error) { row, found, err = r.table(b.strict).Row(ctx, b.key); return err })
	return row, found, err
}

// plan returns a plan as it was when it was first needed in this slice. A change
// since then has a record of its own.
func (v *visitor) plan(ctx context.Context, name string) (*plan.Plan, error) {
	v.mu.Lock()
	p := v.plans[name]
	v.mu.Unlock()
	if p != nil {
		return p, nil
	}
	p, err := v.readPlan(ctx, name)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	v.plans[name] = p
	v.mu.Unlock()
	return p, nil
}
