package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"weir/internal/operator"
	"weir/internal/plan"
	"weir/pkg/ddbstore"
)

func newPlanHistory(o *operation) *cobra.Command {
	most := 20
	cmd := &cobra.Command{
		Use:   "history PLAN",
		Short: "List the versions of a plan: who changed what, when and why",
		Long: `List the versions of a plan, newest first, with what each changed. All versions are
kept for good; show prints one of them, and rollback brings one back.`,
		Example:           `  weir plan history pro`,
		Args:              takes(1, 1, "the name of a plan"),
		ValidArgsFunction: o.complete(1, planNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if most < 1 {
				return fmt.Errorf("--most %d: want 1 or more", most)
			}
			return o.run(cmd, func(ctx context.Context, s *session) error { return s.planHistory(ctx, args[0], most) })
		},
	}
	cmd.Flags().IntVarP(&most, "most", "n", most, "list at most so many `VERSIONS`")
	return cmd
}

// historyJSON is the result of weir plan history.
type historyJSON struct {
	Plan     string        `json:"plan"`
	Versions []versionJSON `json:"versions"`
}

// versionJSON is a version in a history.
type versionJSON struct {
	Version int64                `json:"version"`
	At      operator.Instant     `json:"at"`
	Author  string               `json:"author"`
	Reason  string               `json:"reason"`
	Stamp   int64                `json:"stamp"`
	Rollout string               `json:"rollout,omitempty"` // that was under way then
	Fields  []operator.FieldDiff `json:"fields,omitempty"`  // that differ from the version before
	Limits  []operator.LimitDiff `json:"limits,omitempty"`
}

func (s *session) planHistory(ctx context.Context, name string, most int) error {
	c := s.config()
	history, err := c.PlanHistory(ctx, name, most+1) // one more, to compare the last with
	if errors.Is(err, ddbstore.ErrNotFound) {
		return operator.NoPlan(ctx, c, name)
	}
	if err != nil {
		return err
	}
	out := historyJSON{Plan: name}
	for i, v := range history[:min(len(history), most)] {
		var before *ddbstore.Plan
		if i+1 < len(history) {
			before = &history[i+1]
		}
		j, err := versionOf(v, before)
		if err != nil {
			return err
		}
		out.Versions = append(out.Versions, j)
		s.writeVersion(j)
	}
	return s.result(out)
}

// versionOf returns a version and how it differs from the one before.
func versionOf(v ddbstore.Plan, before *ddbstore.Plan) (versionJSON, error) {
	j := versionJSON{Version: v.Version, At: operator.Instant(v.Change.At), Author: v.Change.Author, Reason: v.Change.Reason, Stamp: v.Stamp}
	p, err := operator.PlanOf(v)
	if err != nil {
		return j, err
	}
	if p.Next != nil {
		j.Rollout = operator.RolloutText(p.Next)
	}
	if before == nil {
		return j, nil
	}
	was, err := operator.PlanOf(*before)
	if err != nil {
		return j, err
	}
	d, err := operator.Diff(was, p)
	j.Fields, j.Limits = d.Fields, d.Limits
	return j, err
}

func (s *session) writeVersion(v versionJSON) {
	s.printf("%s  %v  %s  %s\n", s.paint(bold, fmt.Sprintf("version %d", v.Version)), v.At, v.Author, v.Reason)
	if v.Rollout != "" {
		s.printf("    with %s\n", v.Rollout)
	}
	s.writeFields("    ", v.Fields)
	for _, l := range v.Limits {
		if l.Kind != operator.Changed {
			s.printf("    limit %s %s: %s\n", l.Limit, l.Kind, l.Brief())
			continue
		}
		s.printf("    limit %s\n", l.Limit)
		s.writeFields("      ", l.Fields)
	}
}

