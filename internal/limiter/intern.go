package limiter

import (
	"sync"

	"weir/pkg/bucket"
)

// maxInterned bounds the limits kept in interned.
const maxInterned = 10_000

// interned holds limits that entries have in common: a process has many buckets
// and few limits, and a limit is as large as all else that a decision from memory
// reads. Nothing depends on two equal limits being the same one.
var interned struct {
	mu     sync.RWMutex
	limits map[bucket.Limit]*bucket.Limit
}

// intern returns a limit equal to l, which must not be written to.
func intern(l bucket.Limit) *bucket.Limit {
	interned.mu.RLock()
	p := interned.limits[l]
	interned.mu.RUnlock()
	if p != nil {
		return p
	}
	interned.mu.Lock()
	defer interned.mu.Unlock()
	if p := interned.limits[l]; p != nil {
		return p
	}
	if interned.limits == nil || len(interned.limits) >= maxInterned {
		interned.limits = map[bucket.Limit]*bucket.Limit{}
	}
	p = &l
	interned.limits[l] = p
	return p
}
