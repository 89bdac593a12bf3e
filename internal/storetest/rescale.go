package storetest

import (
	"context"
	"errors"
	"testing"

	"weir/internal/limiter"
	"weir/pkg/bucket"
)

// Rescaler is a store whose rows can be brought to another limit. A store that is
// none skips the tests that need one.
type Rescaler interface {
	limiter.Store
	Row(ctx context.Context, key string) (bucket.Row, bool, error)
	Rescale(ctx context.Context, key string, c bucket.Rescale) (bucket.Outcome, error)
}

func openRescaler(t *testing.T, h Harness) Rescaler {
	t.Helper()
	s, ok := h.Open(t, home).(Rescaler)
	if !ok {
		t.Skip("the store does not rescale")
	}
	return s
}

// under is take under a version.
func under(ver int64, l bucket.Limit, now, n int64) bucket.Charge {
	c := take(l, now, n)
	c.Ver = ver
	return c
}

// testVersions: charges of newer versions bring the row along, in every mode and
// form; older ones change nothing and are told what is in force.
func testVersions(t *testing.T, h Harness) {
	small, large, hourly := limit(t, 10, 10), limit(t, 20, 40), perHour(t, 200)
	seen := map[string]bucket.Seen{"us-east-1": {Born: t0 - 7, Spent: 3, At: t0 - 1}}
	for _, carry := range []bucket.Carry{bucket.Proportional, bucket.AsIs, bucket.Additive, bucket.Reset} {
		s, key := h.Open(t, home), newKey(t)
		ref, found := bucket.Row{Region: home}, false
		for i, step := range []struct {
			c     bucket.Charge
			want  bucket.Status
			calls int // at most, if the row is known
		}{
			{under(5, small, t0, 4), bucket.Charged, 1},
			{under(4, large, t0, 1), bucket.Outdated, 1},
			{under(6, large, t0, 1), bucket.Charged, 1}, // busy
			{under(5, small, t0+1, 1), bucket.Outdated, 1},
			{under(6, large, t0+1, 41), bucket.Refused, 1},
			{folded(large, t0+1, 1, bucket.Fold{From: 0, Delta: large.Time(2), Seen: seen}), bucket.Outdated, 1},
			{under(7, small, t0+2, 11), bucket.Refused, 1}, // and the row stays at 6
			{under(6, large, t0+2, 1), bucket.Charged, 1},
			{under(8, hourly, t0+second, 1), bucket.Charged, 1},                // busy, a new epoch
			{under(9, large, t0+9*3600*second, 40), bucket.Charged, 1},         // idle, a new epoch
			{under(9, small, t0+9*3600*second, 10), bucket.Refused, 1},         // another limit of the same version; all is used
			{under(9, small, t0+9*3600*second+2*second, 1), bucket.Charged, 1}, // as it would be under this one by now
			{under(9, small, t0+9*3600*second+2*second, 1), bucket.Charged, 1},
			{under(10, bucket.Unlimited(), t0+9*3600*second+2*second, 1), bucket.Charged, 1},
			{under(11, small, t0+9*3600*second+2*second, 1), bucket.Charged, 1},
			{under(0, large, t0+20*3600*second, 1), bucket.Outdated, 1},
		} {
			c := step.c
			c.Carry = carry
			if c.Fold != nil && step.want == bucket.Outdated {
				c.Ver = 5
			}
			if found {
				known := ref
				c.Known = &known
			}
			want, status := c.Apply(ref, found)
			if carry == bucket.Proportional && status != step.want {
				t.Fatalf("step %d: the reference says %v, the table %v", i, status, step.want)
			}
			out := charge(t, s, key, c)
			if out.Calls != 0 && (out.Status != status || !equalRow(out.Row, want) || out.Calls > step.calls) {
				t.Fatalf("%v, step %d: %v %+v in %d calls\nwant %v %+v in at most %d", carry, i, out.Status, out.Row, out.Calls, status, want, step.calls)
			}
			if status == bucket.Charged {
				ref, found = want, true
			}
			if got := rows(t, s, key)[home]; !equalRow(got, ref) {
				t.Fatalf("%v, step %d: Rows = %+v\nwant %+v", carry, i, got, ref)
			}
		}
	}
}

