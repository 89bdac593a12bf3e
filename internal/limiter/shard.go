package limiter

import (
	"sync"
	"sync/atomic"
)

// sweepSlots is how many slots are swept for each entry that is made: so no more
// than a twentieth of a table are dormant and not noticed yet.
const sweepSlots = 64

// shard is the part of a table that one lock guards.
type shard struct {
	slots atomic.Pointer[slots] // nil until first used
	mu    sync.Mutex            // of changes
	n     int                   // nodes held
	hand  int                   // of the clock: the slot looked at next to make room
	broom int                   // the slot swept next
	_     [24]byte              // to a cache line of its own
}

// node is a bucket's place in the table.
type node struct {
	key   string
	tat   int64 // of the entry last dropped; shard.mu is held
	later int64 // before when entry need not be looked at again; shard.mu is held
	entry atomic.Pointer[entry]
	hash  uint32
	used  atomic.Bool // found since the hand last passed
}

// find returns the node of key. Without s.mu it may miss one.
func (s *shard) find(hash uint32, key string) *node {
	if all := s.slots.Load(); all != nil {
		return all.find(hash, key)
	}
	return nil
}

// insert puts n, whose key is not there; s.mu is held.
func (s *shard) insert(n *node) {
	all := s.slots.Load()
	switch {
	case all == nil:
		all = new(make(slots, minSlots))
		s.slots.Store(all)
	case s.n >= len(*all)/4*3:
		all = new(all.doubled())
		s.slots.Store(all) // who reads the old ones misses what comes later
	}
	all.put(n)
	s.n++
}

// evict forgets a bucket, looking at up to *left of them; s.mu is held. Those used
// since the hand last passed are spared if there is another.
func (s *shard) evict(t *table, now int64, left *int) bool {
	all := s.slots.Load()
	if all == nil {
		return false
	}
	spare := -1
	for range *all {
		if *left == 0 {
			break
		}
		i := s.hand
		s.hand = all.after(i)
		n := (*all)[i].Load()
		if n == nil {
			continue
		}
		*left--
		switch used := n.used.Swap(false); {
		case !used && s.forget(t, all, i, now):
			return true
		case used && spare < 0 && n.may(now, (*entry).idle):
			spare = i
		}
	}
	return spare >= 0 && s.forget(t, all, spare, now)
}

// forget empties slot i, if its entry is idle; s.mu is held.
func (s *shard) forget(t *table, all *slots, i int, now int64) bool {
	n := (*all)[i].Load()
	if n.entry.Load() != nil {
		if !n.drop(now, (*entry).idle) {
			return false
		}
		t.entries.Add(-1)
	}
	all.remove(i)
	s.n--
	return true
}

// sweep drops the entries in some slots that are dormant; s.mu is held.
func (s *shard) sweep(t *table, now int64) {
	all := s.slots.Load()
	for range min(sweepSlots, len(*all)) {
		n := (*all)[s.broom].Load()
		s.broom = all.after(s.broom)
		switch {
		case n == nil || now < n.later || n.entry.Load() == nil:
		case n.drop(now, (*entry).dormant):
			t.entries.Add(-1)
		default:
			n.later = now + demandSlot
		}
	}
}

// release drops an entry that is idle, looking at up to *left of them, and leaves
// its place among entries to the caller; s.mu is held.
func (s *shard) release(now int64, left *int) bool {
	all := s.slots.Load()
	if all == nil {
		return false
	}
	for range *all {
		if *left == 0 {
			break
		}
		n := (*all)[s.broom].Load()
		s.broom = all.after(s.broom)
		if n == nil || n.entry.Load() == nil {
			continue
		}
		*left--
		if n.drop(now, (*entry).idle) {
			return true
		}
	}
	return false
}

// may reports whether n has no entry or one that nobody has locked and of which
// is is true; shard.mu is held.
func (n *node) may(now int64, is func(*entry, int64) bool) bool {
	e := n.entry.Load()
	if e == nil {
		return true
	}
	if !e.mu.TryLock() {
		return false
	}
	defer e.mu.Unlock()
	return is(e, now)
}

// drop takes from n the entry that it has, if it may; shard.mu is held.
func (n *node) drop(now int64, is func(*entry, int64) bool) bool {
	e := n.entry.Load()
	if !e.mu.TryLock() {
		return false
	}
	defer e.mu.Unlock()
	if !is(e, now) {
		return false
	}
	n.tat = e.tat
	n.entry.Store(nil)
	e.gone = true
	return true
}
