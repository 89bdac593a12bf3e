// Package memstore keeps rows in the memory of one process. It is the store of
// development, simulation and tests, and the embedded default where there is no
// database.
//
// It does exactly what bucket.Charge.Apply and bucket.Rescale.Apply say, without
// delay, so it is also what the other stores are compared with. A row whose Expiry
// lies before a charge's Now counts as absent and is replaced. Nothing else is ever removed:
// the table grows with the number of distinct keys, as a database's would, and
// is not meant to face untrusted keys for long.
package memstore

import (
	"context"
	"fmt"

	"weir/internal/limiter"
	"weir/pkg/bucket"
)

var _ limiter.Store = (*Store)(nil)

// Store is one Region's view of a Table. It is safe for concurrent use.
type Store struct {
	table  *Table
	region string

	// Fault, if set, is called before every operation ("charge", "rows", "row",
	// "rescale"); an error is returned in place of doing it. Set it before the store is used.
	Fault func(ctx context.Context, op string) error
}

// New returns a Store for the named Region on a table of its own.
func New(region string) *Store { return NewTable().Region(region) }

// Charge implements limiter.Store. Calls and Units are what a database would
// have counted: one each.
func (s *Store) Charge(ctx context.Context, key string, c bucket.Charge) (bucket.Outcome, error) {
	if err := s.enter(ctx, "charge"); err != nil {
		return bucket.Outcome{}, fmt.Errorf("charge bucket: %w", err)
	}
	sh := s.table.shard(key)
	sh.mu.Lock()
	defer sh.mu.Unlock()

	i := sh.find(key, s.region)
	row, found := bucket.Row{Region: s.region}, false
	if i >= 0 {
		if it := sh.rows[key][i]; c.Now/1e9 <= it.expiry {
			row, found = it.row, true
		}
	}
	row, status := c.Apply(row, found)
	if status == bucket.Charged {
		it := item{row: row, expiry: c.Expiry()}
		if i >= 0 {
			sh.rows[key][i] = it
		} else {
			sh.rows[key] = append(sh.rows[key], it)
		}
	}
	return bucket.Outcome{Status: status, Row: row, Calls: 1, Units: 1}, nil
}

// Rows implements limiter.Store.
func (s *Store) Rows(ctx context.Context, key string) ([]bucket.Row, error) {
	if err := s.enter(ctx, "rows"); err != nil {
		return nil, fmt.Errorf("read rows: %w", err)
	}
	sh := s.table.shard(key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	rows := make([]bucket.Row, len(sh.rows[key]))
	for i, it := range sh.rows[key] {
		rows[i] = it.row
	}
	return rows, nil
}

// Row returns this Region's row of the bucket, and whether there is one; one that
// has expired is.
func (s *Store) Row(ctx context.Context, key string) (bucket.Row, bool, error) {
	if err := s.enter(ctx, "row"); err != nil {
		return bucket.Row{}, false, fmt.Errorf("read row: %w", err)
	}
	if row, found := s.Peek(key); found {
		return row, true, nil
	}
	return bucket.Row{Region: s.region}, false, nil
}

// Rescale brings this Region's row of the bucket to another limit, as c.Apply has
// it. The Outcome's Status is Charged if the row was changed, Outdated if there
// was nothing to do, and 0 if there is no row, or one that has expired.
func (s *Store) Rescale(ctx context.Context, key string, c bucket.Rescale) (bucket.Outcome, error) {
	if err := s.enter(ctx, "rescale"); err != nil {
		return bucket.Outcome{}, fmt.Errorf("rescale bucket: %w", err)
	}
	sh := s.table.shard(key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	out := bucket.Outcome{Row: bucket.Row{Region: s.region}, Calls: 1}
	i := sh.find(key, s.region)
	if i < 0 {
		return out, nil
	}
	it := &sh.rows[key][i]
	if out.Row = it.row; c.Now/1e9 > it.expiry {
		return out, nil
	}
	row, changes := c.Apply(it.row)
	if !changes {
		out.Status = bucket.Outdated
		return out, nil
	}
	it.row, it.expiry = row, max(it.expiry, c.Expiry(row))
	out.Status, out.Row, out.Units = bucket.Charged, row, 1
	return out, nil
}

// Peek returns this Region's row of the bucket as it stands, expired or not, and
// whether there is one. It fails never and is not counted as an operation.
func (s *Store) Peek(key string) (bucket.Row, bool) {
	sh := s.table.shard(key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	i := sh.find(key, s.region)
	if i < 0 {
		return bucket.Row{}, false
	}
	return sh.rows[key][i].row, true
}

func (s *Store) enter(ctx context.Context, op string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.Fault != nil {
		return s.Fault(ctx, op)
	}
	return nil
}
