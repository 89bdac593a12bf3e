package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"weir/internal/operator"
	"weir/internal/plan"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// applyFlags are those of weir plan apply.
type applyFlags struct {
	changing
	waiting
	only    []string
	carry   string
	at      string
	canary  []string
	every   string
	tenants []string
	alarm   string
	check   string
	preview int
}

func newPlanApply(o *operation) *cobra.Command {
	var f applyFlags
	cmd := &cobra.Command{
		Use:   "apply FILE",
		Short: "Change plans to what a plans file says",
		Long: `Change the plans in the config table to what a file says: all that differ, in one
transaction, or none. Plans that the file does not have stay as they are.

Before it changes what more than one tenant has, it says how many those are and
which of them would be over a new limit at once, and asks. What was shown is what
is changed: if somebody else changes one of the plans meanwhile, it is refused.

At once, the default, means within seconds in every Region. With --at the change
waits for a time. With --canary it reaches the tenants that --tenants names, and
then a growing share of all others: by itself, one step every --every, going
back if --alarm goes off; or with --check under the eyes of this command, which
runs CMD after each step and takes everything back if that fails.`,
		Example: `  weir plan apply plans.yaml
  weir plan apply plans.yaml --yes --reason "INC-42: halve free" --wait
  weir plan apply plans.yaml --at 2026-12-01T00:00:00Z
  weir plan apply plans.yaml --canary 5%,25%,100% --every 10m --alarm api-5xx
  weir plan apply plans.yaml --canary 1%,100% --every 5m --check ./error-rate-is-low`,
		Args: takes(1, 1, "a plans file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := f.parse(time.Now().UnixNano())
			if err != nil {
				return err
			}
			plans, err := parsePlans(cmd, args[0])
			if err != nil {
				return err
			}
			return o.run(cmd, func(ctx context.Context, s *session) error { return s.planApply(ctx, args[0], plans, f, r) })
		},
	}
	fl := cmd.Flags()
	f.changing.addTo(fl)
	f.waiting.addTo(fl)
	fl.StringSliceVar(&f.only, "only", nil, "`PLANS` to change, with commas; default all of the file")
	fl.StringVar(&f.carry, "carry", bucket.Proportional.String(), carryUsage)
	fl.StringVar(&f.at, "at", "", "`TIME` from which on it holds: RFC 3339, or +2h")
	fl.StringSliceVar(&f.canary, "canary", nil, "`SHARES` of the tenants that get it step by step, such as 5%,25%,100%")
	fl.StringVar(&f.every, "every", "10m", "how `LONG` a step lasts")
	fl.StringSliceVar(&f.tenants, "tenants", nil, "`TENANTS` who get it from the first step on, with commas")
	fl.StringVar(&f.alarm, "alarm", "", "CloudWatch `ALARM` that takes the canary back when it goes off")
	fl.StringVar(&f.check, "check", "", "stay, and run `CMD` after each step; if it fails, the canary is taken back")
	fl.IntVar(&f.preview, "preview", 2000, "look at the buckets of at most so many `TENANTS` of a plan")
	return cmd
}

// parse checks the flags and returns how the change is to be made.
func (f *applyFlags) parse(now int64) (way, error) {
	w := way{check: f.check}
	var err error
	if w.carry, err = parseCarry(f.carry); err != nil {
		return w, err
	}
	if f.preview < 0 {
		return w, fmt.Errorf("--preview %d: want 0 or more", f.preview)
	}
	canary := len(f.canary) > 0 || len(f.tenants) > 0
	switch {
	case f.at != "" && canary:
		return w, errors.New("--at is for everybody at once: leave it out, or --canary and --tenants")
	case !canary && (f.alarm != "" || f.check != ""):
		return w, errors.New("--alarm and --check are of a canary: say who gets it first with --canary or --tenants")
	case f.alarm != "" && f.check != "":
		return w, errors.New("either the reconciler watches --alarm, or this command runs --check: leave one of them out")
	case f.wait != "" && (canary || f.at != ""):
		return w, errors.New("--wait is for a change that is made at once: follow a rollout with `weir plan rollout PLAN`")
	}
	if _, err := f.waiting.limit(); err != nil {
		return w, err
	}
	if f.at != "" {
		at, err := operator.ParseWhen(f.at, now)
		if err != nil {
			return w, fmt.Errorf("--at %w", err)
		}
		w.rollout = &plan.Rollout{Carry: w.carry, From: at}
	}
	if canary {
		return w, f.parseCanary(&w, now)
	}
	return w, nil
}

