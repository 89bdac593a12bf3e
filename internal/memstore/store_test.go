package memstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"weir/internal/limiter"
	"weir/internal/memstore"
	"weir/pkg/bucket"
)

const t0 = int64(1_700_000_000_000_000_000)

func charge(t *testing.T, now, n int64) bucket.Charge {
	t.Helper()
	l, err := bucket.NewLimit(bucket.Rate{Count: 10, Period: time.Second}, 10)
	if err != nil {
		t.Fatal(err)
	}
	return bucket.Charge{Limit: l, Now: now, Tokens: n, Inc: l.Time(n), Ver: 1}
}

func TestRegionsShareOneTable(t *testing.T) {
	ctx := context.Background()
	table := memstore.NewTable()
	east, west := table.Region("us-east-1"), table.Region("eu-west-1")
	for _, s := range []*memstore.Store{east, west, west} {
		if out, err := s.Charge(ctx, "k", charge(t, t0, 1)); err != nil || out.Status != bucket.Charged {
			t.Fatalf("Charge = %+v, %v", out, err)
		}
	}
	rows, err := east.Rows(ctx, "k")
	if err != nil {
		t.Fatal(err)
	}
	spent := map[string]int64{}
	for _, r := range rows {
		spent[r.Region] = r.Spent
	}
	if len(rows) != 2 || spent["us-east-1"] != 1 || spent["eu-west-1"] != 2 {
		t.Errorf("Rows = %+v, want 1 spent in us-east-1 and 2 in eu-west-1", rows)
	}
	if r, ok := west.Peek("k"); !ok || r.Spent != 2 {
		t.Errorf("Peek = %+v, %v, want 2 spent", r, ok)
	}
	if r, ok := memstore.New("us-east-1").Peek("k"); ok {
		t.Errorf("Peek on another table = %+v, want none", r)
	}
}

func TestExpiredRowIsReplaced(t *testing.T) {
	ctx := context.Background()
	s := memstore.New("r")
	c := charge(t, t0, 3)
	if _, err := s.Charge(ctx, "k", c); err != nil {
		t.Fatal(err)
	}
	last := c.Expiry() * 1e9 // still alive
	for _, tt := range []struct{ now, born, spent int64 }{
		{last, t0, 4},
		{charge(t, last, 1).Expiry()*1e9 + 1e9, charge(t, last, 1).Expiry()*1e9 + 1e9, 1},
	} {
		out, err := s.Charge(ctx, "k", charge(t, tt.now, 1))
		if err != nil {
			t.Fatal(err)
		}
		if out.Row.Born != tt.born || out.Row.Spent != tt.spent {
			t.Errorf("at %d: born %d, spent %d, want %d and %d", tt.now, out.Row.Born, out.Row.Spent, tt.born, tt.spent)
		}
	}
	if rows, _ := s.Rows(ctx, "k"); len(rows) != 1 {
		t.Errorf("Rows = %+v, want the one row", rows)
	}
}

func TestFault(t *testing.T) {
	ctx := context.Background()
	s := memstore.New("r")
	s.Fault = func(_ context.Context, op string) error {
		if op == "charge" {
			return limiter.ErrThrottled
		}
		return nil
	}
	if _, err := s.Charge(ctx, "k", charge(t, t0, 1)); !errors.Is(err, limiter.ErrThrottled) {
		t.Errorf("Charge: %v, want ErrThrottled", err)
	}
	if rows, err := s.Rows(ctx, "k"); err != nil || len(rows) != 0 {
		t.Errorf("Rows = %+v, %v, want none: a failed charge must write nothing", rows, err)
	}
}