func newPlanShow(o *operation) *cobra.Command {
	var version int64
	cmd := &cobra.Command{
		Use:   "show [PLAN]",
		Short: "Print a plan, or list all",
		Long: `Print a plan as a plans file has it, with every default spelled out: what show
prints, apply takes. Without a name, list all plans.`,
		Example: `  weir plan show
  weir plan show pro --version 7 > plans.yaml`,
		Args:              takes(0, 1, "the name of a plan, or nothing"),
		ValidArgsFunction: o.complete(1, planNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case version < 0:
				return fmt.Errorf("--version %d: want 1 or more", version)
			case len(args) == 0 && version != 0:
				return errors.New("--version is of one plan: name it")
			}
			return o.run(cmd, func(ctx context.Context, s *session) error {
				if len(args) == 0 {
					return s.planList(ctx)
				}
				return s.planShow(ctx, args[0], version)
			})
		},
	}
	cmd.Flags().Int64Var(&version, "version", 0, "`VERSION` to print; default the current one")
	return cmd
}

// planJSON is the result of weir plan show PLAN.
type planJSON struct {
	Name    string           `json:"name"`
	Version int64            `json:"version"`
	Stamp   int64            `json:"stamp"`
	Carry   string           `json:"carry"`
	At      operator.Instant `json:"at"`
	Author  string           `json:"author"`
	Reason  string           `json:"reason"`
	Plan    *plan.Plan       `json:"plan"`
	Rollout *plan.Rollout    `json:"rollout"`
}

func (s *session) planShow(ctx context.Context, name string, version int64) error {
	c := s.config()
	stored, err := c.Plan(ctx, name)
	if err == nil && version != 0 {
		stored, err = c.PlanAt(ctx, name, version)
		if errors.Is(err, ddbstore.ErrNotFound) {
			return fmt.Errorf("plan %s has no version %d; `weir plan history %s` lists those it has", name, version, name)
		}
	}
	if errors.Is(err, ddbstore.ErrNotFound) {
		return operator.NoPlan(ctx, c, name)
	}
	if err != nil {
		return err
	}
	p, err := operator.PlanOf(stored)
	if err != nil {
		return err
	}
	text, err := yaml.Marshal(map[string]map[string]*plan.Plan{"plans": {name: p}})
	if err != nil {
		return fmt.Errorf("print plan %s: %w", name, err)
	}
	ch := stored.Change
	s.printf("# plan %s, version %d, by %s at %s: %s\n%s", name, stored.Version, ch.Author, operator.TimeText(ch.At), ch.Reason, text)
	if p.Next != nil {
		s.note("It has %s under way: weir plan rollout %s", operator.RolloutText(p.Next), name)
	}
	return s.result(planJSON{
		Name: name, Version: stored.Version, Stamp: stored.Stamp, Carry: p.Carry.String(),
		At: operator.Instant(ch.At), Author: ch.Author, Reason: ch.Reason, Plan: p, Rollout: p.Next,
	})
}

// plansJSON is the result of weir plan show without a name.
type plansJSON struct {
	Plans []planEntryJSON `json:"plans"`
}

type planEntryJSON struct {
	Name    string           `json:"name"`
	Version int64            `json:"version"`
	Limits  int              `json:"limits"`
	At      operator.Instant `json:"at"`
	Author  string           `json:"author"`
	Rollout string           `json:"rollout,omitempty"`
}

func (s *session) planList(ctx context.Context) error {
	c := s.config()
	names, err := c.Plans(ctx)
	if err != nil {
		return err
	}
	out := plansJSON{[]planEntryJSON{}}
	rows := [][]string{{"PLAN", "VERSION", "LIMITS", "CHANGED", "BY", "ROLLOUT"}}
	for _, name := range names {
		stored, err := c.Plan(ctx, name)
		if err != nil {
			return err
		}
		p, err := operator.PlanOf(stored)
		if err != nil {
			return err
		}
		j := planEntryJSON{Name: name, Version: stored.Version, Limits: len(p.Limits), At: operator.Instant(stored.Change.At), Author: stored.Change.Author}
		if p.Next != nil {
			j.Rollout = operator.RolloutText(p.Next)
		}
		out.Plans = append(out.Plans, j)
		rows = append(rows, []string{name, fmt.Sprint(j.Version), fmt.Sprint(j.Limits), j.At.String(), j.Author, j.Rollout})
	}
	if len(names) == 0 {
		s.printf("There are no plans yet: write some with `weir plan apply FILE`.\n")
	} else {
		s.table(rows)
	}
	return s.result(out)
}
