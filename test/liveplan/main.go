// Liveplan changes a plan in three Regions of real parts while one of its tenants
// floods them, and measures how long it takes until every authorizer honours the
// new limit. It changes the plan as an operator does, with `weir plan apply`, and
// ends with 1 if something Weir promises was not kept.
//
// Its last line is JSON:
//
//	changes      plan changes made
//	p50Ms, p99Ms from the change being written until an authorizer honours it, over all of them and all changes
//	lagMs        replication lag of the config table, mean
//	errors       requests that were not decided, were let through unchecked, or quoted an old limit after the new one
//	levelsKept   whether every bucket kept its level, by the carry-over asked for
//	revokedMs, suspendedMs  the same for a revoked key and a suspended tenant, the slowest authorizer
//
// Nothing leaves the machine, and everything ends with the program.
package main

import (
	"context"
	"flag"
	"os"

	"weir/internal/testworld"
)

func main() { testworld.Main("liveplan", run) }

// run makes the changes and reports whether every promise was kept.
func run(ctx context.Context) (bool, error) {
	o := defaults()
	flag.IntVar(&o.changes, "changes", o.changes, "changes of the plan")
	flag.IntVar(&o.processes, "processes", o.processes, "authorizers in each Region")
	flag.DurationVar(&o.lag, "lag", o.lag, "mean replication lag")
	flag.Uint64Var(&o.seed, "seed", o.seed, "of the lags")
	flag.Parse()
	s, err := start(ctx, o)
	if err != nil {
		return false, err
	}
	defer s.close()
	r, err := s.tell(ctx, os.Stdout)
	if err != nil {
		return false, err
	}
	return r.print(os.Stdout)
}
