package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"weir/internal/operator"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// editFlags say what a tenant is to have.
type editFlags struct {
	plan   string
	limits []string
	bursts []string
	clear  []string
	mode   string
	hold   string
	carry  string
}

func (f *editFlags) addTo(o *operation, cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.plan, "plan", "", "`PLAN` to be on")
	fl.StringArrayVar(&f.limits, "limit", nil, "rate of its own, `LIMIT=RATE`, such as api=200/s; may be repeated")
	fl.StringArrayVar(&f.bursts, "burst", nil, "burst of its own, `LIMIT=TOKENS`, such as api=400 or api=200%; may be repeated")
	fl.StringVar(&f.mode, "mode", "", "`MODE` of its own: enforce, shadow or off; enforce leaves it to the plan")
	fl.StringVar(&f.hold, "hold", "", "how `LONG` its requests may wait for a token, such as 250ms; 0s leaves it to the plan")
	_ = cmd.RegisterFlagCompletionFunc("plan", o.completeFlag(planNames))
}

func (f *editFlags) parse() (operator.TenantEdit, error) {
	e, err := operator.ParseTenantEdit(f.limits, f.bursts, f.clear, f.mode, f.hold)
	if err != nil {
		return e, err
	}
	e.Plan = f.plan
	if e.Carry, err = parseCarry(f.carry); err != nil {
		return e, err
	}
	if f.plan != "" {
		return e, checkPlanName(f.plan)
	}
	return e, nil
}

// whom are the flags of commands that work on one tenant or many.
type whom struct {
	allOn    string
	fromFile string
}

func (w *whom) addTo(o *operation, cmd *cobra.Command) {
	cmd.Flags().StringVar(&w.allOn, "all-on", "", "all tenants on `PLAN`")
	cmd.Flags().StringVar(&w.fromFile, "from-file", "", "the tenants in `FILE`, an id a line; - is standard input")
	_ = cmd.RegisterFlagCompletionFunc("all-on", o.completeFlag(planNames))
}

