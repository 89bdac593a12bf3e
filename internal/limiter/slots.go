package limiter

import "sync/atomic"

// minSlots is how many a shard begins with; a power of two.
const minSlots = 8

// slots is a hash table with linear probing, its length a power of two and never
// full. One goroutine at a time may change it while others read: only the pointers
// change, and a reader that races with that may miss a node, but never finds a
// wrong one.
type slots []atomic.Pointer[node]

// find returns the node of key, or nil.
func (all slots) find(hash uint32, key string) *node {
	mask := len(all) - 1
	for i := range all { // a reader could be led in a circle
		n := all[(int(hash)+i)&mask].Load()
		if n == nil {
			return nil
		}
		if n.hash == hash && n.key == key {
			return n
		}
	}
	return nil
}

// put stores n, whose key is not there, in the first free slot.
func (all slots) put(n *node) {
	mask := len(all) - 1
	i := int(n.hash) & mask
	for all[i].Load() != nil {
		i = (i + 1) & mask
	}
	all[i].Store(n)
}

// remove empties slot i and moves later nodes up, so that no search ends there too
// early. A reader meanwhile sees a node that moves twice or not at all.
func (all slots) remove(i int) {
	mask := len(all) - 1
	for j := (i + 1) & mask; ; j = (j + 1) & mask {
		n := all[j].Load()
		if n == nil {
			break
		}
		if (j-int(n.hash))&mask >= (j-i)&mask { // its search begins at i or before
			all[i].Store(n)
			i = j
		}
	}
	all[i].Store(nil)
}

// after returns the slot that comes after i, in a circle.
func (all slots) after(i int) int { return (i + 1) & (len(all) - 1) }

// doubled returns the nodes in twice as many slots.
func (all slots) doubled() slots {
	next := make(slots, 2*len(all))
	for i := range all {
		if n := all[i].Load(); n != nil {
			next.put(n)
		}
	}
	return next
}
