package limiter

import (
	"hash/maphash"
	"sync/atomic"
)

// DefaultMaxBuckets is how many buckets a process keeps in mind, at most. They
// take less than 32 MiB.
const DefaultMaxBuckets = 100_000

const (
	shards = 64 // of a table; a power of two

	// mostLooks is how many nodes are looked at to make room for one, at most.
	mostLooks = 64

	// Of the buckets kept in mind two in five may have an entry at the same time, and
	// with several Regions, where entries are heavier, one in fewer*Regions: so all
	// of them stay below 32 MiB. Up to fewEntries are no burden and left alone.
	fewer      = 4
	fewEntries = 1000
)

// table holds the entries by bucket key: at most max of them.
//
// To make room it forgets a bucket whose entry is idle, and sooner one that was
// asked for once than one that is asked for again and again: a flood of keys that
// come once pushes itself out. An entry that is not idle is never forgotten. Where
// no other can be found it is the newcomer that is not kept: who asks for it gets
// an entry of its own each time. That costs store calls; forgetting a lease would
// cost tokens.
//
// An entry is heavy, above all where there are several Regions, and worth nothing
// soon after its bucket was last used. So one that is dormant is dropped, and its
// node remembers no more than how full the bucket was. Should there be too many
// entries all the same, those that are idle are dropped, as above.
//
// A key that is there is found without a lock and without allocation. A reader
// that races with a change may miss it, and then looks again under the shard's
// lock. Locks are taken in the order entry, shard; while a shard's is held,
// others are only tried.
type table struct {
	seed     maphash.Seed
	max      int64 // of size
	size     atomic.Int64
	most     int64 // of entries
	entries  atomic.Int64
	overflow atomic.Int64 // entries made that were not kept
	shards   [shards]shard
}

// newTableOf returns a table of at most most buckets, DefaultMaxBuckets if that
// is not positive, of limits that hold in as many Regions.
func newTableOf(most, regions int) *table {
	if most <= 0 {
		most = DefaultMaxBuckets
	}
	entries := most * 2 / 5
	if regions > 1 {
		entries = most / (fewer * regions)
	}
	entries = max(entries, min(most, fewEntries))
	return &table{seed: maphash.MakeSeed(), max: int64(most), most: int64(entries)}
}

// lock returns the entry of a bucket, made on first use, with its mu held. The
// table has no other of that key while this one is locked or not idle. If it is
// temp, the entry is the caller's alone, and what it still holds when the caller
// is done is lost.
func (t *table) lock(key string, now int64) *entry {
	for {
		e := t.at(key, now)
		e.mu.Lock()
		if !e.gone {
			return e
		}
		e.mu.Unlock() // dropped between the two lines above
	}
}

// lockKnown is lock for a bucket that need not have an entry: then it returns nil.
func (t *table) lockKnown(key string) *entry {
	for {
		e, _, _ := t.find(key)
		if e == nil {
			return nil
		}
		e.mu.Lock()
		if !e.gone {
			return e
		}
		e.mu.Unlock()
	}
}

// at returns the entry of a bucket, made on first use. If it is idle it may be
// dropped before the caller has locked it.
func (t *table) at(key string, now int64) *entry {
	e, s, hash := t.find(key)
	if e == nil {
		e = t.place(s, hash, key, now)
	}
	return e
}

// find returns the entry of a bucket, or nil if it has none, and where it belongs.
func (t *table) find(key string) (e *entry, s *shard, hash uint32) {
	h := maphash.String(t.seed, key)
	s, hash = &t.shards[h%shards], uint32(h>>32)
	n := s.find(hash, key)
	if n == nil {
		return nil, s, hash
	}
	if !n.used.Load() { // a store would take the cache line from other readers
		n.used.Store(true)
	}
	return n.entry.Load(), s, hash
}

// place makes a bucket's entry, and its node if it has none, unless another
// goroutine was first.
func (t *table) place(s *shard, hash uint32, key string, now int64) *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.find(hash, key)
	if n == nil {
		if !take(&t.size, t.max) && !t.evict(s, now) {
			return t.temporary()
		}
		n = &node{key: key, hash: hash}
		s.insert(n)
	}
	if e := n.entry.Load(); e != nil {
		return e
	}
	if t.entries.Load() >= fewEntries {
		s.sweep(t, now)
	}
	if !take(&t.entries, t.most) && !t.release(s, now) {
		return t.temporary()
	}
	e := newEntry(n.tat)
	n.entry.Store(e)
	n.later = now + quietSlots*demandSlot
	return e
}

func (t *table) temporary() *entry {
	t.overflow.Add(1)
	e := newEntry(0)
	e.temp = true
	return e
}

// take adds one to n unless that is more than most.
func take(n *atomic.Int64, most int64) bool {
	for {
		old := n.Load()
		if old >= most {
			return false
		}
		if n.CompareAndSwap(old, old+1) {
			return true
		}
	}
}

// evict takes the place of another bucket; s.mu is held.
func (t *table) evict(s *shard, now int64) bool {
	return t.search(s, func(o *shard, left *int) bool { return o.evict(t, now, left) })
}

// release takes the place of another bucket's entry; s.mu is held.
func (t *table) release(s *shard, now int64) bool {
	return t.search(s, func(o *shard, left *int) bool { return o.release(now, left) })
}

// search looks in s, and then in the other shards, where small tables may have
// what s has not; s.mu is held.
func (t *table) search(s *shard, in func(o *shard, left *int) bool) bool {
	left := mostLooks
	if in(s, &left) {
		return true
	}
	for i := range t.shards {
		o := &t.shards[i]
		if left > 0 && o != s && o.mu.TryLock() { // waiting could be a deadlock
			ok := in(o, &left)
			o.mu.Unlock()
			if ok {
				return true
			}
		}
	}
	return false
}
