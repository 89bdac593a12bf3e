package operator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"weir/internal/plan"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// PlanDraft is a plan as it is to be, beside what it is now.
type PlanDraft struct {
	Diff PlanDiff
	Base ddbstore.Plan // what the change is based on; version 0 if the plan is new
	Was  *plan.Plan    // the same, parsed; nil if the plan is new
	Will *plan.Plan

	Tenants []string // on the plan
	Looked  int      // of them, whose buckets were looked at
	Over    []Over   // those of them who would be over a limit, in the order of their ids
}

// New reports whether nobody can be on the plan yet.
func (d *PlanDraft) New() bool { return d.Was == nil }

// DraftPlans compares the plans of a file, or those of them that only names, with
// the config table. The plans of the table that the file does not have stay as
// they are.
func DraftPlans(ctx context.Context, c *ddbstore.Config, f *plan.File, only []string) ([]PlanDraft, error) {
	names := slices.Sorted(maps.Keys(f.Plans))
	for _, name := range only {
		if f.Plans[name] == nil {
			return nil, fmt.Errorf("the file has no plan %q; it has %s", name, strings.Join(names, ", "))
		}
	}
	if len(only) > 0 {
		names = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(only, name) })
	}
	drafts := make([]PlanDraft, len(names))
	err := each(ctx, len(names), nil, func(ctx context.Context, i int) error {
		base, was, err := readPlan(ctx, c, names[i])
		if err != nil {
			return err
		}
		d := PlanDraft{Base: base, Was: was, Will: f.Plans[names[i]]}
		d.Diff, err = Diff(was, d.Will)
		drafts[i] = d
		return err
	})
	return drafts, err
}

// Changes returns the drafts that change something.
func Changes(drafts []PlanDraft) []PlanDraft {
	return slices.DeleteFunc(slices.Clone(drafts), func(d PlanDraft) bool { return d.Diff.Kind == Same })
}

// Now returns what is to be written to change the plan for everybody at once.
func (d *PlanDraft) Now(carry bucket.Carry) (ddbstore.Plan, error) {
	body, err := d.Will.MarshalJSON()
	if err != nil {
		return ddbstore.Plan{}, err
	}
	p := d.Base
	p.Body, p.Carry, p.Next = string(body), carry.String(), ""
	return p, nil
}

// Later returns what is to be written for the change to go the way of a rollout. A
// plan that is new is written at once: nobody is on it.
func (d *PlanDraft) Later(r plan.Rollout) (ddbstore.Plan, error) {
	if d.New() {
		return d.Now(r.Carry)
	}
	r.Plan = d.Will
	next, err := r.MarshalJSON()
	if err != nil {
		return ddbstore.Plan{}, err
	}
	p := d.Base
	p.Next = string(next)
	return p, nil
}

// First returns how many tenants of the plan have the change as soon as a rollout
// is written.
func (d *PlanDraft) First(r *plan.Rollout, now int64) int {
	n := 0
	for _, id := range d.Tenants {
		if r.Has(d.Base.Name, id, now) {
			n++
		}
	}
	return n
}

// CheckRollouts refuses to change plans of which one has a rollout under way: to
// write over it would decide it without a word.
func CheckRollouts(drafts []PlanDraft) error {
	for _, d := range drafts {
		if d.Was != nil && d.Was.Next != nil {
			return fmt.Errorf("%w: plan %s has %s under way (version %d, by %s): finish or abort it first: weir plan rollout %s next|abort",
				ErrRefused, d.Base.Name, RolloutText(d.Was.Next), d.Base.Version, d.Base.Change.Author, d.Base.Name)
		}
	}
	return nil
}
