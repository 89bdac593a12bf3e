package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"weir/internal/limiter"
	"weir/pkg/bucket"
)

// crowd runs do in n goroutines, each with a store of its own, all released at
// once, and returns when all have.
func crowd(t *testing.T, h Harness, n int, do func(i int, s limiter.Store) error) {
	t.Helper()
	var (
		wg    sync.WaitGroup
		start = make(chan struct{})
		errs  = make([]error, n)
	)
	for i := range n {
		s := h.Open(t, home)
		wg.Go(func() {
			<-start
			errs[i] = do(i, s)
		})
	}
	close(start)
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// tally counts outcomes.
type tally struct {
	mu                         sync.Mutex
	charged, refused, conflict int
	tokens                     int64
	calls                      int
}

func (y *tally) add(out bucket.Outcome, tokens int64) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.calls += out.Calls
	switch out.Status {
	case bucket.Charged:
		y.charged++
		y.tokens += tokens
	case bucket.Refused:
		y.refused++
	case bucket.Conflict:
		y.conflict++
	}
}

// testConcurrentCreators: of two processes that both think that they create a
// bucket, neither overwrites the other.
func testConcurrentCreators(t *testing.T, h Harness) {
	l := limit(t, 10, 10)
	for range 8 {
		key := newKey(t)
		var sum tally
		crowd(t, h, 2, func(_ int, s limiter.Store) error {
			out, err := s.Charge(context.Background(), key, take(l, t0, 6))
			sum.add(out, 6)
			return err
		})
		if sum.charged != 1 || sum.refused != 1 {
			t.Fatalf("%d charged and %d refused, want one each", sum.charged, sum.refused)
		}
		if r := rows(t, h.Open(t, home), key)[home]; r.Spent != 6 || r.TAT != t0+l.Time(6) {
			t.Fatalf("row %+v, want 6 spent", r)
		}
	}
}

// testLastTokens: 64 processes race for the last tokens of a bucket in use.
func testLastTokens(t *testing.T, h Harness) {
	const left = 20
	key, l := newKey(t), limit(t, 100, 100)
	known := charge(t, h.Open(t, home), key, take(l, t0, 100-left)).Row
	var sum tally
	crowd(t, h, 64, func(_ int, s limiter.Store) error {
		c := take(l, t0, 1)
		c.Known = &known
		out, err := s.Charge(context.Background(), key, c)
		sum.add(out, 1)
		return err
	})
	if sum.charged != left || sum.refused != 64-left {
		t.Errorf("%d charged and %d refused, want %d and %d", sum.charged, sum.refused, left, 64-left)
	}
	if sum.calls != 64 {
		t.Errorf("%d calls for 64 charges of a known row, want 64", sum.calls)
	}
	if r := rows(t, h.Open(t, home), key)[home]; r.Spent != 100 || r.TAT != t0+second {
		t.Errorf("row %+v, want 100 spent and a TAT of t0+1s", r)
	}
}

// testColdBucket: 64 processes take ten times each from a bucket of 100 that
// does not exist yet.
func testColdBucket(t *testing.T, h Harness) {
	key, l := newKey(t), limit(t, 100, 100)
	var sum tally
	crowd(t, h, 64, func(_ int, s limiter.Store) error {
		var known *bucket.Row
		for range 10 {
			c := take(l, t0, 1)
			c.Known = known
			out, err := s.Charge(context.Background(), key, c)
			if err != nil {
				return err
			}
			row := out.Row
			known = &row
			sum.add(out, 1)
		}
		return nil
	})
	if sum.charged != 100 || sum.refused != 540 {
		t.Errorf("%d charged and %d refused, want 100 and 540", sum.charged, sum.refused)
	}
	if r := rows(t, h.Open(t, home), key)[home]; r.Spent != 100 || r.TAT != t0+second || r.Born != t0 {
		t.Errorf("row %+v, want 100 spent and a TAT of t0+1s", r)
	}
}

// testRacingFolders: of many processes that fold the same spend, one does; plain
// charges do not disturb them; and the row adds up.
func testRacingFolders(t *testing.T, h Harness) {
	const folders, chargers, rounds = 8, 8, 4
	key, l := newKey(t), limit(t, 1000, 1000)
	var plain, folds tally
	for round := range int64(rounds) {
		crowd(t, h, folders+chargers, func(i int, s limiter.Store) error {
			c, sum := take(l, t0, 2), &plain
			if i < folders {
				sum = &folds
				c.Fold = &bucket.Fold{
					From:  round,
					Delta: l.Time(10),
					Seen:  map[string]bucket.Seen{"us-east-1": {Born: t0, Spent: 10 * (round + 1), At: t0}},
				}
			}
			out, err := s.Charge(context.Background(), key, c)
			sum.add(out, 2)
			return err
		})
	}
	if plain.charged != chargers*rounds || plain.conflict != 0 {
		t.Errorf("plain: %d charged, %d conflicts, want %d and none", plain.charged, plain.conflict, chargers*rounds)
	}
	if folds.charged != rounds || folds.conflict != (folders-1)*rounds {
		t.Errorf("folds: %d charged, %d conflicts, want %d and %d", folds.charged, folds.conflict, rounds, (folders-1)*rounds)
	}
	r := rows(t, h.Open(t, home), key)[home]
	if want := plain.tokens + folds.tokens; r.Spent != want || r.TAT != t0+l.Time(want+10*rounds) {
		t.Errorf("row %+v, want %d spent and %d folded", r, want, 10*rounds)
	}
	if r.Fold != rounds || r.Seen["us-east-1"].Spent != 10*rounds {
		t.Errorf("row %+v, want %d folds that saw %d", r, rounds, 10*rounds)
	}
}
