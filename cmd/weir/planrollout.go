package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"weir/internal/operator"
	"weir/internal/plan"
	"weir/pkg/ddbstore"
)

// rolloutSteps are what weir plan rollout can be told, and what it says then.
var rolloutSteps = []string{"status", string(operator.Next), string(operator.Pause), string(operator.Resume), string(operator.Abort)}

func newPlanRollout(o *operation) *cobra.Command {
	var (
		f       changing
		w       waiting
		tenants bool
	)
	cmd := &cobra.Command{
		Use:   "rollout PLAN [status|next|pause|resume|abort]",
		Short: "Follow and steer a canary or a scheduled change",
		Long: `Say how far the rollout of a plan is, or steer it:

  status   how far it is (the default)
  next     one step wider, at once; after the last step it becomes the plan
  pause    stay at this step until somebody resumes it
  resume   go on; the present step begins anew
  abort    take it back: everybody has what was before

The reconciler goes the steps of a canary that is not paused, and takes it back
if its alarm goes off. A scheduled change has two steps, next and abort.`,
		Example: `  weir plan rollout pro
  weir plan rollout pro pause --reason "waiting for the mobile release"
  weir plan rollout pro abort --yes`,
		Args: takes(1, 2, "the name of a plan and what to do"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return rolloutSteps, cobra.ShellCompDirectiveNoFileComp
			}
			return o.complete(1, planNames)(cmd, args, prefix)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			step := "status"
			if len(args) == 2 {
				step = args[1]
			}
			if _, err := w.limit(); err != nil {
				return err
			}
			for _, known := range rolloutSteps {
				if step == known {
					return o.run(cmd, func(ctx context.Context, s *session) error {
						if step == "status" {
							return s.rolloutStatus(ctx, args[0], tenants)
						}
						return s.rolloutStep(ctx, args[0], operator.Step(step), f, w)
					})
				}
			}
			return fmt.Errorf("%q: want %s", step, strings.Join(rolloutSteps, ", "))
		},
	}
	f.addTo(cmd.Flags())
	w.addTo(cmd.Flags())
	cmd.Flags().BoolVar(&tenants, "list", false, "with status, list the tenants who have it")
	return cmd
}

// rolloutJSON is the result of weir plan rollout.
type rolloutJSON struct {
	Plan    string             `json:"plan"`
	Version int64              `json:"version"`
	Rollout *plan.Rollout      `json:"rollout"` // null if there is none
	Text    string             `json:"text"`
	Tenants int                `json:"tenants"` // on the plan
	Reached int                `json:"reached"` // of them, who have the next body
	List    []string           `json:"list,omitempty"`
	Change  *changeJSON        `json:"change,omitempty"`
	Regions []operator.Reached `json:"regions,omitempty"`
}

func (s *session) rolloutStatus(ctx context.Context, name string, list bool) error {
	c := s.config()
	stored, p, err := operator.PlanRollout(ctx, c, name)
	if err != nil {
		return err
	}
	out := rolloutJSON{Plan: name, Version: stored.Version, Rollout: p.Next, Change: changeOf(stored)}
	if p.Next == nil {
		s.printf("plan %s, version %d: no rollout\n", name, stored.Version)
		return s.result(out)
	}
	ids, err := operator.TenantsOn(ctx, c, name)
	if err != nil {
		return err
	}
	out.Text, out.Tenants = operator.RolloutText(p.Next), len(ids)
	for _, id := range ids {
		if p.Next.Has(name, id, s.now()) {
			out.Reached++
			if list {
				out.List = append(out.List, id)
			}
		}
	}
	s.writeRollout(stored, p.Next, out)
	return s.result(out)
}

func (s *session) writeRollout(stored ddbstore.Plan, r *plan.Rollout, out rolloutJSON) {
	s.printf("plan %s, version %d: %s\n", out.Plan, out.Version, out.Text)
	s.printf("%d of %s have it\n", out.Reached, count(out.Tenants, "tenant"))
	switch {
	case r.Scheduled():
	case r.Paused:
		s.printf("it is paused, by %s: %s\n", stored.Change.Author, stored.Change.Reason)
	case len(r.Steps) > 0:
		s.printf("the next step, %v, is due at %s\n", r.Steps[0], operator.TimeText(r.StepAt))
	case r.Share == plan.Everybody:
		s.printf("it becomes the plan at %s\n", operator.TimeText(r.StepAt))
	default:
		s.printf("it stays so; `weir plan rollout %s next` gives it to everybody\n", out.Plan)
	}
	if r.Alarm != "" {
		s.printf("it is taken back if alarm %s goes off\n", r.Alarm)
	}
	for _, id := range out.List {
		s.printf("  %s\n", id)
	}
}

func (s *session) rolloutStep(ctx context.Context, name string, step operator.Step, f changing, w waiting) error {
	c, err := s.home(ctx)
	if err != nil {
		return err
	}
	stored, p, err := operator.PlanRollout(ctx, c, name)
	if err != nil {
		return err
	}
	put, err := operator.Rollout(stored, p, step, s.now())
	if err != nil {
		return err
	}
	will, err := operator.PlanOf(put)
	if err != nil {
		return err
	}
	ids, err := operator.TenantsOn(ctx, c, name)
	if err != nil {
		return err
	}
	out := rolloutJSON{Plan: name, Rollout: will.Next, Tenants: len(ids)}
	moved := 0
	for _, id := range ids {
		has := will.Next.Has(name, id, s.now()) || will.Next == nil && step == operator.Next
		if has {
			out.Reached++
		}
		if has != p.Next.Has(name, id, s.now()) {
			moved++
		}
	}
	if moved > 1 && !f.yes {
		verb := map[operator.Step]string{operator.Next: "reaches", operator.Abort: "is taken back from"}[step]
		if err := s.confirm(ctx, fmt.Sprintf("The change %s %s. Go on?", orElse(verb, "reaches"), count(moved, "tenant"))); err != nil {
			return err
		}
	}
	ch, err := s.change(ctx, f, "rollout "+string(step))
	if err != nil {
		return err
	}
	written, err := operator.Together[ddbstore.Plan](ctx, c, ch, put)
	if err != nil {
		return err
	}
	out.Version, out.Change = written[0].Version, changeOf(written[0])
	switch {
	case will.Next != nil:
		out.Text = operator.RolloutText(will.Next)
		s.printf("plan %s is at version %d, with %s\n", name, out.Version, out.Text)
	case step == operator.Next:
		s.printf("plan %s is at version %d: everybody has the change, the rollout is over\n", name, out.Version)
	default:
		s.printf("plan %s is at version %d: the change is taken back\n", name, out.Version)
	}
	if out.Regions, err = s.await(ctx, c, w, written); err != nil {
		_ = s.result(out)
		return err
	}
	return s.result(out)
}
