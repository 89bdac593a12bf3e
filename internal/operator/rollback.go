package operator

import (
	"context"
	"errors"
	"fmt"

	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// rollbackLooks is how many versions back Rollback looks for another body.
const rollbackLooks = 1000

// Rollback returns a plan as it is, and as it is to be written to be again what it
// was at a version. Version 0 is the last one that was different: the one before
// a rollout that is under way, else the newest with another body. What the plan
// was then is restored to the letter; a rollout that was under way then is not.
func Rollback(ctx context.Context, c *ddbstore.Config, name string, version int64, carry bucket.Carry) (now, then, put ddbstore.Plan, err error) {
	now, err = c.Plan(ctx, name)
	switch {
	case errors.Is(err, ddbstore.ErrNotFound):
		err = NoPlan(ctx, c, name)
	case err != nil:
	case version == 0:
		then, err = lastOther(ctx, c, now)
	case version == now.Version:
		err = fmt.Errorf("%w: plan %s is at version %d; `weir plan history %s` lists the others", ErrRefused, name, version, name)
	default:
		then, err = c.PlanAt(ctx, name, version)
		if errors.Is(err, ddbstore.ErrNotFound) {
			err = fmt.Errorf("plan %s has no version %d; `weir plan history %s` lists those it has", name, version, name)
		}
	}
	if err != nil {
		return now, then, put, err
	}
	if then.Body == now.Body && now.Next == "" {
		return now, then, put, fmt.Errorf("%w: plan %s is what it was at version %d", ErrRefused, name, then.Version)
	}
	put = now
	put.Body, put.Carry, put.Next = then.Body, carry.String(), ""
	return now, then, put, nil
}

// lastOther returns the newest version of a plan that was something else.
func lastOther(ctx context.Context, c *ddbstore.Config, now ddbstore.Plan) (ddbstore.Plan, error) {
	history, err := c.PlanHistory(ctx, now.Name, rollbackLooks)
	if err != nil {
		return ddbstore.Plan{}, err
	}
	for _, v := range history {
		if v.Version < now.Version && v.Next == "" && (now.Next != "" || v.Body != now.Body) {
			return v, nil
		}
	}
	return ddbstore.Plan{}, fmt.Errorf("%w: plan %s has been nothing else", ErrRefused, now.Name)
}