// testOlderRow: whoever meets a row of an older version takes two calls at most,
// whatever it thought to know, and the next charge one again.
func testOlderRow(t *testing.T, h Harness) {
	before, after := limit(t, 10, 10), limit(t, 100, 100)
	for name, stale := range map[string]*bucket.Row{
		"none":        nil,
		"zero":        {},
		"older still": {Region: home, Ver: 1, Limit: before, TAT: t0 + 5, At: t0, Spent: 1},
		"newer":       {Region: home, Ver: 9, Limit: before, TAT: t0 + 5, At: t0, Spent: 1},
	} {
		for _, n := range []int64{1, 10} { // and an empty one, which refuses
			s, key := h.Open(t, home), newKey(t)
			row := charge(t, s, key, under(5, before, t0, n)).Row
			c := under(6, after, t0, 1)
			c.Known = stale
			want, status := c.Apply(row, true)
			out := charge(t, s, key, c)
			if out.Status != status || !equalRow(out.Row, want) || out.Calls > 2 {
				t.Errorf("Known %s: %v %+v in %d calls\nwant %v %+v in at most 2", name, out.Status, out.Row, out.Calls, status, want)
			}
			if c.Known = &out.Row; status == bucket.Charged {
				if out = charge(t, s, key, c); out.Status != bucket.Charged || out.Calls != 1 {
					t.Errorf("Known %s: then %v in %d calls, want Charged in one", name, out.Status, out.Calls)
				}
			}
		}
	}
}

// testUnversioned: charges without a version take a row's TAT as it is, whatever
// limits they have: neither can be newer.
func testUnversioned(t *testing.T, h Harness) {
	s, key := h.Open(t, home), newKey(t)
	one, other := limit(t, 10, 10), limit(t, 20, 40)
	ref, found := bucket.Row{Region: home}, false
	for i, c := range []bucket.Charge{
		under(0, one, t0, 4), under(0, other, t0, 1), under(0, one, t0, 1),
		under(0, other, t0+second, 3), under(0, one, t0+9*second, 1),
	} {
		if found {
			known := ref
			c.Known = &known
		}
		var status bucket.Status
		if ref, status = c.Apply(ref, found); status != bucket.Charged {
			t.Fatalf("step %d: the reference says %v", i, status)
		}
		found = true
		if out := charge(t, s, key, c); out.Status != status || !equalRow(out.Row, ref) || out.Calls != 1 {
			t.Fatalf("step %d: %v %+v in %d calls\nwant %v %+v in one", i, out.Status, out.Row, out.Calls, status, ref)
		}
	}
	if want := one.Time(1); ref.TAT != t0+9*second+want || ref.Limit != one {
		t.Errorf("row %+v, want the last charge's limit", ref)
	}
}

