package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"weir/pkg/ddbstore"
)

// operation are the flags of every command that works on a deployment.
type operation struct {
	connection
	json bool
}

func (o *operation) addTo(cmd *cobra.Command) {
	fl := cmd.PersistentFlags()
	o.connection.addTo(fl)
	fl.BoolVar(&o.json, "json", false, "results as JSON, with the fields of docs/cli.md")
}

// session is one run of such a command.
type session struct {
	*console
	*deployment
	now func() int64 // ns since the Unix epoch
}

// run opens the deployment and runs f in it.
func (o *operation) run(cmd *cobra.Command, f func(context.Context, *session) error) error {
	d, err := o.open(cmd.Context())
	if err != nil {
		return err
	}
	s := &session{
		console:    newConsole(cmd, o.json),
		deployment: d,
		now:        func() int64 { return time.Now().UnixNano() },
	}
	return d.advise(f(cmd.Context(), s))
}

// configIn returns the config table as a Region's replica has it, read strongly.
func (d *deployment) configIn(region string) *ddbstore.Config {
	return ddbstore.NewConfig(d.client(region), d.names.config).In(region).Consistent()
}

// config returns the config table of the Region that is read.
func (d *deployment) config() *ddbstore.Config { return d.configIn(d.region) }

// home returns the config table where it is written: in its home Region, whichever
// is read otherwise.
func (s *session) home(ctx context.Context) (*ddbstore.Config, error) {
	c := s.config()
	home, err := c.Home(ctx)
	if err != nil {
		return nil, err
	}
	if home == "" || home == s.region {
		return c, nil
	}
	s.note("The configuration is changed in %s, its home Region.", home)
	return s.configIn(home), nil
}

// group returns a command that is there for its subcommands.
func group(use, short, long, example string, subs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Example: example,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(subs...)
	return cmd
}

// takes returns the check of a command's arguments: at least and at most so many,
// called what.
func takes(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return fmt.Errorf("%s needs %s; `%s --help` says more", cmd.CommandPath(), what, cmd.CommandPath())
		case len(args) > most:
			return fmt.Errorf("%s takes %s, and got %s; `%s --help` says more", cmd.CommandPath(), what, count(len(args), "argument"), cmd.CommandPath()) // which may be keys
		}
		return nil
	}
}