func (f *applyFlags) parseCanary(w *way, now int64) error {
	var shares []plan.Share
	for _, s := range f.canary {
		share, err := plan.ParseShare(s)
		if err != nil {
			return fmt.Errorf("--canary: %w", err)
		}
		if n := len(shares); share == 0 || n > 0 && share <= shares[n-1] {
			return fmt.Errorf("--canary %s: want shares that grow, such as 5%%,25%%,100%%", s)
		}
		shares = append(shares, share)
	}
	for _, id := range f.tenants {
		if !plan.ValidName(id) {
			return fmt.Errorf("--tenants: %q cannot be the id of a tenant", id)
		}
	}
	every, err := operator.ParseSpan(f.every)
	if err != nil && (f.check == "" || f.every != "0s" && f.every != "0") {
		return fmt.Errorf("--every %w", err)
	}
	w.every = every
	if f.check != "" { // this command steps; what is stored is for whoever resumes it
		every = max(every.Round(plan.MinEvery), plan.MinEvery)
	}
	if every < plan.MinEvery || every > plan.MaxEvery || every%plan.MinEvery != 0 {
		return fmt.Errorf("--every %s: want whole minutes, from 1m to 30d", f.every)
	}
	r := operator.CanaryOf(shares, every, f.tenants, w.carry, now)
	r.Alarm, r.Paused = f.alarm, f.check != ""
	w.rollout = &r
	return nil
}

// way is how a change is made.
type way struct {
	carry   bucket.Carry
	rollout *plan.Rollout // nil is at once
	check   string        // command to run after each step
	every   time.Duration // between steps, if this command makes them
}

// put returns what is written first for a draft.
func (w way) put(d *operator.PlanDraft) (ddbstore.Plan, error) {
	if w.rollout == nil {
		return d.Now(w.carry)
	}
	return d.Later(*w.rollout)
}

// applyJSON is the result of weir plan apply.
type applyJSON struct {
	Plans   []appliedJSON      `json:"plans"` // that differed
	Applied bool               `json:"applied"`
	Change  *changeJSON        `json:"change"`
	Regions []operator.Reached `json:"regions,omitempty"` // with --wait
}

type appliedJSON struct {
	planDiffJSON
	Tenants    int             `json:"tenants"`    // on the plan
	First      int             `json:"first"`      // of them, who have it as soon as the rollout begins; 0 without one
	Looked     int             `json:"looked"`     // of them, whose buckets were looked at
	Over       []operator.Over `json:"over"`       // of those, who would be over a limit
	NewVersion int64           `json:"newVersion"` // 0 if nothing was changed
}

type changeJSON struct {
	Author string           `json:"author"`
	Reason string           `json:"reason"`
	At     operator.Instant `json:"at"`
	Stamp  int64            `json:"stamp"`
}

func (s *session) planApply(ctx context.Context, name string, f *plan.File, flags applyFlags, w way) error {
	notePlans(s.console, f)
	c, err := s.home(ctx)
	if err != nil {
		return err
	}
	drafts, err := operator.DraftPlans(ctx, c, f, flags.only)
	if err != nil {
		return err
	}
	drafts = operator.Changes(drafts)
	if err := s.lookAt(ctx, c, drafts, w, flags.preview); err != nil {
		return err
	}
	out := applyJSON{Plans: []appliedJSON{}}
	if len(drafts) == 0 {
		s.printf("Nothing to change: the table has these plans.\n")
		return s.result(out)
	}
	if err := operator.CheckRollouts(drafts); err != nil {
		return err
	}
	if len(drafts) > ddbstore.MaxWrite {
		return fmt.Errorf("%d plans differ, and at most %d can be changed together: name some with --only", len(drafts), ddbstore.MaxWrite)
	}
	tenants := 0
	for i := range drafts {
		d := &drafts[i]
		s.writeDiff(d)
		tenants += len(d.Tenants)
		out.Plans = append(out.Plans, appliedJSON{planDiffJSON: diffOf(d), Tenants: len(d.Tenants), First: d.First(w.rollout, s.now()), Looked: d.Looked, Over: append([]operator.Over{}, d.Over...)})
	}
	s.writeImpact(drafts, w)
	for _, id := range flags.tenants {
		if !slices.ContainsFunc(drafts, func(d operator.PlanDraft) bool { return slices.Contains(d.Tenants, id) }) {
			s.note("warning: tenant %s is on none of these plans, so it has no part in the canary", id)
		}
	}
	if tenants > 1 && !flags.yes {
		if err := s.confirm(ctx, fmt.Sprintf("Change %s, for %s?", count(len(drafts), "plan"), count(tenants, "tenant"))); err != nil {
			return err
		}
	}
	ch, err := s.change(ctx, flags.changing, "plan apply "+name)
	if err != nil {
		return err
	}
	written, err := writePlans(ctx, c, ch, drafts, w)
	if err != nil {
		return err
	}
	for i, p := range written {
		out.Plans[i].NewVersion = p.Version
		s.printf("%s\n", s.paint(green, fmt.Sprintf("plan %s is at version %d%s", p.Name, p.Version, w.suffix(&drafts[i]))))
	}
	out.Applied, out.Change = true, changeOf(written[0])
	if w.check != "" {
		return errors.Join(s.follow(ctx, c, written, w, flags.changing), s.result(out))
	}
	if out.Regions, err = s.await(ctx, c, flags.waiting, written); err != nil {
		return errors.Join(err, s.result(out))
	}
	return s.result(out)
}