// named returns the tenants that arguments and a file name, each once.
func (w *whom) named(cmd *cobra.Command, args []string) ([]string, error) {
	ways := 0
	for _, used := range []bool{len(args) > 0, w.allOn != "", w.fromFile != ""} {
		if used {
			ways++
		}
	}
	switch {
	case ways == 0:
		return nil, errors.New("which tenants? Name them, or say --all-on PLAN or --from-file FILE")
	case ways > 1:
		return nil, errors.New("say in one way only which tenants: by name, --all-on or --from-file")
	case w.allOn != "":
		return nil, checkPlanName(w.allOn)
	}
	ids := slices.Clone(args)
	if w.fromFile != "" {
		file, name, err := openFile(cmd, w.fromFile, "tenants")
		if err != nil {
			return nil, err
		}
		defer file.Close()
		if ids, err = readIDs(file, name); err != nil {
			return nil, err
		}
	}
	for _, id := range args {
		if err := checkTenantID(id); err != nil {
			return nil, err
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// readIDs reads ids, one a line; empty lines and those that begin with # are
// skipped.
func readIDs(r io.Reader, name string) ([]string, error) {
	var (
		ids  []string
		errs []error
	)
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan() && len(errs) < 100; n++ {
		id := strings.TrimSpace(lines.Text())
		if id == "" || id[0] == '#' {
			continue
		}
		if err := checkTenantID(id); err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", name, n, err))
		}
		ids = append(ids, id)
	}
	switch {
	case lines.Err() != nil:
		return nil, fmt.Errorf("read %s: %w", name, lines.Err())
	case len(errs) > 0:
		return nil, errors.Join(errs...)
	case len(ids) == 0:
		return nil, fmt.Errorf("%s names no tenant: want an id a line", name)
	}
	return ids, nil
}

func newTenantSet(o *operation) *cobra.Command {
	var (
		f setFlags
		e editFlags
		w whom
	)
	cmd := &cobra.Command{
		Use:   "set [TENANT...]",
		Short: "Change the plan and the limits of tenants",
		Long: `Change what tenants have: their plan, and what they have instead of it. What is not
said stays. Rates and bursts may be stricter than the plan's or more lenient; a
mode and a hold can only be more lenient.

For more than one tenant it says first who would be over a limit, and asks. Many
tenants are changed a few at a time, those few together or not at all. It can be
interrupted, and run again: those that are as they should be are skipped.`,
		Example: `  weir tenant set acme --limit api=200/s --burst api=400
  weir tenant set acme --clear-limit api
  weir tenant set --all-on legacy --plan pro --carry as-is
  weir tenant set --from-file vip.txt --hold 250ms --yes`,
		ValidArgsFunction: o.complete(1000, tenantIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			edit, err := e.parse()
			if err != nil {
				return err
			}
			if edit.IsZero() {
				return errors.New("what is to be changed? Say it with --plan, --limit, --burst, --clear-limit, --mode or --hold")
			}
			if _, err := f.limit(); err != nil {
				return err
			}
			ids, err := w.named(cmd, args)
			if err != nil {
				return err
			}
			return o.run(cmd, func(ctx context.Context, s *session) error {
				return s.tenantsSet(ctx, ids, w, edit, f, "tenant set")
			})
		},
	}
	f.addTo(cmd.Flags())
	e.addTo(o, cmd)
	w.addTo(o, cmd)
	cmd.Flags().StringArrayVar(&e.clear, "clear-limit", nil, "`LIMIT` that is to be the plan's again; may be repeated")
	cmd.Flags().StringVar(&e.carry, "carry", bucket.Proportional.String(), carryUsage)
	return cmd
}

func newTenantStatus(o *operation, use, short string, status ddbstore.TenantStatus) *cobra.Command {
	var (
		f setFlags
		w whom
	)
	cmd := &cobra.Command{
		Use:   use + " [TENANT...]",
		Short: short,
		Long: short + `.

It takes effect within seconds in every Region. What its buckets hold stays. For
more than one tenant it asks first.`,
		Example: fmt.Sprintf(`  weir tenant %s acme --reason "ticket 4711"
  weir tenant %s --from-file tenants.txt --yes`, use, use),
		ValidArgsFunction: o.complete(1000, tenantIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := f.limit(); err != nil {
				return err
			}
			ids, err := w.named(cmd, args)
			if err != nil {
				return err
			}
			return o.run(cmd, func(ctx context.Context, s *session) error {
				return s.tenantsSet(ctx, ids, w, operator.TenantEdit{Status: status}, f, "tenant "+use)
			})
		},
	}
	f.addTo(cmd.Flags())
	w.addTo(o, cmd)
	return cmd
}

// setFlags are those of the commands that change tenants.
type setFlags struct {
	changing
	waiting
}

func (f *setFlags) addTo(fl *pflag.FlagSet) {
	f.changing.addTo(fl)
	fl.StringVar(&f.wait, "wait", "", "wait until their buckets have it in every Region, at most so `LONG`")
	fl.Lookup("wait").NoOptDefVal = defaultWait
}

// setJSON is the result of weir tenant set, suspend and resume.
type setJSON struct {
	Changed  []tenantChangeJSON `json:"changed"`
	Already  []string           `json:"already"` // were so before
	Left     []operator.Left    `json:"left"`    // changed by somebody else meanwhile
	Over     []operator.Over    `json:"over"`    // who would be, or are, over a limit
	Warnings []string           `json:"warnings,omitempty"`
	Change   *changeJSON        `json:"change"` // null if nothing was changed
}

type tenantChangeJSON struct {
	Tenant  string               `json:"tenant"`
	Version int64                `json:"version"`
	Fields  []operator.FieldDiff `json:"fields"`
}

// tenantsSet changes tenants: those with the ids, or all on a plan.
func (s *session) tenantsSet(ctx context.Context, ids []string, w whom, e operator.TenantEdit, f setFlags, unsaid string) error {
	c, err := s.home(ctx)
	if err != nil {
		return err
	}
	if w.allOn != "" {
		if _, _, err := operator.PlanRollout(ctx, c, w.allOn); err != nil {
			return err
		}
		if ids, err = operator.TenantsOn(ctx, c, w.allOn); err != nil {
			return err
		}
	}
	drafts, out, err := s.tenantDrafts(ctx, c, ids, e)
	if err != nil {
		return err
	}
	s.writeTenantDrafts(drafts, out)
	if len(drafts) == 0 {
		s.printf("Nothing to change: %s.\n", map[bool]string{true: "there is nobody on the plan", false: "it is so already"}[len(ids) == 0])
		return s.result(out)
	}
	if len(drafts) > 1 && !f.yes {
		if err := s.confirm(ctx, fmt.Sprintf("Change %s?", count(len(drafts), "tenant"))); err != nil {
			return err
		}
	}
	ch, err := s.change(ctx, f.changing, unsaid)
	if err != nil {
		return err
	}
	puts := make([]ddbstore.Put, len(drafts))
	for i, d := range drafts {
		puts[i] = d.Put
	}
	line := s.progress()
	bulk := operator.Bulk{Config: c, Change: ch, Now: s.now, Progress: func(done, of int) {
		line.show("%s of %s", thousands(done), count(of, "tenant"))
	}}
	written, left, err := bulk.Write(ctx, puts)
	line.end()
	out.Left = append(out.Left, left...)
	for _, p := range written {
		t := p.(ddbstore.Tenant)
		out.Change = &changeJSON{t.Change.Author, t.Change.Reason, operator.Instant(t.Change.At), t.Stamp}
		i := slices.IndexFunc(drafts, func(d operator.TenantDraft) bool { return d.Base.ID == t.ID })
		out.Changed = append(out.Changed, tenantChangeJSON{t.ID, t.Version, drafts[i].Fields})
	}
	err = s.endOfSet(written, left, len(drafts), err)
	if err == nil {
		err = s.awaitTenants(ctx, c, f.waiting, idsOf(drafts))
	}
	return errors.Join(err, s.result(out))
}

func idsOf(drafts []operator.TenantDraft) []string {
	ids := make([]string, len(drafts))
	for i, d := range drafts {
		ids[i] = d.Base.ID
	}
	return ids
}

// endOfSet tells how a change of many ended.
func (s *session) endOfSet(written []ddbstore.Put, left []operator.Left, of int, err error) error {
	var stopped *operator.InterruptedError
	switch {
	case errors.As(err, &stopped):
		return interruption{fmt.Errorf("%w: run the same command again for the rest, it skips those that are done", err)}
	case err != nil && len(written) > 0:
		return fmt.Errorf("%w\n%d of %d are done; run the same command again for the rest, it skips those", err, len(written), of)
	case err != nil:
		return err
	}
	s.printf("%s\n", s.paint(green, count(len(written), "tenant")+" changed"))
	if len(left) == 0 {
		return nil
	}
	var b strings.Builder
	for _, l := range left {
		fmt.Fprintf(&b, "\n  %s", l.Why)
	}
	return refusal{fmt.Errorf("%s left alone, changed by somebody else meanwhile:%s\nRun the same command again to see them as they are now", count(len(left), "tenant"), b.String())}
}

// tenantDrafts returns what is to be changed, and the result so far.
func (s *session) tenantDrafts(ctx context.Context, c *ddbstore.Config, ids []string, e operator.TenantEdit) ([]operator.TenantDraft, setJSON, error) {
	out := setJSON{Changed: []tenantChangeJSON{}, Already: []string{}, Left: []operator.Left{}, Over: []operator.Over{}}
	p := operator.Preview{Config: c, Now: s.now()}
	if e.Status == "" {
		var err error
		if p.Buckets, err = s.buckets(); err != nil {
			return nil, out, err
		}
	}
	line := s.progress()
	defer line.end()
	p.Progress = func(looked, of int) { line.show("looked at %s of %s", thousands(looked), count(of, "tenant")) }
	all, err := p.DraftTenants(ctx, ids, e)
	if err != nil {
		return nil, out, err
	}
	var drafts []operator.TenantDraft
	for _, d := range all {
		if len(d.Fields) == 0 {
			out.Already = append(out.Already, d.Base.ID)
			continue
		}
		drafts = append(drafts, d)
		out.Over = append(out.Over, d.Over...)
		for _, w := range d.Warnings {
			out.Warnings = append(out.Warnings, fmt.Sprintf("tenant %s: %s", d.Base.ID, w))
		}
	}
	return drafts, out, nil
}

// draftsShown is how many tenants are told one by one before they are changed.
const draftsShown = 10

func (s *session) writeTenantDrafts(drafts []operator.TenantDraft, out setJSON) {
	for _, d := range drafts[:min(len(drafts), draftsShown)] {
		s.printf("%s\n", s.paint(bold, fmt.Sprintf("tenant %s: version %d -> %d", d.Base.ID, d.Base.Version, d.Base.Version+1)))
		s.writeFields("  ", d.Fields)
	}
	if n := len(drafts) - draftsShown; n > 0 {
		s.printf("and %s more\n", count(n, "tenant"))
	}
	if n := len(out.Already); n > 0 && len(drafts) > 0 {
		s.printf("%s so already, and skipped\n", count(n, "tenant"))
	}
	for i, w := range out.Warnings {
		if i == draftsShown {
			s.note("and %s more", count(len(out.Warnings)-i, "warning"))
			break
		}
		s.note("warning: %s", w)
	}
	if len(drafts) > 0 {
		if n := operator.Tenants(out.Over); n > 0 {
			s.printf("%s would be over the new limit now:\n", count(n, "tenant"))
		}
		s.writeOver(out.Over)
	}
}
