package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"weir/pkg/ddbstore"
)

// completionTimeout is for answering a shell that waits for completions.
const completionTimeout = 3 * time.Second

// maxCompletions is how many are asked for.
const maxCompletions = 200

// lister returns ids that begin with prefix, and perhaps others.
type lister func(ctx context.Context, c *ddbstore.Config, prefix string) ([]string, error)

// complete completes a command's arguments, so many of them, each once.
func (o *operation) complete(arguments int, ids lister) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= arguments {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all, directive := o.completeFlag(ids)(cmd, args, prefix)
		return slices.DeleteFunc(all, func(id string) bool { return slices.Contains(args, id) }), directive
	}
}

// completeFlag completes a flag. Whatever goes wrong, there is nothing to complete.
func (o *operation) completeFlag(ids lister) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		const none = cobra.ShellCompDirectiveNoFileComp
		ctx, cancel := context.WithTimeout(context.Background(), completionTimeout)
		defer cancel()
		d, err := o.open(ctx)
		if err != nil {
			return nil, none
		}
		all, err := ids(ctx, ddbstore.NewConfig(d.client(d.region), d.names.config), prefix)
		if err != nil {
			return nil, none
		}
		return slices.DeleteFunc(all, func(id string) bool { return !strings.HasPrefix(id, prefix) }), none
	}
}

func planNames(ctx context.Context, c *ddbstore.Config, _ string) ([]string, error) {
	return c.Plans(ctx)
}

// tenantIDs returns tenants whose ids begin with prefix, from the place in the
// list where those are.
func tenantIDs(ctx context.Context, c *ddbstore.Config, prefix string) ([]string, error) {
	after := ""
	if n := len(prefix); n > 0 { // just before the first of them
		after = prefix[:n-1] + string(prefix[n-1]-1) + "~"
	}
	page, err := c.Tenants(ctx, after, maxCompletions)
	return page.IDs, err
}
