package limiter_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"weir/internal/limiter"
	"weir/internal/memstore"
)

func TestStats(t *testing.T) {
	store := memstore.New("r")
	l := limiter.New(store, limiter.Options{Timeout: time.Minute, MaxBuckets: 10})
	if s := l.Stats(start); s != (limiter.Stats{}) {
		t.Errorf("%+v before anything was decided", s)
	}
	c := check("api", mustLimit(t, 1000, time.Second, 1000), 1)
	now := start + second
	n := drive([]*limiter.Limiter{l}, start, now, ms, c)
	row, _ := store.Peek(c.Key)
	s := l.Stats(now)
	if s.Buckets != 1 || s.Entries != 1 || s.Leases != 1 || s.Tokens != row.Spent-int64(n) || s.Overflow != 0 || s.Costs != l.Costs() {
		t.Errorf("%+v, want one bucket with the %d tokens that were charged and not spent", s, row.Spent-int64(n))
	}
	if s := l.Stats(now + 10*second); s.Leases != 0 || s.Tokens != 0 {
		t.Errorf("%+v after the lease has expired", s)
	}
	refused := check("flood", mustLimit(t, 1, time.Hour, 1), 1) // whose entries are not idle
	for i := range 20 {
		refused.Key = fmt.Sprint("flood|", i)
		for range 2 {
			l.Decide(context.Background(), now, []limiter.Check{refused})
		}
	}
	if s := l.Stats(now); s.Buckets != 10 || s.Overflow < 11 {
		t.Errorf("%+v, want 10 buckets and an overflow for each of the 11 others", s)
	}
}
