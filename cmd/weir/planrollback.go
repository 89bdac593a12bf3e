package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"weir/internal/operator"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

func newPlanRollback(o *operation) *cobra.Command {
	var (
		f struct {
			changing
			waiting
		}
		to    int64
		carry string
	)
	cmd := &cobra.Command{
		Use:   "rollback PLAN",
		Short: "Make a plan again what it was at an older version",
		Long: `Make a plan to the letter what it was at an older version, as a new version. A
rollout that is under way ends with it.

Without --to that is the last version that was different: the one from before the
rollout, if there is one under way.`,
		Example: `  weir plan rollback pro --yes --wait
  weir plan rollback pro --to 7 --reason "INC-42"`,
		Args:              takes(1, 1, "the name of a plan"),
		ValidArgsFunction: o.complete(1, planNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			how, err := parseCarry(carry)
			if err != nil {
				return err
			}
			if _, err := f.limit(); err != nil {
				return err
			}
			if to < 0 || to == 0 && cmd.Flags().Changed("to") {
				return fmt.Errorf("--to %d: want a version, 1 or more", to)
			}
			return o.run(cmd, func(ctx context.Context, s *session) error {
				return s.planRollback(ctx, args[0], to, how, f.changing, f.waiting)
			})
		},
	}
	fl := cmd.Flags()
	f.changing.addTo(fl)
	f.waiting.addTo(fl)
	fl.Int64Var(&to, "to", 0, "`VERSION` to go back to; default the last that was different")
	fl.StringVar(&carry, "carry", bucket.Proportional.String(), carryUsage)
	return cmd
}

// rollbackJSON is the result of weir plan rollback.
type rollbackJSON struct {
	operator.PlanDiff
	Version    int64              `json:"version"`  // that it was at
	Restored   int64              `json:"restored"` // the version that it is again
	Tenants    int                `json:"tenants"`
	Over       []operator.Over    `json:"over"`
	NewVersion int64              `json:"newVersion"`
	Change     *changeJSON        `json:"change"`
	Regions    []operator.Reached `json:"regions,omitempty"`
}

func (s *session) planRollback(ctx context.Context, name string, to int64, carry bucket.Carry, f changing, w waiting) error {
	c, err := s.home(ctx)
	if err != nil {
		return err
	}
	now, then, put, err := operator.Rollback(ctx, c, name, to, carry)
	if err != nil {
		return err
	}
	was, err := operator.PlanOf(now)
	if err != nil {
		return err
	}
	will, err := operator.PlanOf(put)
	if err != nil {
		return err
	}
	d := operator.PlanDraft{Base: now, Was: was, Will: will}
	if d.Diff, err = operator.Diff(was, will); err != nil {
		return err
	}
	if was.Next != nil {
		d.Diff.Kind = operator.Changed // for those who have the next body
	}
	drafts := []operator.PlanDraft{d}
	if err := s.lookAt(ctx, c, drafts, way{carry: carry}, previewOfOne); err != nil {
		return err
	}
	d = drafts[0]
	s.writeDiff(&d)
	s.writeImpact(drafts, way{})
	if len(d.Tenants) > 1 && !f.yes {
		if err := s.confirm(ctx, fmt.Sprintf("Bring back version %d of plan %s, for %s?", then.Version, name, count(len(d.Tenants), "tenant"))); err != nil {
			return err
		}
	}
	ch, err := s.change(ctx, f, fmt.Sprintf("rollback to version %d", then.Version))
	if err != nil {
		return err
	}
	written, err := operator.Together[ddbstore.Plan](ctx, c, ch, put)
	if err != nil {
		return err
	}
	s.printf("%s\n", s.paint(green, fmt.Sprintf("plan %s is at version %d, which is version %d again", name, written[0].Version, then.Version)))
	out := rollbackJSON{
		PlanDiff: d.Diff, Version: now.Version, Restored: then.Version, Tenants: len(d.Tenants),
		Over: append([]operator.Over{}, d.Over...), NewVersion: written[0].Version, Change: changeOf(written[0]),
	}
	if out.Regions, err = s.await(ctx, c, w, written); err != nil {
		_ = s.result(out)
		return err
	}
	return s.result(out)
}

// previewOfOne is how many tenants are looked at where one cannot say.
const previewOfOne = 2000
