package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// newRoot returns the command with all its subcommands.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "weir",
		Short: "Rate limits for APIs behind Amazon API Gateway",
		Long: `Weir limits each tenant of an API behind Amazon API Gateway. It is a Lambda
authorizer and two DynamoDB tables. This command runs it locally (dev, demo, sim)
and operates a deployment: its plans, tenants and keys.`,
		Example: `  weir demo                  see it work: a burst, a 429, the wait, and who is not affected
  weir dev                   a local API Gateway to send requests to
  weir dev --plans my.yaml   the same with your own plans
  weir plan diff my.yaml     what they would change in a deployment
  weir explain acme          why a tenant is served or refused`,
		SilenceErrors: true, // main prints them
		SilenceUsage:  true, // an error says what to do; the usage would hide it
		Args:          noArgs,

		SuggestionsMinimumDistance: 2, // of misspelt commands

		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; `%s --help` lists the flags", err, cmd.CommandPath())
	})
	root.AddCommand(newDev(), newDemo(), newSim(), newVersion())
	root.AddCommand(newPlan(), newTenant(), newKey(), newExplain(), newUsage(), newHome(), newDoctor())
	return root
}

// noArgs refuses arguments, among them misspelt commands.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasSubCommands() {
		return fmt.Errorf("%s takes no arguments, got %q; `%s --help` says what it takes", cmd.CommandPath(), args[0], cmd.CommandPath())
	}
	hint := ""
	if s := cmd.SuggestionsFor(args[0]); len(s) > 0 {
		hint = "; did you mean " + strings.Join(s, " or ") + "?"
	}
	return fmt.Errorf("there is no command %q%s; `weir --help` lists them", args[0], hint)
}
