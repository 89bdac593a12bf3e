package plan

import (
	"slices"
	"time"

	"weir/pkg/bucket"
)

// Bounds of a rollout.
const (
	MaxCanaries = 1000 // tenants named
	MaxSteps    = 100
	MinEvery    = time.Minute // the reconciler looks about so often
	MaxEvery    = 30 * day
)

// Rollout is the next body of a plan, and who has it already. It is one of two:
//
//   - A scheduled change has From: everybody has it from then on.
//   - A canary has the tenants it names and a share of all others, which may grow
//     in steps.
//
// A nil *Rollout is one that nobody has.
type Rollout struct {
	Plan  *Plan        // the next body, under the plan's own name; without Ver and Stamp
	Carry bucket.Carry // what the change makes of the levels of those who come to have it

	From int64 // of a scheduled change, ns since the Unix epoch; 0 for a canary

	Share   Share         // of the plan's tenants, by a hash of their ids
	Tenants []string      // ids of those who have it besides
	Steps   []Share       // the shares that are to follow, each wider than the one before
	Every   time.Duration // how long a step lasts
	StepAt  int64         // when the next step is due, ns since the Unix epoch
	Alarm   string        // name or ARN of the CloudWatch alarm that ends it; "" for none
	Paused  bool          // no step is due until somebody resumes it
}

// Scheduled reports whether r is a scheduled change, rather than a canary.
func (r *Rollout) Scheduled() bool { return r != nil && r.From != 0 }

// InForce reports whether r is a scheduled change whose time has come.
func (r *Rollout) InForce(now int64) bool { return r.Scheduled() && now >= r.From }

// Has reports whether a tenant of the plan called plan has the next body at now.
// Requests without a credential are those of tenant "".
func (r *Rollout) Has(plan, tenant string, now int64) bool {
	switch {
	case r == nil:
		return false
	case r.Scheduled():
		return r.InForce(now)
	}
	return r.Share.has(plan, tenant) || slices.Contains(r.Tenants, tenant)
}

// Due reports whether the canary's next step is due.
func (r *Rollout) Due(now int64) bool {
	return r != nil && !r.Paused && len(r.Steps) > 0 && now >= r.StepAt
}

// Step returns the canary one step further at now, or r if it has none left.
func (r *Rollout) Step(now int64) *Rollout {
	if r == nil || len(r.Steps) == 0 {
		return r
	}
	next := *r
	next.Share, next.Steps = r.Steps[0], nil
	if len(r.Steps) > 1 {
		next.Steps = slices.Clone(r.Steps[1:])
	}
	next.StepAt = now + int64(r.Every)
	return &next
}

// Complete reports whether everybody has the next body and it is time to make it
// the plan's own: for a scheduled change when it is in force, for a canary when
// its last step, to all tenants, has lasted as long as the others.
func (r *Rollout) Complete(now int64) bool {
	if r == nil || r.Scheduled() {
		return r.InForce(now)
	}
	return !r.Paused && r.Share == Everybody && len(r.Steps) == 0 && now >= r.StepAt
}
