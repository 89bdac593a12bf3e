package operator

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"weir/pkg/ddbstore"
)

// Use is what a tenant has used of a limit in a month.
type Use struct {
	Tenant  string           `json:"tenant"`
	Limit   string           `json:"limit"`
	Tokens  int64            `json:"tokens"`
	Regions map[string]int64 `json:"regions"` // tokens by Region; "*" is of all
	At      Instant          `json:"at"`      // of the oldest of the last counts
}

// ParseMonth checks a month such as 2026-11; "" is that of now.
func ParseMonth(s string, now int64) (string, error) {
	const layout = "2006-01"
	if s == "" {
		return time.Unix(0, now).UTC().Format(layout), nil
	}
	if t, err := time.Parse(layout, s); err != nil || t.Format(layout) != s {
		return "", fmt.Errorf("%q is no month: want a year and a month, such as 2026-11", s)
	}
	return s, nil
}

// Usage returns what tenants have used in a month, as far as it has been counted.
func Usage(ctx context.Context, c *ddbstore.Config, ids []string, month string, progress func(looked, of int)) ([]Use, error) {
	found := make([][]ddbstore.Usage, len(ids))
	err := each(ctx, len(ids), progress, func(ctx context.Context, i int) (err error) {
		found[i], err = c.UsageOf(ctx, ids[i], month)
		return err
	})
	if err != nil {
		return nil, err
	}
	var all []Use
	for i, id := range ids {
		all = append(all, usesOf(id, found[i])...)
	}
	return all, nil
}

// usesOf sums up what Regions have counted. They count by bucket, and a limit has
// had more than one if its key has changed.
func usesOf(id string, counts []ddbstore.Usage) []Use {
	limits := map[string]*Use{}
	for _, count := range counts {
		for key, used := range count.Limits {
			name, _, _ := strings.Cut(key, "|") // see plan.Limit.BucketKey
			u := limits[name]
			if u == nil {
				u = &Use{Tenant: id, Limit: name, Regions: map[string]int64{}, At: Instant(count.At)}
				limits[name] = u
			}
			u.Tokens += used.Tokens
			u.Regions[count.Region] += used.Tokens
			u.At = min(u.At, Instant(count.At))
		}
	}
	var uses []Use
	for _, u := range limits {
		uses = append(uses, *u)
	}
	slices.SortFunc(uses, func(a, b Use) int { return cmp.Compare(a.Limit, b.Limit) })
	return uses
}
