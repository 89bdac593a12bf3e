package ddbstore

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Heartbeat is a Region's sign of life. It reaches the other Regions by
// replication, and their reconcilers by their streams.
type Heartbeat struct {
	Region string
	At     int64            // ns since the Unix epoch
	Lag    map[string]int64 // other Region -> how old its heartbeat was when it arrived here, ns
	Cut    []string         // other Regions that are not heard
	Rows   int64            // rows looked at
	Drift  int64            // of them not what the configuration says
}

// Seen is what a Region has seen of another's heartbeat. It is an item apart from
// the Region's own heartbeat, which would otherwise go out again for each that
// comes in.
type Seen struct {
	Region string // where it was seen
	Other  string // whose heartbeat it was
	At     int64  // when that was made, ns since the Unix epoch
	Lag    int64  // how old it was then, ns
}

const (
	attrTime  = "at"
	attrLag   = "lag"
	attrCut   = "cut"
	attrRows  = "rows"
	attrDrift = "drift"
)

// PutHeartbeat replaces a Region's heartbeat, unless there is a later one.
func (c *Config) PutHeartbeat(ctx context.Context, h Heartbeat) error {
	err := checkID("a Region", h.Region)
	if err == nil {
		lag := make(item, len(h.Lag))
		for region, ns := range h.Lag {
			lag[region] = num(ns)
		}
		cut := make([]types.AttributeValue, len(h.Cut))
		for i, region := range h.Cut {
			cut[i] = text(region)
		}
		err = c.putNewer(ctx, keyed(item{
			attrTime:  num(h.At),
			attrLag:   &types.AttributeValueMemberM{Value: lag},
			attrCut:   &types.AttributeValueMemberL{Value: cut},
			attrRows:  num(h.Rows),
			attrDrift: num(h.Drift),
		}, heartbeatPrefix+h.Region, current), attrTime)
	}
	if err != nil {
		return fmt.Errorf("write heartbeat of %q: %w", h.Region, err)
	}
	return nil
}

// Heartbeats returns the last heartbeats of Regions, in their order, without
// those that have none.
func (c *Config) Heartbeats(ctx context.Context, regions []string) ([]Heartbeat, error) {
	var beats []Heartbeat
	for _, region := range regions {
		it, err := c.get(ctx, heartbeatPrefix+region, current)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		h, err2 := heartbeatOf(region, it)
		if err = errors.Join(err, err2); err != nil {
			return nil, fmt.Errorf("read heartbeat of %s: %w", region, err)
		}
		beats = append(beats, h)
	}
	return beats, nil
}

func heartbeatOf(region string, it item) (Heartbeat, error) {
	d := decoder{it: it}
	h := Heartbeat{
		Region: region,
		At:     d.number(attrTime),
		Lag:    d.numbers(attrLag),
		Cut:    d.texts(attrCut),
		Rows:   d.number(attrRows),
		Drift:  d.number(attrDrift),
	}
	return h, d.err
}

// PutSeen keeps what was seen, unless a later heartbeat was seen already.
func (c *Config) PutSeen(ctx context.Context, s Seen) error {
	err := errors.Join(checkID("a Region", s.Region), checkID("another Region", s.Other))
	if err == nil {
		err = c.putNewer(ctx, keyed(item{
			attrTime: num(s.At),
			attrLag:  num(s.Lag),
		}, heartbeatPrefix+s.Region, seenPrefix+s.Other), attrTime)
	}
	if err != nil {
		return fmt.Errorf("write what %q has seen of %q: %w", s.Region, s.Other, err)
	}
	return nil
}

// SeenBy returns what a Region has seen of each other, in the order of their
// names.
func (c *Config) SeenBy(ctx context.Context, region string) ([]Seen, error) {
	items, _, err := c.query(ctx, span{pk: heartbeatPrefix + region, prefix: seenPrefix}, math.MaxInt)
	if err != nil {
		return nil, fmt.Errorf("read what %s has seen: %w", region, err)
	}
	seen := make([]Seen, len(items))
	for i, it := range items {
		if seen[i], err = seenOf(region, it); err != nil {
			return nil, fmt.Errorf("read what %s has seen: %w", region, err)
		}
	}
	return seen, nil
}

func seenOf(region string, it item) (Seen, error) {
	d := decoder{it: it}
	s := Seen{Region: region, Other: d.suffix(sortKey, seenPrefix), At: d.number(attrTime), Lag: d.number(attrLag)}
	return s, d.err
}
