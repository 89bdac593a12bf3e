package memstore

import (
	"hash/maphash"
	"sync"

	"weir/pkg/bucket"
)

// Table holds the rows of all Regions. What one Region writes the others see at
// once: replication without lag.
type Table struct {
	seed   maphash.Seed
	shards [64]shard
}

// shard is a part of the keys. A bucket's rows are all in one shard, so that
// reading them is one consistent view.
type shard struct {
	mu   sync.Mutex
	rows map[string][]item // by bucket; a bucket has one item per Region
}

type item struct {
	row    bucket.Row
	expiry int64 // seconds since the Unix epoch
}

// NewTable returns an empty table.
func NewTable() *Table {
	t := &Table{seed: maphash.MakeSeed()}
	for i := range t.shards {
		t.shards[i].rows = make(map[string][]item)
	}
	return t
}

// Region returns the table as the named Region sees it.
func (t *Table) Region(name string) *Store { return &Store{table: t, region: name} }

func (t *Table) shard(key string) *shard {
	return &t.shards[maphash.String(t.seed, key)%uint64(len(t.shards))]
}

// find returns the index of a Region's item of a bucket, or -1.
// It requires that s.mu is held.
func (s *shard) find(key, region string) int {
	for i := range s.rows[key] {
		if s.rows[key][i].row.Region == region {
			return i
		}
	}
	return -1
}
