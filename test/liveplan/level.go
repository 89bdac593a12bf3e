package main

import (
	"context"
	"fmt"
	"time"

	"weir/internal/testworld"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// spentBefore is what the bystander uses of the slow limit in each Region, of the
// 4000 tokens that the first version of the plan gives it in all.
const spentBefore = 400

// slack is by how much a level may differ from what it should be, as a part of
// the bucket: what clocks and the time between two readings come to.
const slack = 1.0 / 200

// level is how full of spend the bystander's bucket should be.
type level struct {
	limit bucket.Limit
	tat   int64
}

// spend makes the bystander use its slow limit in every Region, lets the Regions
// hear of each other, and returns where that leaves it.
func (s *stage) spend(ctx context.Context) (level, error) {
	for _, r := range s.world.Regions {
		for i := range spentBefore {
			if a := call(ctx, r.Authorizers[i%len(r.Authorizers)], event(bystander, "/v1/slow")); a.err != nil || !a.allowed {
				return level{}, fmt.Errorf("the bystander's request %d in %s: %s, %v", i, r.Name, a.code, a.err)
			}
		}
	}
	if err := s.world.Buckets.Drain(ctx); err != nil {
		return level{}, err
	}
	l, err := s.read(ctx, regionNames[0])
	if err != nil {
		return level{}, err
	}
	used := l.limit.Level(l.tat, time.Now().UnixNano())
	if want := int64(len(s.world.Regions) * spentBefore); used < want*95/100 || used > want*110/100 {
		return level{}, fmt.Errorf("the bystander's bucket has %d used, and it used %d", used, want)
	}
	return l, nil
}

// read returns the bystander's bucket as a Region sees it.
func (s *stage) read(ctx context.Context, region string) (level, error) {
	store := ddbstore.New(s.world.Engine.Client(region), testworld.BucketsTable, region)
	rows, err := store.Rows(ctx, "slow|"+bystander)
	if err != nil {
		return level{}, err
	}
	var own bucket.Row
	var peers []bucket.Row
	for _, row := range rows {
		if row.Region == region {
			own = row
		} else {
			peers = append(peers, row)
		}
	}
	if len(rows) != len(s.world.Regions) || own.Region == "" {
		return level{}, fmt.Errorf("%s sees %d rows of the bystander's bucket", region, len(rows))
	}
	g := bucket.Merge(own.Limit, own, peers, time.Now().UnixNano(), int64(bucket.MaxDepth))
	return level{limit: own.Limit, tat: g.TAT}, nil
}

// change returns l after the plan was changed at a time.
func (l level) change(at int64, carry bucket.Carry, to bucket.Limit) level {
	return level{limit: to, tat: carry.TAT(l.tat, at, l.limit, to)}
}

// awaitLevel waits until every Region's row is of the limit that l is of and all
// Regions have heard of it, and returns in how many the level is another than l's.
func (s *stage) awaitLevel(ctx context.Context, l level) (off []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, tooLong)
	defer cancel()
	for _, r := range s.world.Regions {
		for {
			store := ddbstore.New(s.world.Engine.Client(r.Name), testworld.BucketsTable, r.Name)
			row, found, err := store.Row(ctx, "slow|"+bystander)
			if err != nil {
				return nil, err
			}
			if found && row.Limit == l.limit {
				break
			}
			if err := testworld.Sleep(ctx, 20*time.Millisecond); err != nil {
				return nil, fmt.Errorf("%s: the row of the bystander's bucket is not rescaled: %w", r.Name, err)
			}
		}
	}
	if err := s.world.Buckets.Drain(ctx); err != nil {
		return nil, err
	}
	for _, r := range s.world.Regions {
		got, err := s.read(ctx, r.Name)
		if err != nil {
			return nil, err
		}
		if d := float64(got.tat-l.tat) / float64(l.limit.Depth()); d < -slack || d > slack {
			off = append(off, fmt.Sprintf("%s has %.1f %% more used than it should", r.Name, 100*d))
		}
	}
	return off, nil
}
