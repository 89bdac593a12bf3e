package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"weir/internal/doctor"
)

// examination are the flags of `weir doctor`.
type examination struct {
	synth   string
	name    string
	regions []string
	open    []string
}

func newDoctor() *cobra.Command {
	var o operation
	var f examination
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what keeps a deployment from limiting",
		Long: `Look at a deployment for everything that would make limiting silently not work: an
authorizer whose answers are cached, a refusal that is no 429, a method that nobody
limits, missing permissions, a reconciler that reads no stream, a table without a
replica, replication that has stalled, a home that nobody writes from.

With --synth it looks at templates instead, before they are deployed, and calls
nobody. Some things can only be seen in one of the two.

It changes nothing. The exit code is 2 if something is broken, and 0 if nothing is
worse than risky.`,
		Example: `  weir doctor --synth build/cdk.out
  weir doctor --region eu-west-1 --config-table weir-config --buckets-table weir-buckets
  weir doctor --region eu-west-1 --config-table weir-config --open /health`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.synth != "" {
				d, err := doctor.Synthesised(f.synth)
				if err != nil {
					return err
				}
				return diagnose(newConsole(cmd, o.json), d)
			}
			return o.run(cmd, func(ctx context.Context, s *session) error { return s.doctor(ctx, f) })
		},
	}
	o.addTo(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.synth, "synth", "", "look at the templates in `DIR`, that the CDK has written")
	fl.StringVar(&f.name, "name", "", "`NAME` of the deployment; default the config table's, less -config")
	regionsFlag(fl, &f.regions, "`REGIONS` to look at, with commas; default those that the config table is in; env WEIR_REGIONS")
	fl.StringSliceVar(&f.open, "open", nil, "`PATHS` of APIs that are meant to be without a limit")
	return cmd
}

// doctor looks at what is deployed.
func (s *session) doctor(ctx context.Context, f examination) error {
	name := f.name
	if name == "" {
		short, ok := strings.CutSuffix(s.names.config, "-config")
		if !ok {
			return fmt.Errorf("what is the deployment called? Its config table %s does not end in -config: name it with --name, its functions are NAME-authorizer and NAME-reconciler", s.names.config)
		}
		name = short
	}
	regions, err := s.regions(ctx, f.regions)
	if err != nil {
		return err
	}
	d, err := s.look(ctx, name, regions, f.open)
	if err != nil {
		return err
	}
	return diagnose(s.console, d)
}

// diagnosisJSON is the result of `weir doctor --json`.
type diagnosisJSON struct {
	Regions  []string         `json:"regions"`
	Findings []doctor.Finding `json:"findings"`
}

// diagnose prints what is wrong with a deployment. Something that is broken is a
// refusal.
func diagnose(c *console, d doctor.Deployment) error {
	found := doctor.Check(d)
	count := map[doctor.Severity]int{}
	paint := map[doctor.Severity]colour{doctor.Broken: red, doctor.Risky: yellow, doctor.Unknown: faint}
	apis := 0
	for _, p := range d.Parts {
		apis += len(p.APIs)
	}
	c.printf("looked at %s and %s in %s\n", plural(apis, "API", "APIs"), plural(len(d.Tables), "table", "tables"), strings.Join(d.Regions, ", "))
	for _, f := range found {
		count[f.Severity]++
		c.printf("%s  %s: %s\n        %s (%s)\n", c.paint(paint[f.Severity], fmt.Sprintf("%-7s", f.Severity)), f.Where, f.What, f.Fix, f.Rule)
	}
	if len(found) == 0 {
		c.printf("%s\n", c.paint(green, "nothing is wrong"))
	}
	out := diagnosisJSON{Regions: d.Regions, Findings: found}
	if out.Findings == nil {
		out.Findings = []doctor.Finding{}
	}
	if err := c.result(out); err != nil {
		return err
	}
	if n := count[doctor.Broken]; n > 0 {
		return refusal{errors.New(plural(n, "thing is broken", "things are broken"))}
	}
	return nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
