package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"weir/internal/operator"
	"weir/internal/plan"
	"weir/pkg/ddbstore"
)

func newTenant() *cobra.Command {
	var o operation
	cmd := group("tenant", "Create tenants, change their plans and limits, suspend them",
		`A tenant is who is limited: a customer. It has a plan, and may have rates and
bursts of its own for the plan's limits, a mode and a hold.`,
		`  weir tenant create acme --plan pro
  weir tenant set acme --limit api=200/s --burst api=400 --reason "INC-42: launch"
  weir tenant set --all-on free --mode shadow
  weir tenant suspend acme --reason "unpaid"`,
		newTenantCreate(&o), newTenantShow(&o), newTenantList(&o), newTenantSet(&o),
		newTenantStatus(&o, "suspend", "Refuse all requests of tenants, until they are resumed", ddbstore.Suspended),
		newTenantStatus(&o, "resume", "Serve suspended tenants again", ddbstore.Active))
	o.addTo(cmd)
	return cmd
}

// checkTenantID refuses what cannot be the id of a tenant.
func checkTenantID(id string) error {
	if !plan.ValidName(id) {
		return fmt.Errorf("%q cannot be the id of a tenant: want 1 to %d letters, digits, '.', '_' and '-'", id, plan.MaxName)
	}
	return nil
}

func newTenantCreate(o *operation) *cobra.Command {
	var (
		f changing
		e editFlags
	)
	cmd := &cobra.Command{
		Use:   "create TENANT --plan PLAN",
		Short: "Create a tenant",
		Long: `Create a tenant on a plan. It is served as soon as it has a key: weir key create.
The plan must exist.`,
		Example: `  weir tenant create acme --plan pro
  weir tenant create acme --plan pro --limit api=500/s`,
		Args: takes(1, 1, "the id of the tenant"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkTenantID(args[0]); err != nil {
				return err
			}
			if e.plan == "" {
				return errors.New("which plan is the tenant to have? Say it with --plan; `weir plan show` lists them")
			}
			edit, err := e.parse()
			if err != nil {
				return err
			}
			return o.run(cmd, func(ctx context.Context, s *session) error { return s.tenantCreate(ctx, args[0], edit, f) })
		},
	}
	f.addTo(cmd.Flags())
	e.addTo(o, cmd)
	return cmd
}

// tenantJSON is a tenant in results.
type tenantJSON struct {
	Tenant    string           `json:"tenant"`
	Plan      string           `json:"plan"`
	Status    string           `json:"status"`
	Overrides *plan.Overrides  `json:"overrides"` // null if there are none
	Version   int64            `json:"version"`
	Stamp     int64            `json:"stamp"`
	At        operator.Instant `json:"at"`
	Author    string           `json:"author"`
	Reason    string           `json:"reason"`
}

func tenantResult(t ddbstore.Tenant) (tenantJSON, error) {
	parsed, err := operator.TenantOf(t)
	j := tenantJSON{
		Tenant: t.ID, Plan: t.Plan, Status: string(t.Status), Version: t.Version, Stamp: t.Stamp,
		At: operator.Instant(t.Change.At), Author: t.Change.Author, Reason: t.Change.Reason,
	}
	if !parsed.Overrides.IsZero() {
		j.Overrides = &parsed.Overrides
	}
	return j, err
}

func (s *session) tenantCreate(ctx context.Context, id string, e operator.TenantEdit, f changing) error {
	c, err := s.home(ctx)
	if err != nil {
		return err
	}
	put, warnings, err := operator.NewTenant(ctx, c, id, e)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		s.note("warning: %s", w)
	}
	ch, err := s.change(ctx, f, "tenant create")
	if err != nil {
		return err
	}
	written, err := operator.Together[ddbstore.Tenant](ctx, c, ch, put)
	if err != nil {
		return err
	}
	s.printf("tenant %s is on plan %s; give it a key with `weir key create %s`\n", id, put.Plan, id)
	j, err := tenantResult(written[0])
	if err != nil {
		return err
	}
	return s.result(j)
}

func newTenantShow(o *operation) *cobra.Command {
	return &cobra.Command{
		Use:   "show TENANT",
		Short: "Print a tenant: its plan, status, overrides and last changes",
		Long: `Print a tenant: its plan, its status, what it has of its own, and who changed that.
What its buckets hold, and what the next request would get, says weir explain.`,
		Example:           `  weir tenant show acme`,
		Args:              takes(1, 1, "the id of a tenant"),
		ValidArgsFunction: o.complete(1, tenantIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkTenantID(args[0]); err != nil {
				return err
			}
			return o.run(cmd, func(ctx context.Context, s *session) error { return s.tenantShow(ctx, args[0]) })
		},
	}
}

// tenantShowJSON is the result of weir tenant show.
type tenantShowJSON struct {
	tenantJSON
	History []tenantJSON `json:"history"` // newest first, the present one too
}

// tenantHistory is how many changes show lists.
const tenantHistory = 10

func (s *session) tenantShow(ctx context.Context, id string) error {
	c := s.config()
	history, err := c.TenantHistory(ctx, id, tenantHistory)
	if errors.Is(err, ddbstore.ErrNotFound) {
		return fmt.Errorf("there is no tenant %q; `weir tenant list` lists them", id)
	}
	if err != nil {
		return err
	}
	now, err := tenantResult(history[0])
	if err != nil {
		return err
	}
	out := tenantShowJSON{tenantJSON: now}
	status := now.Status
	if history[0].Status == ddbstore.Suspended {
		status = s.paint(red, status)
	}
	s.printf("tenant   %s\nplan     %s\nstatus   %s\n", id, now.Plan, status)
	for _, f := range operator.OwnFields(history[0]) {
		s.printf("own      %s %s\n", f.Field, f.To)
	}
	for _, t := range history {
		j, err := tenantResult(t)
		if err != nil {
			return err
		}
		out.History = append(out.History, j)
		s.printf("version %-3d %v  %s: %s\n", t.Version, j.At, j.Author, j.Reason)
	}
	return s.result(out)
}

func newTenantList(o *operation) *cobra.Command {
	var on string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List tenants, all or those on a plan",
		Long:  `List the ids of tenants, one a line, in their order: all, or those on a plan.`,
		Example: `  weir tenant list --on pro
  weir tenant list | wc -l`,
		Args: takes(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd, func(ctx context.Context, s *session) error { return s.tenantList(ctx, on) })
		},
	}
	cmd.Flags().StringVar(&on, "on", "", "only those on `PLAN`")
	_ = cmd.RegisterFlagCompletionFunc("on", o.completeFlag(planNames))
	return cmd
}

func (s *session) tenantList(ctx context.Context, on string) error {
	c := s.config()
	var (
		ids []string
		err error
	)
	if on == "" {
		ids, err = operator.AllTenants(ctx, c)
	} else if _, _, err = operator.PlanRollout(ctx, c, on); err == nil {
		ids, err = operator.TenantsOn(ctx, c, on)
	}
	if err != nil {
		return err
	}
	for _, id := range ids {
		s.printf("%s\n", id)
	}
	return s.result(tenantsJSON{append([]string{}, ids...)})
}

// tenantsJSON is the result of weir tenant list.
type tenantsJSON struct {
	Tenants []string `json:"tenants"`
}
