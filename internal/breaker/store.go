package breaker

import (
	"context"

	"weir/internal/limiter"
	"weir/pkg/bucket"
)

// Store is a limiter.Store behind a Breaker, whose State and Stats are its own.
// Both operations count for both: they go to the same table.
type Store struct {
	*Breaker
	next limiter.Store
}

var _ limiter.Store = (*Store)(nil)

// NewStore returns s behind a new Breaker.
func NewStore(s limiter.Store, o Options) *Store { return &Store{New(o), s} }

// Charge implements limiter.Store. With ErrOpen the Outcome is empty.
func (s *Store) Charge(ctx context.Context, key string, c bucket.Charge) (out bucket.Outcome, err error) {
	err = s.Do(ctx, func() error {
		out, err = s.next.Charge(ctx, key, c)
		return err
	})
	return out, err
}

// Rows implements limiter.Store.
func (s *Store) Rows(ctx context.Context, key string) (rows []bucket.Row, err error) {
	err = s.Do(ctx, func() error {
		rows, err = s.next.Rows(ctx, key)
		return err
	})
	return rows, err
}