// testRescale: a row becomes what Rescale.Apply makes of it, once, and is read
// back; a row that is not there stays away.
func testRescale(t *testing.T, h Harness) {
	s := openRescaler(t, h)
	key, before, after := newKey(t), limit(t, 10, 10), perHour(t, 200)
	rescale := func(c bucket.Rescale) bucket.Outcome {
		t.Helper()
		out, err := s.Rescale(context.Background(), key, c)
		if err != nil {
			t.Fatalf("Rescale: %v", err)
		}
		return out
	}
	if out := rescale(bucket.Rescale{Limit: after, Ver: 6, Now: t0}); out.Status != 0 || out.Units != 0 {
		t.Errorf("without a row: %+v, want nothing done", out)
	}
	if row, found, err := s.Row(context.Background(), key); found || err != nil || row.Spent != 0 {
		t.Errorf("Row = %+v, %v, %v, want none", row, found, err)
	}
	fold := &bucket.Fold{Delta: before.Time(2), Seen: map[string]bucket.Seen{"us-east-1": {Born: t0, Spent: 2, At: t0}}}
	c := under(5, before, t0, 3)
	c.Fold = fold
	ref := charge(t, s, key, c).Row
	for i, c := range []bucket.Rescale{
		{Limit: after, Ver: 4, Now: t0 + second/4},                          // older
		{Limit: before, Ver: 5, Now: t0 + second/4},                         // the same
		{Limit: before, Ver: 6, Now: t0 + second/4},                         // the same limit
		{Limit: after, Ver: 6, Now: t0 + second/4},                          // another limit of the same version
		{Limit: before, Ver: 7, Carry: bucket.Additive, Now: t0 + second/4}, // and back
		{Limit: after, Ver: 8, Carry: bucket.AsIs, Now: t0 - second},        // by a clock that is behind
		{Limit: limit(t, 0, 0), Ver: 9, Now: t0 + second/4},
		{Limit: bucket.Limit{}, Ver: 10, Now: t0 + second/4}, // the same
		{Limit: bucket.Unlimited(), Ver: 11, Now: t0 + second/4},
		{Limit: before, Ver: 12, Now: t0 + second/4},
		{Limit: after, Ver: 13, Carry: bucket.Reset, Now: t0 + second/4},
		{Limit: after, Ver: 13, Now: t0 + second/4},
	} {
		want, changes := c.Apply(ref)
		status := bucket.Outdated
		if changes {
			status = bucket.Charged
		}
		out := rescale(c)
		if out.Status != status || !equalRow(out.Row, want) {
			t.Fatalf("step %d: %v %+v\nwant %v %+v", i, out.Status, out.Row, status, want)
		}
		ref = want
		if row, found, err := s.Row(context.Background(), key); !found || err != nil || !equalRow(row, ref) {
			t.Fatalf("step %d: Row = %+v, %v, %v\nwant %+v", i, row, found, err, ref)
		}
	}
	if ref.Spent != 3 || ref.Fold != 1 || ref.Ver != 13 || ref.Limit != after {
		t.Errorf("row %+v, want what was spent and seen as it was", ref)
	}
}

// testRescaleExpired: a row that should be gone is left to go.
func testRescaleExpired(t *testing.T, h Harness) {
	s := openRescaler(t, h)
	key, l := newKey(t), limit(t, 10, 10)
	c := under(5, l, t0, 10)
	charge(t, s, key, c)
	out, err := s.Rescale(context.Background(), key, bucket.Rescale{Limit: perHour(t, 200), Ver: 6, Now: (c.Expiry() + 1) * second})
	if err != nil || out.Status != 0 {
		t.Errorf("Rescale of an expired row = %+v, %v, want nothing done", out, err)
	}
}

// testRescaleMovesExpiry: a row under a deeper limit stays until it is full under
// that; under a shallower one it stays as long as it would have.
func testRescaleMovesExpiry(t *testing.T, h Harness) {
	s := openRescaler(t, h)
	key, shallow, deep := newKey(t), limit(t, 10, 10), perHour(t, 200)
	c := under(5, shallow, t0, 10)
	charge(t, s, key, c)
	for ver, l := range []bucket.Limit{deep, shallow, deep} {
		at := (c.Expiry() - 100) * second
		out, err := s.Rescale(context.Background(), key, bucket.Rescale{Limit: l, Ver: int64(6 + ver), Now: at})
		if err != nil || out.Status != bucket.Charged {
			t.Errorf("rescale %d, just before the first expiry = %+v, %v, want it done", ver, out, err)
		}
	}
	at := (c.Expiry() + 100) * second // beyond what the shallow limit had
	out, err := s.Rescale(context.Background(), key, bucket.Rescale{Limit: shallow, Ver: 20, Now: at})
	if err != nil || out.Status != bucket.Charged {
		t.Errorf("after the first expiry: %+v, %v, want a row that is still there", out, err)
	}
}

// wantRescaleErrors checks the errors of what a Rescaler has more.
func wantRescaleErrors(t *testing.T, ctx context.Context, s limiter.Store, want error) {
	t.Helper()
	r, ok := s.(Rescaler)
	if !ok {
		return
	}
	key := newKey(t)
	if _, found, err := r.Row(ctx, key); found || !errors.Is(err, want) {
		t.Errorf("Row: %v, want %v", err, want)
	}
	if out, err := r.Rescale(ctx, key, bucket.Rescale{Limit: limit(t, 10, 10), Ver: 2, Now: t0}); out.Status != 0 || !errors.Is(err, want) {
		t.Errorf("Rescale: %v, %v, want %v", out.Status, err, want)
	}
}
