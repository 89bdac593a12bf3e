package limiter

import (
	"context"
	"sync"

	"weir/pkg/bucket"
)

// releases is how many leases are returned at the same time.
const releases = 16

// Release returns what leases still hold to the store, as far as ctx allows, and
// reports how many tokens that were. It is for a process that is about to end;
// what it does not return expires. No request should be decided meanwhile.
//
// A lease that was charged before its limit changed is left to expire: what it is
// worth to the bucket now cannot be told.
func (l *Limiter) Release(ctx context.Context, now int64) int64 {
	type lease struct {
		key string
		e   *entry
	}
	var held []lease
	l.table.each(func(key string, e *entry) {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.spendable(now) > 0 && e.known && !e.mixed && e.row.TAT > now {
			held = append(held, lease{key, e})
		}
	})
	var (
		mu       sync.Mutex
		returned int64
		wg       sync.WaitGroup
		slots    = make(chan struct{}, releases)
	)
	for _, h := range held {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			n := l.giveBack(ctx, now, h.key, h.e)
			mu.Lock()
			returned += n
			mu.Unlock()
		})
	}
	wg.Wait()
	return returned
}

// giveBack returns one lease: a charge of less than nothing, which only makes
// sense while the bucket is not full.
func (l *Limiter) giveBack(ctx context.Context, now int64, key string, e *entry) int64 {
	e.mu.Lock()
	n, row, limit := e.spendable(now), e.row, e.inForce(max(now, e.row.At))
	e.credit = 0
	store := l.store
	if e.strict && l.strict != nil {
		store = l.strict
	}
	e.mu.Unlock()
	if n == 0 {
		return 0
	}
	out, err := store.Charge(ctx, key, bucket.Charge{
		Limit: limit.Limit, Ver: limit.Ver, Carry: limit.Carry, Since: limit.Since, Now: limit.Now,
		Tokens: -n, Inc: -limit.Limit.Time(n), Keep: -int64(bucket.MaxDepth), Known: &row,
	})
	if err != nil || out.Status != bucket.Charged {
		return 0
	}
	return n
}

// each calls f for every entry that the table holds.
func (t *table) each(f func(key string, e *entry)) {
	for i := range t.shards {
		all := t.shards[i].slots.Load()
		if all == nil {
			continue
		}
		for j := range *all {
			if n := (*all)[j].Load(); n != nil {
				if e := n.entry.Load(); e != nil {
					f(n.key, e)
				}
			}
		}
	}
}
