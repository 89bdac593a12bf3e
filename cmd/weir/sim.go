package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"weir/internal/plan"
	"weir/internal/sim"
	"weir/pkg/bucket"
)

// newSim is `weir sim`.
func newSim() *cobra.Command {
	s := sim.Defaults()
	var (
		f      simFlags
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Simulate one limit in several Regions and compare it with an ideal bucket",
		Long: `Simulate one limit in several Regions, with the limiter that runs in production
and modelled replication between them, and compare what it admits with one ideal
bucket that sees every request at once.

A run is deterministic: the same flags and --seed give the same figures.`,
		Example: `  weir sim --regions 3 --offered 3 --lag 1s
  weir sim --regions 3 --split 80,15,5 --offered 3 --policy alone
  weir sim --regions 3 --offered 0.9 --cut 40s-100s@1 --for 3m
  weir sim --regions 3 --offered 2 --change 60s,200/s --spread 2s
  weir sim --regions 1 --processes 10 --rate 1000/s --burst 1000 --offered 10 --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.apply(&s); err != nil {
				return err
			}
			r, err := sim.Run(s)
			if err != nil {
				return fmt.Errorf("this scenario cannot be run:\n%w", err)
			}
			if asJSON {
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetIndent("", "  ")
				return enc.Encode(r)
			}
			return printReport(cmd.OutOrStdout(), &s, r)
		},
	}
	f.register(cmd, &s)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return cmd
}

// simFlags holds the flags whose text needs parsing.
type simFlags struct {
	policy, shape, split, rate, burst, lag, length, skew string
	every, back, coalesce, churn, spread, log            string
	cuts, changes                                        []string
}

func (f *simFlags) register(cmd *cobra.Command, s *sim.Scenario) {
	fs := cmd.Flags()
	fs.IntVar(&s.Regions, "regions", s.Regions, "number of Regions, 1 to 10")
	fs.StringVar(&f.split, "split", "", "traffic by Region, any scale, e.g. 80,15,5 (default even)")
	fs.Float64Var(&s.Offered, "offered", s.Offered, "demand as a multiple of the rate")
	fs.StringVar(&f.lag, "lag", "1s", "mean replication lag")
	fs.StringVar(&f.rate, "rate", "100/s", "rate of the limit, e.g. 100/s or 600/m")
	fs.StringVar(&f.burst, "burst", "100%", "burst: a count, or a share of the rate's count")
	fs.StringVar(&f.length, "for", "2m", "simulated time")
	fs.StringArrayVar(&f.cuts, "cut", nil, "FROM-TO or FROM-TO@REGION: replication stands still; repeatable")
	fs.StringArrayVar(&f.changes, "change", nil, "AT,RATE[,BURST[,CARRY]]: the limit changes, e.g. 60s,200/s,400,as-is; repeatable")
	fs.StringVar(&f.spread, "spread", "0", "a Region hears of each change up to this much later")
	fs.StringVar(&f.skew, "skew", "", "clock error by Region, e.g. 3s,0,-1s")
	fs.IntVar(&s.Processes, "processes", s.Processes, "processes per Region, with leases; 0 is one that charges token by token")
	fs.BoolVar(&s.Zipf, "zipf", false, "divide traffic among processes by 1/rank, not evenly")
	fs.Uint64Var(&s.Seed, "seed", s.Seed, "seed of everything random")
	fs.StringVar(&f.policy, "policy", string(s.Policy), "weir, alone, lww, share or prealloc")
	fs.StringVar(&f.shape, "shape", string(s.Shape), "traffic: even, moving, bursts, onoff or silent")
	fs.StringVar(&f.every, "every", s.Every.String(), "period of --shape bursts")
	fs.StringVar(&f.back, "back", "0", "when the Region of --shape silent returns; 0 is never")
	fs.StringVar(&f.coalesce, "coalesce", "0", "writes of one item within this time replicate as one")
	fs.StringVar(&f.churn, "churn", "0", "mean life of a process; 0 is the whole run")
	fs.StringVar(&s.OnPartition, "on-partition", "serve", "during a cut: serve fully, or share")
	fs.StringVar(&f.log, "log", "", "replay requests from a file: a line each, SECONDS REGION (from 1)")
}

// apply parses the flags into s. Every problem names its flag.
func (f *simFlags) apply(s *sim.Scenario) error {
	s.Policy, s.Shape = sim.Policy(f.policy), sim.Shape(f.shape)
	limit, err := plan.ParseBucket(f.rate, f.burst)
	if err != nil {
		return err
	}
	if limit.IsUnlimited() {
		return errors.New("--rate: an unlimited limit refuses nothing; write one such as 100/s")
	}
	s.Rate, s.Burst = limit.Rate(), limit.Burst()
	for _, d := range []struct {
		flag, text string
		to         *time.Duration
	}{
		{"lag", f.lag, &s.Lag}, {"for", f.length, &s.For}, {"every", f.every, &s.Every},
		{"back", f.back, &s.Back}, {"coalesce", f.coalesce, &s.Coalesce}, {"churn", f.churn, &s.Churn}, {"spread", f.spread, &s.Spread},
	} {
		if *d.to, err = seconds(d.text); err != nil {
			return fmt.Errorf("--%s: %w", d.flag, err)
		}
	}
	if s.Split, err = list(f.split, parseWeight); err != nil {
		return fmt.Errorf("--split: %w", err)
	}
	if s.Skew, err = list(f.skew, seconds); err != nil {
		return fmt.Errorf("--skew: %w", err)
	}
	for _, text := range f.cuts {
		c, err := parseCut(text)
		if err != nil {
			return fmt.Errorf("--cut: %w", err)
		}
		s.Cuts = append(s.Cuts, c)
	}
	for _, text := range f.changes {
		c, err := parseChange(text)
		if err != nil {
			return fmt.Errorf("--change: %w", err)
		}
		s.Changes = append(s.Changes, c)
	}
	if f.log != "" {
		file, err := os.Open(f.log)
		if err != nil {
			return fmt.Errorf("--log: %w", err)
		}
		defer file.Close()
		if s.Log, err = sim.ReadLog(file); err != nil {
			return fmt.Errorf("--log %s: %w", f.log, err)
		}
	}
	return nil
}

// seconds parses a duration; a bare number counts seconds.
func seconds(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		text = strconv.FormatFloat(n, 'f', -1, 64) + "s"
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no duration: write it as 1s, 250ms or 2m", text)
	}
	return d, nil
}

func parseWeight(text string) (float64, error) {
	w, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), "%"), 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no number", text)
	}
	return w, nil
}

// list parses a comma-separated list; an empty text is no list.
func list[T any](text string, parse func(string) (T, error)) ([]T, error) {
	if text == "" {
		return nil, nil
	}
	var out []T
	for part := range strings.SplitSeq(text, ",") {
		x, err := parse(part)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// parseCut parses FROM-TO or FROM-TO@REGION.
func parseCut(text string) (c sim.Cut, err error) {
	span, region, named := strings.Cut(text, "@")
	from, to, ok := strings.Cut(span, "-")
	if !ok {
		return c, fmt.Errorf("%q: want FROM-TO, e.g. 40s-100s, or FROM-TO@REGION", text)
	}
	if c.From, err = seconds(from); err != nil {
		return c, err
	}
	if c.To, err = seconds(to); err != nil {
		return c, err
	}
	if named {
		if c.Region, err = strconv.Atoi(region); err != nil || c.Region < 1 {
			return c, fmt.Errorf("%q: Regions are counted from 1", text)
		}
	}
	return c, nil
}

// parseChange parses AT,RATE[,BURST[,CARRY]].
func parseChange(text string) (c sim.Change, err error) {
	parts := strings.Split(text, ",")
	if len(parts) < 2 || len(parts) > 4 {
		return c, fmt.Errorf("%q: want AT,RATE[,BURST[,CARRY]], e.g. 60s,200/s or 60s,200/s,400,as-is", text)
	}
	burst, carry := "100%", ""
	if len(parts) > 2 {
		burst = parts[2]
	}
	if len(parts) > 3 {
		carry = parts[3]
	}
	if c.At, err = seconds(parts[0]); err != nil {
		return c, err
	}
	limit, err := plan.ParseBucket(parts[1], burst)
	if err != nil {
		return c, err
	}
	if limit.IsUnlimited() {
		return c, fmt.Errorf("%q: an unlimited limit refuses nothing; write one such as 100/s", text)
	}
	c.Rate, c.Burst = limit.Rate(), limit.Burst()
	c.Carry, err = bucket.ParseCarry(carry)
	return c, err
}

// printReport prints r for people.
func printReport(out io.Writer, s *sim.Scenario, r *sim.Report) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "policy %s, %d Regions, %d/%v burst %d, %v\n\n", r.Policy, s.Regions, s.Rate.Count, s.Rate.Period, s.Burst, s.For)
	fmt.Fprintf(w, "offered\t%d\t\n", r.Offered)
	fmt.Fprintf(w, "admitted\t%d\t\n", r.Admitted)
	fmt.Fprintf(w, "ideal\t%d\tone bucket that sees every request at once\n", r.Ideal)
	fmt.Fprintf(w, "ratio\t%.3f\tadmitted / ideal\n", r.Ratio)
	fmt.Fprintf(w, "false refusals\t%d\trefused although the ideal bucket admitted them\n", r.FalseRefusals)
	fmt.Fprintf(w, "worst window\t%.2f\tmost admitted in 10 s / (burst + 10 s of rate)\n", r.WorstWindow)
	fmt.Fprintf(w, "overshoot\t%d\tmost admitted above burst + rate * t, in any interval\n", r.OvershootMax)
	fmt.Fprintf(w, "store calls\t%d\t%.1f per 1000 requests", r.StoreCalls, r.StoreCallsPer1000)
	if r.StoreCallsPer1000Refused > 0 {
		fmt.Fprintf(w, ", %.1f per 1000 refused", r.StoreCallsPer1000Refused)
	}
	fmt.Fprintf(w, "\nwrite units\t%.0f\tof which %.0f bought refusals\n", r.WriteUnits, r.UnitsOnRefusals)
	if r.Policy != sim.LWW { // there the row has lost count
		fmt.Fprintf(w, "stranded\t%d\ttokens charged and never spent\n", r.Stranded)
	}
	if r.SkewSeenMs > 0 {
		fmt.Fprintf(w, "skew seen\t%d ms\tlargest clock difference that a Region noticed\n", r.SkewSeenMs)
	}
	fmt.Fprint(w, "\nRegion\toffered\tadmitted\tcharges\tqueries\twrite units\n")
	for _, x := range r.Regions {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%.0f\n", x.Name, x.Offered, x.Admitted, x.Charges, x.Queries, x.WriteUnits)
	}
	fmt.Fprintf(w, "\nagain:  %s\n", r.Command)
	return w.Flush()
}
