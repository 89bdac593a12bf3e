package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"weir/internal/limiter"
	"weir/pkg/bucket"
)

// insist makes a charge, again if it lost its races: then nothing was written.
func insist(s limiter.Store, key string, c bucket.Charge) (bucket.Outcome, error) {
	for {
		out, err := s.Charge(context.Background(), key, c)
		if !errors.Is(err, limiter.ErrConflict) {
			return out, err
		}
	}
}

// testRacingVersions: processes of two versions charge one row while a third
// brings it to the newer, and the clock stands still, so that nothing refills. No
// charge is lost, the version never goes back, and what was admitted is what one
// bucket holds: under the older limit a token is a hundredth of it, under the
// newer a fiftieth.
func testRacingVersions(t *testing.T, h Harness) {
	const procs = 24
	older, newer := limit(t, 100, 100), limit(t, 50, 50)
	for round := range 4 {
		key := newKey(t)
		var old, fresh, rescaled tally
		outdated := make([]bool, procs)
		crowd(t, h, procs, func(i int, s limiter.Store) error {
			if i == 0 {
				return rescaleOften(s, key, bucket.Rescale{Limit: newer, Ver: 6, Now: t0}, &rescaled)
			}
			// The first of them charge only under the older version until they are
			// told; the last are on the newer from the start, the others change.
			last := int64(0)
			var known *bucket.Row
			for n := range 12 {
				c, sum := under(5, older, t0, 1), &old
				if i >= procs-2-4*round || outdated[i] || n > 6 && i%2 == 0 {
					c, sum = under(6, newer, t0, 1), &fresh
				}
				c.Known = known
				out, err := insist(s, key, c)
				if err != nil {
					return err
				}
				row := out.Row
				if known = &row; row.Ver < last {
					return fmt.Errorf("a row of version %d after one of %d", row.Ver, last)
				}
				if last = row.Ver; out.Status == bucket.Outdated {
					if row.Limit != newer || c.Ver == 6 {
						return fmt.Errorf("%+v is outdated by %+v", c, row)
					}
					outdated[i] = true
					continue
				}
				sum.add(out, 1)
			}
			return nil
		})
		r := rows(t, h.Open(t, home), key)[home]
		if r.Spent != old.tokens+fresh.tokens {
			t.Errorf("row %+v, want the %d and %d tokens that were charged", r, old.tokens, fresh.tokens)
		}
		if _, rescales := h.Open(t, home).(Rescaler); (rescales || fresh.charged > 0) && (r.Ver != 6 || r.Limit != newer) {
			t.Errorf("row %+v, want it at the newer version", r)
		}
		if used := old.tokens + 2*fresh.tokens; used < 99 || used > 100 || r.TAT != t0+used*second/100 {
			t.Errorf("%d and %d tokens, row %+v, want one bucket used up", old.tokens, fresh.tokens, r)
		}
		if rescaled.charged > 1 {
			t.Errorf("the row was rescaled %d times by one that did it once", rescaled.charged)
		}
	}
}

// rescaleOften is a reconciler that does not trust itself.
func rescaleOften(s limiter.Store, key string, c bucket.Rescale, sum *tally) error {
	r, ok := s.(Rescaler)
	if !ok {
		return nil
	}
	for done := 0; done < 4; { // there is no row at first
		out, err := r.Rescale(context.Background(), key, c)
		if err != nil && !errors.Is(err, limiter.ErrConflict) {
			return err
		}
		if out.Status != 0 {
			done++
		}
		sum.add(out, 0)
	}
	return nil
}

// testRacingCarries: many processes meet a row of the older version at once. It
// is carried over once.
func testRacingCarries(t *testing.T, h Harness) {
	older, newer := limit(t, 100, 100), limit(t, 10, 1000)
	key := newKey(t)
	known := charge(t, h.Open(t, home), key, under(5, older, t0, 50)).Row
	var sum tally
	crowd(t, h, 16, func(i int, s limiter.Store) error {
		c := under(6, newer, t0, 10)
		if i%2 == 0 {
			c.Known = &known
		}
		out, err := insist(s, key, c)
		sum.add(out, 10)
		return err
	})
	r := rows(t, h.Open(t, home), key)[home]
	if sum.charged != 16 || r.Spent != 50+160 || r.TAT != t0+newer.Time(500+160) || r.Ver != 6 {
		t.Errorf("%d charged, row %+v, want half of 1000 and 160 more used", sum.charged, r)
	}
}
