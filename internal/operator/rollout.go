package operator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"weir/internal/plan"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// Step is what is to become of a rollout.
type Step string

// The steps.
const (
	Next   Step = "next"   // one step wider; after the last the change is the plan
	Pause  Step = "pause"  // it stays as it is until it is resumed
	Resume Step = "resume" // it goes on, and its present step begins anew
	Abort  Step = "abort"  // nobody has it any more
)

// Rollout returns what is to be written for a plan's rollout to go a step.
func Rollout(s ddbstore.Plan, p *plan.Plan, step Step, now int64) (ddbstore.Plan, error) {
	r := p.Next
	if r == nil {
		return s, fmt.Errorf("%w: plan %s has no rollout", ErrRefused, s.Name)
	}
	next := *r
	switch step {
	case Abort:
		// Who had it goes back in proportion, whatever an older change has said.
		s.Next, s.Carry = "", bucket.Proportional.String()
		return s, nil
	case Next:
		if r.Scheduled() || len(r.Steps) == 0 {
			return promote(s, r)
		}
		next = *r.Step(now)
	case Pause, Resume:
		if r.Scheduled() {
			return s, fmt.Errorf("%w: plan %s has a scheduled change, which has no steps: `weir plan rollout %s next` makes it now, abort takes it back", ErrRefused, s.Name, s.Name)
		}
		if next.Paused == (step == Pause) {
			return s, fmt.Errorf("%w: the rollout of plan %s is %s already", ErrRefused, s.Name, map[bool]string{true: "paused", false: "under way"}[next.Paused])
		}
		next.Paused, next.StepAt = step == Pause, now+int64(r.Every)
	default:
		return s, fmt.Errorf("no such step: %q", step)
	}
	data, err := next.MarshalJSON()
	if err != nil {
		return s, err
	}
	s.Next = string(data)
	return s, nil
}

// promote makes the next body the plan's own.
func promote(s ddbstore.Plan, r *plan.Rollout) (ddbstore.Plan, error) {
	body, err := r.Plan.MarshalJSON()
	if err != nil {
		return s, err
	}
	s.Body, s.Carry, s.Next = string(body), r.Carry.String(), ""
	return s, nil
}

// RolloutText returns a rollout in a few words.
func RolloutText(r *plan.Rollout) string {
	if r.Scheduled() {
		return "a change scheduled for " + TimeText(r.From)
	}
	var parts []string
	if r.Share > 0 {
		parts = append(parts, r.Share.String()+" of the tenants")
	}
	if n := len(r.Tenants); n > 0 && n <= 3 {
		parts = append(parts, strings.Join(r.Tenants, ", "))
	} else if n > 3 {
		parts = append(parts, fmt.Sprintf("%d named tenants", n))
	}
	text := "a canary"
	if len(parts) > 0 {
		text += " for " + strings.Join(parts, " and ")
	}
	if len(r.Steps) > 0 {
		steps := make([]string, len(r.Steps))
		for i, s := range r.Steps {
			steps[i] = s.String()
		}
		text += ", then " + strings.Join(steps, ", ")
	}
	if r.Paused {
		text += ", paused"
	}
	return text
}

// PlanRollout reads a plan that has a rollout, or may have one.
func PlanRollout(ctx context.Context, c *ddbstore.Config, name string) (ddbstore.Plan, *plan.Plan, error) {
	s, p, err := readPlan(ctx, c, name)
	if err == nil && p == nil {
		err = NoPlan(ctx, c, name)
	}
	return s, p, err
}

// NoPlan returns the error that there is no plan of that name, with those that
// there are.
func NoPlan(ctx context.Context, c *ddbstore.Config, name string) error {
	names, err := c.Plans(ctx)
	switch {
	case err != nil:
		return errors.Join(fmt.Errorf("there is no plan %q", name), err)
	case len(names) == 0:
		return fmt.Errorf("there is no plan %q, and no other either: write some with `weir plan apply FILE`", name)
	case len(names) > 16:
		return fmt.Errorf("there is no plan %q among the %d there are; `weir plan show` lists them", name, len(names))
	}
	return fmt.Errorf("there is no plan %q; there are %s", name, strings.Join(names, ", "))
}

// CanaryOf returns a canary that begins now: the first of the shares, the others
// to follow, one every so often.
func CanaryOf(shares []plan.Share, every time.Duration, tenants []string, carry bucket.Carry, now int64) plan.Rollout {
	r := plan.Rollout{Carry: carry, Every: every, Tenants: tenants, StepAt: now + int64(every)}
	if len(shares) > 0 {
		r.Share, r.Steps = shares[0], shares[1:]
	}
	return r
}
