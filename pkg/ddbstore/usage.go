package ddbstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Usage is what a tenant has used in a month, as one Region counts it.
type Usage struct {
	Tenant  string
	Month   string // as in "2026-11"
	Region  string // or what the reconciler has put in its place
	Limits  map[string]Used
	At      int64 // of the last count, ns since the Unix epoch
	Version int64
}

// Used is what was used of one limit. Born and Spent are those of the row as last
// counted, so that the next count adds the difference once.
type Used struct {
	Tokens int64
	Born   int64 // ns since the Unix epoch
	Spent  int64
}

const attrLimits = "limits"

// Usage returns what a Region has counted, or ErrNotFound.
func (c *Config) Usage(ctx context.Context, tenant, month, region string) (Usage, error) {
	it, err := c.get(ctx, usagePrefix+tenant, usageKey(month, region))
	if err != nil {
		return Usage{}, fmt.Errorf("read usage of tenant %q: %w", tenant, err)
	}
	return usageOf(tenant, it)
}

// UsageOf returns what every Region has counted of a tenant's month.
func (c *Config) UsageOf(ctx context.Context, tenant, month string) ([]Usage, error) {
	items, _, err := c.query(ctx, span{pk: usagePrefix + tenant, prefix: usageKey(month, "")}, math.MaxInt)
	if err != nil {
		return nil, fmt.Errorf("read usage of tenant %q: %w", tenant, err)
	}
	usage := make([]Usage, len(items))
	for i, it := range items {
		if usage[i], err = usageOf(tenant, it); err != nil {
			return nil, err
		}
	}
	return usage, nil
}

// PutUsage makes u the version after u.Version and returns it, or ErrConflict.
func (c *Config) PutUsage(ctx context.Context, u Usage) (Usage, error) {
	version, err := c.putUsage(ctx, u)
	if err != nil {
		return Usage{}, fmt.Errorf("write usage of tenant %q: %w", u.Tenant, err)
	}
	u.Version = version
	return u, nil
}

func (c *Config) putUsage(ctx context.Context, u Usage) (version int64, err error) {
	if err := errors.Join(checkID("a tenant", u.Tenant), checkID("a month", u.Month), checkID("a Region", u.Region)); err != nil {
		return 0, err
	}
	if strings.Contains(u.Month, "#") {
		return 0, fmt.Errorf("month %q: want one like 2026-11", u.Month)
	}
	limits := make(item, len(u.Limits))
	for name, l := range u.Limits {
		limits[name] = &types.AttributeValueMemberL{Value: []types.AttributeValue{num(l.Tokens), num(l.Born), num(l.Spent)}}
	}
	it := keyed(item{
		attrTime:   num(u.At),
		attrLimits: &types.AttributeValueMemberM{Value: limits},
	}, usagePrefix+u.Tenant, usageKey(u.Month, u.Region))
	if size := sizeOf(it) + maxKey; size > maxItem {
		return 0, fmt.Errorf("its %d bytes are too many: DynamoDB takes %d an item", size, maxItem)
	}
	return c.putVersion(ctx, it, u.Version)
}

func usageKey(month, region string) string { return month + "#" + region }

func usageOf(tenant string, it item) (Usage, error) {
	d := decoder{it: it}
	u := Usage{Tenant: tenant, At: d.number(attrTime), Version: d.number(attrVersion)}
	var ok bool
	if u.Month, u.Region, ok = strings.Cut(d.text(sortKey), "#"); !ok {
		d.fail(sortKey, it[sortKey])
	}
	for name, n := range d.triples(attrLimits) {
		if u.Limits == nil {
			u.Limits = make(map[string]Used)
		}
		u.Limits[name] = Used{Tokens: n[0], Born: n[1], Spent: n[2]}
	}
	if d.err != nil {
		return Usage{}, fmt.Errorf("read usage of tenant %q: %w", tenant, d.err)
	}
	return u, nil
}