// writePlans writes what the drafts come to, in one transaction.
func writePlans(ctx context.Context, c *ddbstore.Config, ch ddbstore.Change, drafts []operator.PlanDraft, w way) ([]ddbstore.Plan, error) {
	puts := make([]ddbstore.Put, len(drafts))
	for i := range drafts {
		p, err := w.put(&drafts[i])
		if err != nil {
			return nil, err
		}
		puts[i] = p
	}
	return operator.Together[ddbstore.Plan](ctx, c, ch, puts...)
}

func changeOf(p ddbstore.Plan) *changeJSON {
	return &changeJSON{p.Change.Author, p.Change.Reason, operator.Instant(p.Change.At), p.Stamp}
}

// suffix says how far a plan that was just written has got.
func (w way) suffix(d *operator.PlanDraft) string {
	switch {
	case w.rollout == nil:
		return ""
	case d.New():
		return ": it is new, so it holds at once"
	}
	r := *w.rollout
	r.Paused = false
	return ", with " + operator.RolloutText(&r)
}

// lookAt completes the drafts by whom they would hit.
func (s *session) lookAt(ctx context.Context, c *ddbstore.Config, drafts []operator.PlanDraft, w way, most int) error {
	p := operator.Preview{Config: c, Now: s.now(), Most: most}
	if len(drafts) > 0 {
		var err error
		if p.Buckets, err = s.buckets(); err != nil {
			return err
		}
	}
	line := s.progress()
	defer line.end()
	for i := range drafts {
		p.Progress = func(looked, of int) {
			line.show("plan %s: looked at %s of %s tenants", drafts[i].Diff.Plan, thousands(looked), thousands(of))
		}
		if err := p.Plan(ctx, &drafts[i], w.carry); err != nil {
			return err
		}
	}
	return nil
}

// overShown is how many of those who would be over are listed.
const overShown = 20

// writeImpact tells whom the drafts would hit.
func (s *session) writeImpact(drafts []operator.PlanDraft, w way) {
	var over []operator.Over
	for i := range drafts {
		d := &drafts[i]
		if d.New() {
			continue
		}
		s.printf("plan %s has %s", d.Diff.Plan, count(len(d.Tenants), "tenant"))
		if w.rollout != nil && !w.rollout.Scheduled() {
			s.printf(", of whom %s have it first", thousands(d.First(w.rollout, s.now())))
		}
		switch n := operator.Tenants(d.Over); {
		case d.Looked < len(d.Tenants) && d.Looked > 0:
			s.printf("; of the first %s, %s would be over the new limit now", thousands(d.Looked), thousands(n))
		case d.Looked > 0:
			s.printf("; %s would be over the new limit now", thousands(n))
		}
		s.printf("\n")
		over = append(over, d.Over...)
	}
	s.writeOver(over)
	if w.rollout != nil && len(over) > 0 {
		s.printf("That is if all had it now; the change comes %s.\n", map[bool]string{true: "later", false: "step by step"}[w.rollout.Scheduled()])
	}
}

// writeOver lists who would be over a limit.
func (s *session) writeOver(over []operator.Over) {
	if len(over) == 0 {
		return
	}
	rows := [][]string{{"TENANT", "LIMIT", "WHY"}}
	for _, o := range over[:min(len(over), overShown)] {
		rows = append(rows, []string{o.Tenant, o.Limit, whyOver(o)})
	}
	s.table(rows)
	if n := len(over) - overShown; n > 0 {
		s.printf("and %s more; --json lists all\n", thousands(n))
	}
}

func whyOver(o operator.Over) string {
	why := fmt.Sprintf("has used %d tokens, and the burst would be %d", o.Used, o.Burst)
	if o.Why == operator.ByRate {
		why = fmt.Sprintf("spends %s, and the rate would be %s", operator.SpendText(o.Spend), o.Rate)
	}
	if o.Mode == plan.Shadow.String() {
		why += " (in shadow: nothing is refused)"
	}
	return why
}
