package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"weir/internal/operator"
	"weir/internal/plan"
	"weir/pkg/bucket"
)

func newPlan() *cobra.Command {
	var o operation
	cmd := group("plan", "Compare, change and roll back plans",
		`Plans are changed from a plans file, the same that weir dev reads. A change takes
effect in every Region within seconds of its reconciler seeing it; no bucket is
emptied or filled by it unless you ask for that with --carry.

Every change has a version, an author and a reason, and can be rolled back.`,
		`  weir plan diff plans.yaml
  weir plan apply plans.yaml --reason "larger bursts for pro" --wait
  weir plan apply plans.yaml --canary 5%,25%,100% --every 10m --alarm api-5xx
  weir plan rollback pro`,
		newPlanDiff(&o), newPlanApply(&o), newPlanShow(&o), newPlanHistory(&o), newPlanRollback(&o), newPlanRollout(&o))
	o.addTo(cmd)
	return cmd
}

// parsePlans reads a plans file; "-" is standard input.
func parsePlans(cmd *cobra.Command, name string) (*plan.File, error) {
	if name != "-" {
		return readPlans(name)
	}
	data, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), plan.MaxFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("read plans: %w", err)
	}
	f, err := plan.Parse("standard input", data)
	if err != nil {
		return nil, fmt.Errorf("the plans are not right:\n%w", err)
	}
	return f, nil
}

// notePlans says what of a plans file is not for the config table.
func notePlans(c *console, f *plan.File) {
	for _, w := range f.Warnings {
		c.note("warning: %v", w)
	}
	if n := len(f.Tenants); n > 0 {
		c.note("The file has %s with keys in plain text. That is for weir dev, and left out: see weir tenant and weir key.", count(n, "tenant"))
	}
	if f.Anonymous != "" {
		c.note("Which plan requests without a credential have is a setting of the functions, WEIR_ANONYMOUS_PLAN: `anonymous` is left out.")
	}
}

// parseCarry returns the carry of a flag.
func parseCarry(s string) (bucket.Carry, error) {
	c, err := bucket.ParseCarry(s)
	if err != nil {
		return c, fmt.Errorf("--carry %q: want proportional, as-is, additive or reset", s)
	}
	return c, nil
}

const carryUsage = "`HOW` to bring buckets to a new limit: proportional (the same part is used), as-is (as many tokens remain), additive (as many are used) or reset (full)"

// count returns a number and its noun, in the plural unless it is 1.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%s %ss", thousands(n), noun)
}

// thousands returns n with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// buckets returns where levels are looked at, or nil with a note if the table is
// not named.
func (s *session) buckets() (*operator.Buckets, error) {
	if s.names.buckets == "" {
		s.note("Nobody's level is looked at: name the table of buckets with --buckets-table or WEIR_BUCKETS_TABLE.")
		return nil, nil
	}
	b, err := s.bucketsIn(s.region)
	return &b, err
}

// bucketsIn returns the buckets as a Region's replica has them.
func (d *deployment) bucketsIn(region string) (operator.Buckets, error) {
	rows, err := d.rows(region)
	if err != nil {
		return operator.Buckets{}, err
	}
	b := operator.Buckets{Region: region, Plain: rows, Grace: bucket.DefaultGrace}
	if strict := d.strictRows(region); strict != nil {
		b.Strict = strict
	}
	return b, nil
}

// checkPlanName refuses what cannot be the name of a plan, before anything is
// asked of a table.
func checkPlanName(name string) error {
	if !plan.ValidName(name) {
		return fmt.Errorf("%q cannot be the name of a plan: want 1 to %d letters, digits, '.', '_' and '-'", name, plan.MaxName)
	}
	return nil
}

// openFile opens a file of lines; "-" is standard input.
func openFile(cmd *cobra.Command, name, what string) (io.ReadCloser, string, error) {
	if name == "-" {
		return io.NopCloser(cmd.InOrStdin()), "standard input", nil
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, name, fmt.Errorf("there is no file %s with %s", name, what)
	}
	if err != nil {
		return nil, name, fmt.Errorf("read %s: %w", what, err)
	}
	return f, name, nil
}
