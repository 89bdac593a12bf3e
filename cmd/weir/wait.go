package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/spf13/pflag"

	"weir/internal/operator"
	"weir/pkg/ddbstore"
)

// waiting are the flags of commands that can wait for the Regions.
type waiting struct {
	wait    string
	regions []string
}

// Of waiting for Regions.
const (
	defaultWait = "5m"
	lookEvery   = 500 * time.Millisecond
)

func (w *waiting) addTo(fl *pflag.FlagSet) {
	fl.StringVar(&w.wait, "wait", "", "wait until every Region has brought the buckets to it, at most so `LONG`")
	fl.Lookup("wait").NoOptDefVal = defaultWait
	regionsFlag(fl, &w.regions, "`REGIONS` to wait for, with commas; default those that the config table is in; env WEIR_REGIONS")
}

// limit returns how long to wait; 0 is not at all.
func (w *waiting) limit() (time.Duration, error) {
	if w.wait == "" {
		return 0, nil
	}
	d, err := operator.ParseSpan(w.wait)
	if err != nil {
		return 0, fmt.Errorf("--wait=%w", err)
	}
	return d, nil
}

// await waits for the Regions to carry out what was written, if that is wanted.
func (s *session) await(ctx context.Context, c *ddbstore.Config, w waiting, written []ddbstore.Plan) ([]operator.Reached, error) {
	limit, err := w.limit()
	if err != nil || limit == 0 {
		return nil, err
	}
	regions, err := s.regions(ctx, w.regions)
	if err != nil {
		return nil, fmt.Errorf("the change is made; which Regions to wait for is not known: %w", err)
	}
	watch := operator.Watch{Config: c, Regions: regions, Every: lookEvery, Most: limit}
	for _, p := range written {
		watch.Plans, watch.Stamp = append(watch.Plans, p.Name), p.Stamp
	}
	line := s.progress()
	watch.Show = func(all []operator.Reached) { line.show("%s", reachedText(all)) }
	all, err := watch.Wait(ctx)
	line.end()
	for _, r := range all {
		if r.Done {
			s.printf("%s: plan %s, %s, %s brought to it%s\n", r.Region, r.Plan, count(int(r.Seen), "tenant"), count(int(r.Changed), "bucket"), failedText(r.Failed))
		}
	}
	if err != nil && ctx.Err() != nil {
		return all, interruption{err}
	}
	return all, err
}

// awaitTenants waits for the rows of tenants that were changed, if that is wanted.
func (s *session) awaitTenants(ctx context.Context, c *ddbstore.Config, w waiting, ids []string) error {
	limit, err := w.limit()
	if err != nil || limit == 0 || len(ids) == 0 {
		return err
	}
	b, err := s.bucketsIn(s.region)
	if err != nil {
		return fmt.Errorf("the change is made; whether the buckets have it is not known: %w", err)
	}
	line := s.progress()
	err = operator.WatchTenants{
		Config: c, Buckets: b, IDs: ids, Now: s.now, Every: lookEvery, Most: limit,
		Show: func(done, of int) { line.show("the buckets of %s of %s have it", thousands(done), count(of, "tenant")) },
	}.Wait(ctx)
	line.end()
	switch {
	case err == nil:
		s.printf("all rows of their buckets have it, in every Region\n")
	case ctx.Err() != nil:
		return interruption{err}
	}
	return err
}

func failedText(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %d FAILED, see the log of the reconciler there", n)
}

func reachedText(all []operator.Reached) string {
	parts := make([]string, len(all))
	for i, r := range all {
		switch {
		case r.Done:
			parts[i] = r.Region + " done"
		case r.Begun:
			parts[i] = fmt.Sprintf("%s at tenant %s", r.Region, thousands(int(r.Seen)))
		default:
			parts[i] = r.Region + " waiting"
		}
	}
	return strings.Join(parts, ", ")
}

// regions returns the Regions that were named, or those of the config table.
func (d *deployment) regions(ctx context.Context, named []string) ([]string, error) {
	if len(named) > 0 && (len(named) > 1 || named[0] != "all") {
		return named, nil
	}
	out, err := d.client(d.region).DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &d.names.config})
	if err != nil {
		return nil, fmt.Errorf("%w; name them with --regions or WEIR_REGIONS, and this is not asked", err)
	}
	regions := []string{d.region}
	for _, r := range out.Table.Replicas {
		if r.RegionName != nil && *r.RegionName != d.region {
			regions = append(regions, *r.RegionName)
		}
	}
	return regions, nil
}

// regionsFlag adds a flag that lists Regions.
func regionsFlag(fl *pflag.FlagSet, regions *[]string, usage string) {
	fl.StringSliceVar(regions, "regions", regionsOfEnv(), usage)
}

func regionsOfEnv() []string {
	if v := os.Getenv("WEIR_REGIONS"); v != "" {
		return strings.Split(v, ",")
	}
	return nil
}
