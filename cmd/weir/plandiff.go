package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"weir/internal/operator"
	"weir/internal/plan"
)

func newPlanDiff(o *operation) *cobra.Command {
	var (
		only    []string
		differs bool
	)
	cmd := &cobra.Command{
		Use:   "diff FILE",
		Short: "Show what a plans file would change",
		Long: `Compare the plans of a file with those in the config table, limit by limit and
field by field. What means the same is no difference. Nothing is changed.`,
		Example: `  weir plan diff plans.yaml
  weir plan diff plans.yaml --exit-code && echo "nothing to apply"`,
		Args: takes(1, 1, "a plans file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := parsePlans(cmd, args[0])
			if err != nil {
				return err
			}
			return o.run(cmd, func(ctx context.Context, s *session) error { return s.planDiff(ctx, f, only, differs) })
		},
	}
	cmd.Flags().StringSliceVar(&only, "only", nil, "`PLANS` to compare, with commas; default all of the file")
	cmd.Flags().BoolVar(&differs, "exit-code", false, "exit with 2 if there is a difference")
	return cmd
}

func (s *session) planDiff(ctx context.Context, f *plan.File, only []string, differs bool) error {
	notePlans(s.console, f)
	drafts, err := operator.DraftPlans(ctx, s.config(), f, only)
	if err != nil {
		return err
	}
	names, err := s.config().Plans(ctx)
	if err != nil {
		return err
	}
	out := diffJSON{Plans: []planDiffJSON{}, Untouched: []string{}}
	for i := range drafts {
		s.writeDiff(&drafts[i])
		out.Plans = append(out.Plans, diffOf(&drafts[i]))
	}
	for _, name := range names {
		if f.Plans[name] == nil {
			out.Untouched = append(out.Untouched, name)
			s.printf("%s\n", s.paint(faint, fmt.Sprintf("plan %s: not in the file, stays as it is", name)))
		}
	}
	if err := s.result(out); err != nil {
		return err
	}
	if differs && len(operator.Changes(drafts)) > 0 {
		return refusal{errors.New("the file and the table differ")}
	}
	return nil
}

// diffJSON is the result of weir plan diff.
type diffJSON struct {
	Plans     []planDiffJSON `json:"plans"`
	Untouched []string       `json:"untouched"` // plans of the table that the file does not have
}

type planDiffJSON struct {
	operator.PlanDiff
	Version int64  `json:"version"` // of the plan in the table; 0 if there is none
	Rollout string `json:"rollout,omitempty"`
}

func diffOf(d *operator.PlanDraft) planDiffJSON {
	out := planDiffJSON{PlanDiff: d.Diff, Version: d.Base.Version}
	if d.Was != nil && d.Was.Next != nil {
		out.Rollout = operator.RolloutText(d.Was.Next)
	}
	return out
}

// writeDiff tells a draft's differences to people.
func (s *session) writeDiff(d *operator.PlanDraft) {
	head := fmt.Sprintf("plan %s: ", d.Diff.Plan)
	switch d.Diff.Kind {
	case operator.Same:
		s.printf("%s\n", s.paint(faint, head+"no change"))
		return
	case operator.Added:
		head += "new"
	default:
		head += fmt.Sprintf("version %d -> %d", d.Base.Version, d.Base.Version+1)
	}
	s.printf("%s\n", s.paint(bold, head))
	if d.Was != nil && d.Was.Next != nil {
		s.printf("  %s\n", s.paint(yellow, "it has "+operator.RolloutText(d.Was.Next)+" under way"))
	}
	s.writeFields("  ", d.Diff.Fields)
	for _, l := range d.Diff.Limits {
		switch l.Kind {
		case operator.Added:
			s.printf("  %s\n", s.paint(green, fmt.Sprintf("+ limit %s: %s", l.Limit, l.Brief())))
		case operator.Removed:
			s.printf("  %s\n", s.paint(red, fmt.Sprintf("- limit %s: %s", l.Limit, l.Brief())))
		default:
			s.printf("  %s\n", s.paint(yellow, "~ limit "+l.Limit))
			s.writeFields("      ", l.Fields)
			if l.Fresh {
				s.printf("      its buckets are others from then on, and start full\n")
			}
		}
	}
}

// writeFields tells which fields differ.
func (s *session) writeFields(indent string, fields []operator.FieldDiff) {
	width := 0
	for _, f := range fields {
		width = max(width, len(f.Field))
	}
	for _, f := range fields {
		s.printf("%s%-*s  %s -> %s\n", indent, width, f.Field, orElse(f.From, "none"), orElse(f.To, "none"))
	}
}
