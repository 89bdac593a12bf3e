package ddbstore_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// FuzzCharge makes a sequence of charges from a seed and compares the table with
// bucket.Charge.Apply, row for row (D1).
func FuzzCharge(f *testing.F) {
	for seed := range uint64(12) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		s := ddbstore.New(client(tables(t).Endpoint()), buckets, region)
		key := fmt.Sprintf("fuzz/%d/%d", seed, time.Now().UnixNano())
		g := generator{rand.New(rand.NewPCG(seed, 0))}
		limits := g.limits(t)

		ref, found := bucket.Row{Region: region}, false
		stale := []*bucket.Row{nil, {}} // what a process may think the row is
		now := int64(4_000_000_000) * int64(time.Second)
		for step := range 40 {
			now += g.pause()
			if g.IntN(6) == 0 {
				ref = g.rescale(t, s, key, limits[g.IntN(len(limits))], now, ref, found)
			}
			c := g.charge(limits[g.IntN(len(limits))], now, ref)
			c.Known = stale[g.IntN(len(stale))]

			want, status := c.Apply(ref, found)
			out, err := s.Charge(t.Context(), key, c)
			if err != nil {
				t.Fatalf("step %d: %+v\non %+v: %v", step, c, ref, err)
			}
			if out.Calls == 0 { // fits no bucket; the store has not looked
				if status == bucket.Charged || out.Status != bucket.Refused {
					t.Fatalf("step %d: %v without a call, want %v", step, out.Status, status)
				}
				continue
			}
			if out.Status != status || !equalRow(out.Row, want) || out.Calls > 2 {
				t.Fatalf("step %d: %+v\non %+v\ngot  %v %+v in %d calls\nwant %v %+v in at most 2",
					step, c, ref, out.Status, out.Row, out.Calls, status, want)
			}
			if status == bucket.Charged {
				ref, found = want, true
				stale = append(stale, &want)
			}
		}
		rows, err := s.Rows(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if found && (len(rows) != 1 || !equalRow(rows[0], ref)) {
			t.Errorf("Rows = %+v\nwant %+v", rows, ref)
		}
	})
}

type generator struct{ *rand.Rand }

// rescale brings the row to another limit, and returns what it must be then.
func (g generator) rescale(t *testing.T, s *ddbstore.Store, key string, l bucket.Limit, now int64, r bucket.Row, found bool) bucket.Row {
	t.Helper()
	if g.IntN(6) == 0 {
		l = bucket.Unlimited()
	}
	c := bucket.Rescale{Limit: l, Ver: g.version(r), Carry: bucket.Carry(g.IntN(4)), Since: now - g.Int64N(3)*g.pause(), Now: now}
	want, changes := c.Apply(r)
	out, err := s.Rescale(t.Context(), key, c)
	if err != nil {
		t.Fatalf("%+v\non %+v: %v", c, r, err)
	}
	if expired := out.Status == 0; expired || !found {
		if found && now-r.At < int64(24*time.Hour) || out.Units != 0 {
			t.Fatalf("%+v\non %+v: %+v, want it changed", c, r, out)
		}
		return r
	}
	if (out.Status == bucket.Charged) != changes || !equalRow(out.Row, want) {
		t.Fatalf("%+v\non %+v\ngot  %v %+v\nwant %v %+v", c, r, out.Status, out.Row, changes, want)
	}
	return want
}

// limits returns a few limits that one bucket may have had.
func (g generator) limits(t *testing.T) []bucket.Limit {
	periods := []time.Duration{time.Second, time.Minute, time.Hour, 24 * time.Hour}
	limits := []bucket.Limit{{}} // admits nothing
	for range 3 {
		r := bucket.Rate{Count: 1 + g.Int64N(1_000), Period: periods[g.IntN(len(periods))]}
		l, err := bucket.NewLimit(r, 1+g.Int64N(200))
		if err != nil {
			t.Fatal(err)
		}
		limits = append(limits, l, l, l)
	}
	return limits
}

// pause returns the time to the next charge: none, a step back, or up to hours.
func (g generator) pause() int64 {
	switch g.IntN(8) {
	case 0:
		return 0
	case 1:
		return -g.Int64N(int64(time.Second))
	case 2:
		return bucket.EpochLength
	case 3:
		return g.Int64N(int64(5 * time.Hour))
	}
	return g.Int64N(int64(time.Second))
}

// charge returns a charge that is likely to find its case on row r.
func (g generator) charge(l bucket.Limit, now int64, r bucket.Row) bucket.Charge {
	n := 1 + g.Int64N(max(1, l.Burst())+2)
	inc, _ := l.Charge(n, 0)
	c := bucket.Charge{Limit: l, Now: now, Tokens: n, Inc: inc, Ver: g.version(r), Carry: bucket.Carry(g.IntN(4)), Since: now - g.Int64N(3)*g.pause()}
	switch g.IntN(8) {
	case 0, 1:
		c.Keep = g.Int64N(int64(l.Depth()) + 1)
	case 2:
		c.Keep = -g.Int64N(int64(l.Depth()) + 1)
	case 3: // tokens returned
		if !l.IsZero() {
			c.Tokens, c.Inc, c.Keep = -n, -inc, -int64(bucket.MaxDepth)
		}
	}
	if g.IntN(3) == 0 {
		seen := map[string]bucket.Seen{}
		for i := range g.IntN(4) {
			seen[fmt.Sprintf("region-%d", i)] = bucket.Seen{Born: g.Int64(), Spent: g.Int64(), At: g.Int64()}
		}
		c.Fold = &bucket.Fold{From: r.Fold, Delta: g.Int64N(int64(l.Depth())/2 + 1), Seen: seen}
		if g.IntN(4) == 0 {
			c.Fold.From = g.Int64N(5)
		}
	}
	return c
}

// version returns that of the row, one that is newer, or one that is older.
func (g generator) version(r bucket.Row) int64 {
	switch g.IntN(8) {
	case 0, 1:
		return r.Ver + 1 + g.Int64N(2)
	case 2:
		return max(0, r.Ver-1-g.Int64N(2))
	}
	return r.Ver
}

func equalRow(a, b bucket.Row) bool {
	if len(a.Seen) == 0 && len(b.Seen) == 0 {
		a.Seen, b.Seen = nil, nil
	}
	return reflect.DeepEqual(a, b)
}
