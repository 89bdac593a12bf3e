package limiter

import (
	"hash/maphash"
	"sync"
)

const shards = 64

// table holds the entries by bucket key.
type table struct {
	seed   maphash.Seed
	shards [shards]shard
}

type shard struct {
	mu      sync.Mutex
	entries map[string]*entry
}

func newTable() *table {
	t := &table{seed: maphash.MakeSeed()}
	for i := range t.shards {
		t.shards[i].entries = map[string]*entry{}
	}
	return t
}

// get returns the entry of a bucket, made on first use.
func (t *table) get(key string) *entry {
	s := &t.shards[maphash.String(t.seed, key)%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[key]
	if e == nil {
		e = &entry{}
		s.entries[key] = e
	}
	return e
}
