// Lab runs Weir's real parts in three Regions on this machine and tells a story:
// even traffic at three times the limit, a Region cut off and healed, a Region
// dead and its traffic moved. It compares what was admitted with the limit, and
// ends with 1 if something Weir promises was not kept.
//
// The parts: authorizer binaries as they are deployed, several in each Region,
// on AWS's emulator of the Lambda runtime; DynamoDB tables and streams on
// MiniStack; and the test replicator between them. Nothing leaves the machine,
// and everything ends with the program.
//
//	go run ./test/lab [-short] [-rate 30] [-lag 1s] [-log FILE]
//
// The log has a line "SECONDS REGION" for every request, which weir sim reads.
package main

import (
	"context"
	"flag"
	"os"

	"weir/internal/testworld"
)

func main() { testworld.Main("lab", run) }

// run tells the story and reports whether every promise was kept.
func run(ctx context.Context) (bool, error) {
	o := defaults()
	short := flag.Bool("short", false, "tell it in about 40 s")
	logFile := flag.String("log", "", "write every request to this `file`")
	flag.Int64Var(&o.rate, "rate", o.rate, "limit of the tenant, requests per second in the world")
	flag.IntVar(&o.processes, "processes", o.processes, "authorizers in each Region")
	flag.DurationVar(&o.lag, "lag", o.lag, "mean replication lag")
	flag.Uint64Var(&o.seed, "seed", o.seed, "of the arrivals and lags")
	flag.Parse()

	l, err := start(ctx, o)
	if err != nil {
		return false, err
	}
	defer l.close()
	s := longStory
	if *short {
		s = shortStory
	}
	r, err := l.tell(ctx, s, os.Stdout)
	if err != nil {
		return false, err
	}
	if *logFile != "" {
		if err := r.writeLog(*logFile); err != nil {
			return false, err
		}
	}
	return r.print(os.Stdout), nil
}
