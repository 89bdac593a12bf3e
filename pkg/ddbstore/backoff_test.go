package ddbstore

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"weir/pkg/bucket"
)

// colliding is a table on which every write takes answer and then turns out to
// have been in another Region's way. It is no engine: what is tested here is when
// writes are sent, on a clock that an engine does not have.
type colliding struct {
	rowsAPI
	answer time.Duration
	sent   []time.Time
}

func (c *colliding) UpdateItem(ctx context.Context, _ *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	c.sent = append(c.sent, time.Now())
	select {
	case <-time.After(c.answer):
		return nil, &types.ReplicatedWriteConflictException{}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func oneToken(t *testing.T) bucket.Charge {
	t.Helper()
	l, err := bucket.NewLimit(bucket.Rate{Count: 10, Period: time.Second}, 10)
	if err != nil {
		t.Fatal(err)
	}
	return bucket.Charge{Limit: l, Now: 1, Tokens: 1, Inc: l.Time(1)}
}

// TestBackoffKeepsTheDeadline: every attempt is answered before the deadline, and
// the charge ends in ErrConflict, which says that nothing was written.
func TestBackoffKeepsTheDeadline(t *testing.T) {
	const answer = 15 * time.Millisecond
	for _, patience := range []time.Duration{1, answer / 2, 2 * answer, 100 * time.Millisecond, 300 * time.Millisecond} {
		for range 50 {
			synctest.Test(t, func(t *testing.T) {
				table := &colliding{answer: answer}
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				end := time.Now().Add(patience)
				out, err := NewStrict(table, "t").Charge(ctx, "k", oneToken(t))
				want := ErrConflict
				if patience < answer { // the only attempt is not answered in time
					want = context.DeadlineExceeded
				}
				if !errors.Is(err, want) || out.Calls != len(table.sent) {
					t.Errorf("%v: %v after %d attempts, %d sent, want %v", patience, err, out.Calls, len(table.sent), want)
				}
				last := table.sent[len(table.sent)-1]
				if len(table.sent) > 1 && last.Add(answer).After(end) {
					t.Errorf("%v: the last of %d attempts was begun %v before the end", patience, len(table.sent), end.Sub(last))
				}
				if time.Now().After(end) {
					t.Errorf("%v: the charge ended %v late", patience, time.Since(end))
				}
				if patience >= 20*answer && len(table.sent) < 4 {
					t.Errorf("%v: %d attempts", patience, len(table.sent))
				}
			})
		}
	}
}

// TestBackoffSpreads: those who collide do not come back together, and without a
// deadline they give up at some point all the same.
func TestBackoffSpreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := map[time.Duration]int{}
		for range 100 {
			table := &colliding{}
			out, err := NewStrict(table, "t").Charge(t.Context(), "k", oneToken(t))
			if !errors.Is(err, ErrConflict) || out.Calls != maxConflicts+1 {
				t.Fatalf("%d calls, %v, want %d and ErrConflict", out.Calls, err, maxConflicts+1)
			}
			for i := 1; i < len(table.sent); i++ {
				if pause := table.sent[i].Sub(table.sent[i-1]); pause >= longestPause || i == 1 && pause >= firstPause {
					t.Errorf("pause %d is %v", i, pause)
				}
			}
			first[table.sent[1].Sub(table.sent[0]).Round(time.Millisecond)]++
		}
		if len(first) < 8 {
			t.Errorf("the first pauses were %v, want them all over %v", first, firstPause)
		}
	})
}

// TestBackoffIsCancelled: a caller who has gone is not waited for.
func TestBackoffIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		table := &colliding{}
		time.AfterFunc(50*time.Millisecond, cancel)
		start := time.Now()
		_, err := NewStrict(table, "t").Charge(ctx, "k", oneToken(t))
		if err == nil || time.Since(start) > 50*time.Millisecond {
			t.Errorf("%v after %v, want an error once ctx has ended", err, time.Since(start))
		}
	})
}
