package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"weir/internal/operator"
)

func newUsage() *cobra.Command {
	var (
		o     operation
		month string
	)
	cmd := &cobra.Command{
		Use:   "usage [TENANT]",
		Short: "Show what tenants have used in a month",
		Long: `Show how many tokens a tenant, or every tenant, has used of each limit in a month
(UTC), in all Regions together. The reconcilers count about once an hour; AS OF is
when the slowest Region has counted last.

What is counted are the limits with one bucket for a tenant: not those with one
for each address or header.`,
		Example: `  weir usage acme
  weir usage --month 2026-11 --json`,
		Args:              takes(0, 1, "the id of a tenant, or nothing"),
		ValidArgsFunction: o.complete(1, tenantIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := operator.ParseMonth(month, time.Now().UnixNano())
			if err != nil {
				return fmt.Errorf("--month %w", err)
			}
			for _, id := range args {
				if err := checkTenantID(id); err != nil {
					return err
				}
			}
			return o.run(cmd, func(ctx context.Context, s *session) error { return s.usage(ctx, args, m) })
		},
	}
	o.addTo(cmd)
	cmd.Flags().StringVar(&month, "month", "", "`MONTH` such as 2026-11; default the present one")
	return cmd
}

func (s *session) usage(ctx context.Context, ids []string, month string) error {
	c := s.config()
	var err error
	if len(ids) == 0 {
		ids, err = operator.AllTenants(ctx, c)
	} else {
		err = operator.TenantExists(ctx, c, ids[0])
	}
	if err != nil {
		return err
	}
	line := s.progress()
	uses, err := operator.Usage(ctx, c, ids, month, func(looked, of int) {
		line.show("looked at %s of %s", thousands(looked), count(of, "tenant"))
	})
	line.end()
	if err != nil {
		return err
	}
	rows := [][]string{{"TENANT", "LIMIT", "TOKENS", "BY REGION", "AS OF"}}
	for _, u := range uses {
		var parts []string
		for _, region := range slices.Sorted(maps.Keys(u.Regions)) {
			parts = append(parts, fmt.Sprintf("%s %s", region, thousands(int(u.Regions[region]))))
		}
		rows = append(rows, []string{u.Tenant, u.Limit, thousands(int(u.Tokens)), strings.Join(parts, ", "), u.At.String()})
	}
	if len(uses) == 0 {
		s.printf("Nothing was counted for %s.\n", month)
	} else {
		s.table(rows)
	}
	return s.result(usageJSON{month, append([]operator.Use{}, uses...)})
}

// usageJSON is the result of weir usage.
type usageJSON struct {
	Month string         `json:"month"`
	Usage []operator.Use `json:"usage"`
}
