package main

import (
	"context"
	"fmt"
	"regexp"

	"github.com/spf13/cobra"

	"weir/internal/operator"
	"weir/pkg/ddbstore"
)

// regionName is what the name of a Region looks like.
var regionName = regexp.MustCompile(`^[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}$`)

func newHome() *cobra.Command {
	var o operation
	cmd := group("home", "Show or move the Region where the configuration is written",
		`Plans, tenants and keys are read in every Region and written in one, the home: a
global table keeps the last of two writes and drops the other. Requests are
limited in all Regions whether the home is there or not; only changes need it.`,
		`  weir home show
  weir home move us-east-1 --region us-east-1 --reason "eu-west-1 is down"`,
		newHomeShow(&o), newHomeMove(&o))
	o.addTo(cmd)
	return cmd
}

// homeJSON is the result of weir home show and move.
type homeJSON struct {
	Home       string          `json:"home"` // "" if none is set: the first change sets it
	Heartbeats []heartbeatJSON `json:"heartbeats"`
}

type heartbeatJSON struct {
	Region string           `json:"region"`
	At     operator.Instant `json:"at"` // null if there is none
}

func newHomeShow(o *operation) *cobra.Command {
	var regions []string
	cmd := &cobra.Command{
		Use:     "show",
		Short:   "Show the home Region, and when each Region was last heard",
		Long:    `Show the home Region, and when the reconciler of each Region was last heard here.`,
		Example: `  weir home show`,
		Args:    takes(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd, func(ctx context.Context, s *session) error { return s.homeShow(ctx, regions) })
		},
	}
	regionsFlag(cmd.Flags(), &regions, "`REGIONS` to show, with commas; default those that the config table is in; env WEIR_REGIONS")
	return cmd
}

func (s *session) homeShow(ctx context.Context, named []string) error {
	c := s.config()
	home, err := c.Home(ctx)
	if err != nil {
		return err
	}
	s.printf("home: %s\n", orElse(home, "none yet; the first change makes its Region the home"))
	regions, err := s.regions(ctx, named)
	if err != nil {
		return err
	}
	beats, err := c.Heartbeats(ctx, regions)
	if err != nil {
		return err
	}
	at := map[string]int64{}
	for _, b := range beats {
		at[b.Region] = b.At
	}
	out := homeJSON{Home: home, Heartbeats: []heartbeatJSON{}}
	for _, region := range regions {
		out.Heartbeats = append(out.Heartbeats, heartbeatJSON{region, operator.Instant(at[region])})
		heard := "was never heard here"
		if at[region] != 0 {
			heard = fmt.Sprintf("was heard %s ago", ago(operator.Instant(at[region]), operator.Instant(s.now())))
		}
		s.printf("  %-16s %s\n", region, heard)
	}
	return s.result(out)
}

func newHomeMove(o *operation) *cobra.Command {
	var f changing
	cmd := &cobra.Command{
		Use:   "move REGION",
		Short: "Make another Region the home",
		Long: `Make another Region the one where the configuration is written.

It is done in the present home, if that can be reached. If it is lost, take over
with --region naming the new home: make sure first that nobody changes anything in
the old one. What both Regions write of one thing, the later write keeps.

Wait some seconds before the first change in the new home, until replication has
brought what the old one wrote last.`,
		Example: `  weir home move us-east-1 --reason "eu-west-1 is drained"
  weir home move us-east-1 --region us-east-1 --reason "eu-west-1 is lost"`,
		Args: takes(1, 1, "the Region that is to be the home"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !regionName.MatchString(args[0]) {
				return fmt.Errorf("%q is no Region: want one such as eu-west-1", args[0])
			}
			return o.run(cmd, func(ctx context.Context, s *session) error { return s.homeMove(ctx, args[0], f) })
		},
	}
	f.addTo(cmd.Flags())
	return cmd
}

func (s *session) homeMove(ctx context.Context, to string, f changing) error {
	c := s.config()
	is, err := c.Home(ctx)
	if err != nil {
		return err
	}
	if is == to {
		s.printf("%s is the home already.\n", to)
		return s.result(homeJSON{Home: to, Heartbeats: []heartbeatJSON{}})
	}
	over := s.region == to // takes over, without the present home
	if !over && is != "" && is != s.region {
		c = s.configIn(is)
	}
	question := fmt.Sprintf("Move the home from %s to %s?", orElse(is, "nowhere"), to)
	if over && is != "" {
		question = fmt.Sprintf("Take the home over from %s? It must be lost, or nobody must change anything there.", is)
	}
	if !f.yes {
		if err := s.confirm(ctx, question); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	ch, err := s.change(ctx, f, "home move")
	if err != nil {
		return err
	}
	if err := moveHome(ctx, c, to, ch); err != nil {
		return err
	}
	s.printf("The home is %s. Wait some seconds before the first change there.\n", to)
	return s.result(homeJSON{Home: to, Heartbeats: []heartbeatJSON{}})
}

// moveHome goes on to its end when ctx is cancelled.
func moveHome(ctx context.Context, c *ddbstore.Config, to string, ch ddbstore.Change) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), setupTimeout)
	defer cancel()
	return c.MoveHome(ctx, to, ch)
}
