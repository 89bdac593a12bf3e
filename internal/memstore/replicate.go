package memstore

import "weir/pkg/bucket"

// Put stores a row as replication would: under the row's own Region, replacing
// what is there. expiry is in seconds since the Unix epoch. Which of two
// versions is the newer is for the caller to know.
func (t *Table) Put(key string, row bucket.Row, expiry int64) {
	sh := t.shard(key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	it := item{row: row, expiry: expiry}
	if i := sh.find(key, row.Region); i >= 0 {
		sh.rows[key][i] = it
		return
	}
	sh.rows[key] = append(sh.rows[key], it)
}
