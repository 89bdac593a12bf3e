package reconciler

import (
	"context"
	"errors"
	"fmt"

	"weir/internal/plan"
	"weir/pkg/ddbstore"
)

// Alarms says whether an alarm is on.
type Alarms interface {
	// On returns the state of the alarm of a name or ARN. An alarm that does not
	// exist, or that nobody can ask about, is an error.
	On(ctx context.Context, alarm string) (bool, error)
}

// rollouts takes every plan's rollout as far as it is to go now, and returns what
// was done, a line for each. A rollout that it cannot make sense of stays where it
// is.
func (r *Reconciler) rollouts(ctx context.Context, now int64) (done []string, err error) {
	names, err := r.config.Plans(ctx)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, name := range names {
		what, err := r.rollout(ctx, name, now)
		if err != nil {
			errs = append(errs, fmt.Errorf("rollout of plan %s: %w", name, err))
		}
		if what != "" {
			done = append(done, name+": "+what)
		}
	}
	return done, errors.Join(errs...)
}

// rollout takes one plan's rollout a step further, if it is time.
func (r *Reconciler) rollout(ctx context.Context, name string, now int64) (what string, err error) {
	var stored ddbstore.Plan
	err = r.pace.try(ctx, func() (err error) { stored, err = r.config.Plan(ctx, name); return err })
	if err != nil || stored.Next == "" {
		if errors.Is(err, ddbstore.ErrNotFound) {
			err = nil // it is listed before it is there
		}
		return "", err
	}
	next, err := plan.ParseRollout(name, []byte(stored.Next))
	if err != nil {
		return "", err
	}
	on, err := r.alarmed(ctx, next)
	if err != nil {
		return "", fmt.Errorf("held where it is: %w", err)
	}
	what, err = advance(&stored, next, now, on)
	if err != nil || what == "" {
		return "", err
	}
	if written, err := r.write(ctx, stored, what); err != nil || !written {
		return "", err
	}
	r.log.Info("rollout", "plan", name, "done", what)
	return what, nil
}

// alarmed reports whether the alarm that ends a canary is on.
func (r *Reconciler) alarmed(ctx context.Context, next *plan.Rollout) (bool, error) {
	if next.Alarm == "" {
		return false, nil
	}
	if r.alarms == nil {
		return false, fmt.Errorf("alarm %s: nobody to ask", next.Alarm)
	}
	return r.alarms.On(ctx, next.Alarm)
}

// advance changes a stored plan as its rollout demands at now, and says how; ""
// if there is nothing to do. An alarm ends a canary whatever its step, paused ones
// too: those who have it are in trouble now.
func advance(stored *ddbstore.Plan, next *plan.Rollout, now int64, alarm bool) (what string, err error) {
	switch {
	case alarm:
		stored.Next, stored.Carry = "", next.Carry.String()
		return fmt.Sprintf("rolled back: alarm %s is on", next.Alarm), nil
	case next.Complete(now):
		body, err := next.Plan.MarshalJSON()
		if err != nil {
			return "", err
		}
		stored.Body, stored.Carry, stored.Next = string(body), next.Carry.String(), ""
		if next.Scheduled() {
			return "the scheduled change is in force", nil
		}
		return "the canary is complete", nil
	case next.Due(now):
		step := next.Step(now)
		text, err := step.MarshalJSON()
		if err != nil {
			return "", err
		}
		stored.Next = string(text)
		return fmt.Sprintf("the canary has %v of the tenants", step.Share), nil
	}
	return "", nil
}
