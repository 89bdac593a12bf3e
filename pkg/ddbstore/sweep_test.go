package ddbstore_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	"weir/internal/testengine"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// TestSweep removes what has expired, and nothing else.
func TestSweep(t *testing.T) {
	e := testengine.Start(t)
	const table = "weir-sweep"
	direct := e.Client(region)
	if err := ddbstore.CreateStrictTable(t.Context(), direct, table); err != nil {
		t.Fatal(err)
	}
	s, l := ddbstore.NewStrict(client(e.Endpoint(), patient), table), tenPerSecond(t)
	var want []string
	for i, at := range []int64{t0, t0, t0, t0 + 1e9, t0 + 5e9} {
		key := newKey(t)
		if i > 2 {
			want = append(want, key)
		}
		if _, err := s.Charge(t.Context(), key, take(l, at, 1)); err != nil {
			t.Fatal(err)
		}
	}
	expired := (take(l, t0, 1).Expiry() + 1) * 1e9
	for _, tt := range []struct {
		now  int64
		want int
	}{{expired - 1, 0}, {expired, 3}, {expired, 0}} {
		if n, err := ddbstore.Sweep(t.Context(), direct, table, tt.now); n != tt.want || err != nil {
			t.Errorf("Sweep %d ns after the expiry = %d, %v, want %d", tt.now-expired, n, err, tt.want)
		}
	}
	for _, key := range want {
		if rows, err := s.Rows(t.Context(), key); err != nil || len(rows) != 1 {
			t.Errorf("Rows = %+v, %v, want the one that is in use", rows, err)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ddbstore.Sweep(cancelled, direct, table, expired); !errors.Is(err, context.Canceled) {
		t.Errorf("Sweep without time: %v, want the error of the context", err)
	}
}

// TestSweepSparesWhatIsCharged: a row that is charged between being read and being
// removed stays, and so does one that another Region is writing.
func TestSweepSparesWhatIsCharged(t *testing.T) {
	e := testengine.Start(t)
	const table = "weir-sweep-race"
	if err := ddbstore.CreateStrictTable(t.Context(), e.Client(region), table); err != nil {
		t.Fatal(err)
	}
	p, l, key := e.Proxy(t), tenPerSecond(t), newKey(t)
	s := ddbstore.NewStrict(client(e.Endpoint(), patient), table)
	old, err := s.Charge(t.Context(), key, take(l, t0, 1))
	if err != nil {
		t.Fatal(err)
	}
	later := (take(l, t0, 1).Expiry() + 1) * 1e9
	deletes := atomic.Int64{}
	p.Set(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Header.Get("X-Amz-Target") != "DynamoDB_20120810.DeleteItem" {
			next.ServeHTTP(w, r)
			return
		}
		if deletes.Add(1) == 1 {
			writeConflict(w, r, next)
			return
		}
		c := take(l, later, 1)
		c.Known = &old.Row
		if _, err := s.Charge(context.Background(), key, c); err != nil {
			t.Errorf("Charge: %v", err)
		}
		next.ServeHTTP(w, r)
	})
	through := client(p.Endpoint(), patient)
	for range 2 {
		if n, err := ddbstore.Sweep(t.Context(), through, table, later); n != 0 || err != nil {
			t.Errorf("Sweep = %d, %v, want nothing removed", n, err)
		}
	}
	rows, err := s.Rows(t.Context(), key)
	if deletes.Load() != 2 || err != nil || !slices.ContainsFunc(rows, func(r bucket.Row) bool { return r.At == later }) {
		t.Errorf("after %d deletes Rows = %+v, %v, want the row charged last", deletes.Load(), rows, err)
	}
}
