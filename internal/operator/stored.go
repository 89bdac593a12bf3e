package operator

import (
	"context"
	"errors"
	"fmt"

	"weir/internal/plan"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// PlanOf returns the plan that a stored one says, with its rollout.
func PlanOf(s ddbstore.Plan) (*plan.Plan, error) {
	p, err := plan.ParsePlan(s.Name, []byte(s.Body))
	if err == nil {
		p.Next, err = plan.ParseRollout(s.Name, []byte(s.Next))
	}
	if err == nil {
		p.Carry, err = bucket.ParseCarry(s.Carry)
	}
	if err != nil {
		return nil, fmt.Errorf("plan %s cannot be used as it is stored, at version %d: %w", s.Name, s.Version, err)
	}
	p.Ver, p.Stamp = s.Version, s.Stamp
	return p, nil
}

// TenantOf returns the tenant that a stored one says.
func TenantOf(s ddbstore.Tenant) (plan.Tenant, error) {
	o, err := plan.ParseOverrides(s.ID, []byte(s.Overrides))
	var carry bucket.Carry
	if err == nil {
		carry, err = bucket.ParseCarry(s.Carry)
	}
	if err != nil {
		return plan.Tenant{}, fmt.Errorf("tenant %s cannot be used as it is stored, at version %d: %w", s.ID, s.Version, err)
	}
	return plan.Tenant{
		ID: s.ID, Plan: s.Plan, Suspended: s.Status == ddbstore.Suspended,
		Overrides: o, Ver: s.Version, Stamp: s.Stamp, Carry: carry,
	}, nil
}

// readPlan returns a plan as it is stored and what that says; a nil plan and
// version 0 if there is none.
func readPlan(ctx context.Context, c *ddbstore.Config, name string) (ddbstore.Plan, *plan.Plan, error) {
	s, err := c.Plan(ctx, name)
	switch {
	case errors.Is(err, ddbstore.ErrNotFound):
		return ddbstore.Plan{Name: name}, nil, nil
	case err != nil:
		return s, nil, err
	}
	p, err := PlanOf(s)
	return s, p, err
}
