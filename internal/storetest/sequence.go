package storetest

import (
	"reflect"
	"strings"
	"testing"

	"weir/internal/limiter"
	"weir/pkg/bucket"
)

// testTrace follows one bucket of 4 tokens at 4/s through idle, busy, refused
// and new epochs. The row must be what Apply makes of it at every step, and what
// Rows returns afterwards.
func testTrace(t *testing.T, h Harness) {
	s, key, l := h.Open(t, home), newKey(t), limit(t, 4, 4)
	ref, found := bucket.Row{Region: home}, false
	for i, step := range []struct {
		at, n int64 // after t0 in ns, tokens
		want  bucket.Status
	}{
		{0, 1, bucket.Charged},              // creates the row
		{0, 3, bucket.Charged},              // busy
		{1, 1, bucket.Refused},              // empty
		{second / 4, 1, bucket.Charged},     // one token later
		{second/4 + 1, 1, bucket.Refused},   // empty again
		{second, 2, bucket.Charged},         // busy, opens an epoch
		{3 * second, 1, bucket.Charged},     // idle, opens an epoch
		{7 * second / 2, 1, bucket.Charged}, // idle, within it
		{4*second - 1, 3, bucket.Charged},   // idle, 1 ns before it ends
		{4 * second, 2, bucket.Refused},     // one is left
		{4 * second, 1, bucket.Charged},     // busy, opens an epoch
		{5*second - 1, 4, bucket.Charged},   // idle to the nanosecond: the whole burst
		{100 * second, 5, bucket.Refused},   // more than the burst
	} {
		c := take(l, t0+step.at, step.n)
		c.Ver = int64(i)
		if found {
			known := ref
			c.Known = &known
		}
		var status bucket.Status
		ref, status = c.Apply(ref, found)
		if status != step.want {
			t.Fatalf("step %d: the reference says %v, the table %v", i, status, step.want)
		}
		found = true
		out := charge(t, s, key, c)
		if out.Status != step.want || !reflect.DeepEqual(out.Row, ref) {
			t.Fatalf("step %d: %v %+v\nwant    %v %+v", i, out.Status, out.Row, step.want, ref)
		}
	}
	if got := rows(t, s, key); len(got) != 1 || !reflect.DeepEqual(got[home], ref) {
		t.Errorf("Rows = %+v, want %+v", got, ref)
	}
}

// testRefused: a refusal changes nothing and tells the exact wait.
func testRefused(t *testing.T, h Harness) {
	s, key, l := h.Open(t, home), newKey(t), limit(t, 10, 10)
	full := charge(t, s, key, take(l, t0, 8)).Row
	out := charge(t, s, key, take(l, t0+1, 3))
	wantStatus(t, out, bucket.Refused)
	if !reflect.DeepEqual(out.Row, full) {
		t.Errorf("row %+v\nwant %+v", out.Row, full)
	}
	wait := int64(l.Wait(out.Row.TAT, t0+1, 3))
	wantStatus(t, charge(t, s, key, take(l, t0+1+wait-1, 3)), bucket.Refused)
	wantStatus(t, charge(t, s, key, take(l, t0+1+wait, 3)), bucket.Charged)
	if got := rows(t, s, key)[home].Spent; got != 11 {
		t.Errorf("spent %d, want 11", got)
	}
}

// testNeverFits: what exceeds the burst or meets a zero rate is refused, and
// does not create a row.
func testNeverFits(t *testing.T, h Harness) {
	s, key, l := h.Open(t, home), newKey(t), limit(t, 10, 10)
	folded := take(l, t0, 6)
	folded.Fold = &bucket.Fold{Delta: l.Time(5)}
	for name, c := range map[string]bucket.Charge{
		"more than the burst":           take(l, t0, 11),
		"zero rate":                     take(bucket.Limit{}, t0, 1),
		"more than the rest, after all": folded,
	} {
		if out := charge(t, s, key, c); out.Status != bucket.Refused {
			t.Errorf("%s: %v, want Refused", name, out.Status)
		}
	}
	if got := rows(t, s, key); len(got) != 0 {
		t.Errorf("Rows = %+v, want none", got)
	}
}

// testClockBehind: a process whose clock is behind gets no tokens that are not
// there, and breaks nothing for the others.
func testClockBehind(t *testing.T, h Harness) {
	s, key, l := h.Open(t, home), newKey(t), limit(t, 10, 10)
	wantStatus(t, charge(t, s, key, take(l, t0, 4)), bucket.Charged)
	// At t0-0.5s the bucket of this row holds what it held at t0, less 5.
	wantStatus(t, charge(t, s, key, take(l, t0-second/2, 2)), bucket.Refused)
	wantStatus(t, charge(t, s, key, take(l, t0-second/2, 1)), bucket.Charged)
	wantStatus(t, charge(t, s, key, take(l, t0-10*second, 1)), bucket.Refused)
	wantStatus(t, charge(t, s, key, take(l, t0, 6)), bucket.Refused)
	wantStatus(t, charge(t, s, key, take(l, t0, 5)), bucket.Charged)
	if r := rows(t, s, key)[home]; r.Spent != 10 || r.TAT != t0+second {
		t.Errorf("row %+v, want 10 spent and a TAT of t0+1s", r)
	}
}

// testExpiredRow: a row that should be gone but is not is as good as gone.
func testExpiredRow(t *testing.T, h Harness) {
	s, key, l := h.Open(t, home), newKey(t), limit(t, 10, 10)
	c := take(l, t0, 10)
	old := charge(t, s, key, c).Row
	later := (c.Expiry() + 1) * second

	c = take(l, later, 10)
	c.Known = &old
	out := charge(t, s, key, c)
	wantStatus(t, out, bucket.Charged)
	if out.Row.TAT != later+second || out.Row.At != later || out.Row.Epoch.Start != later {
		t.Errorf("row %+v, want one that is full but for this charge", out.Row)
	}
	// The store may have kept the row or begun another. Either way a reader can
	// tell what has been spent since.
	spent := out.Row.Spent
	if out.Row.Born == old.Born {
		spent -= old.Spent
	}
	if spent != 10 {
		t.Errorf("born %d, spent %d; before: born %d, spent %d; want 10 more", out.Row.Born, out.Row.Spent, old.Born, old.Spent)
	}
	wantStatus(t, charge(t, s, key, take(l, later, 1)), bucket.Refused)
}

// testRegions: a Region writes its own row only, and sees all.
func testRegions(t *testing.T, h Harness) {
	key, l := newKey(t), limit(t, 10, 10)
	east, west := h.Open(t, "us-east-1"), h.Open(t, "us-west-2")
	if list, err := east.Rows(t.Context(), key); err != nil || len(list) != 0 {
		t.Fatalf("Rows of nothing = %+v, %v, want none", list, err)
	}
	e := charge(t, east, key, take(l, t0, 10))
	w := charge(t, west, key, take(l, t0, 7))
	wantStatus(t, e, bucket.Charged)
	wantStatus(t, w, bucket.Charged)
	want := map[string]bucket.Row{"us-east-1": e.Row, "us-west-2": w.Row}
	for name, s := range map[string]limiter.Store{"us-east-1": east, "us-west-2": west} {
		if got := rows(t, s, key); !reflect.DeepEqual(got, want) {
			t.Errorf("Rows in %s = %+v\nwant %+v", name, got, want)
		}
	}
}

// testOneRow: what one Region charges is gone in all, at once and for good.
func testOneRow(t *testing.T, h Harness) {
	key, l := newKey(t), limit(t, 10, 10)
	east, west := h.Open(t, "us-east-1"), h.Open(t, "us-west-2")
	wantStatus(t, charge(t, east, key, take(l, t0, 7)), bucket.Charged)
	wantStatus(t, charge(t, west, key, take(l, t0, 4)), bucket.Refused)
	wantStatus(t, charge(t, west, key, take(l, t0, 3)), bucket.Charged)
	wantStatus(t, charge(t, east, key, take(l, t0, 1)), bucket.Refused)
	for name, s := range map[string]limiter.Store{"us-east-1": east, "us-west-2": west} {
		list, err := s.Rows(t.Context(), key)
		if err != nil || len(list) != 1 || list[0].Spent != 10 {
			t.Errorf("Rows in %s = %+v, %v, want one with 10 spent", name, list, err)
		}
	}
}

// testKeys: any two keys are two buckets.
func testKeys(t *testing.T, h Harness) {
	s, l, prefix := h.Open(t, home), limit(t, 1, 1), newKey(t)
	long := strings.Repeat("k", 5000)
	for _, key := range []string{"a", "A", "a ", "ä", "a#b:c/{d}", long + "1", long + "2", strings.Repeat("ö", 200)} {
		out := charge(t, s, prefix+key, take(l, t0, 1))
		if out.Status != bucket.Charged {
			t.Errorf("key %.20q shares the bucket of another", key)
		}
		if got := rows(t, s, prefix+key)[home]; !reflect.DeepEqual(got, out.Row) {
			t.Errorf("key %.20q: row %+v, want %+v", key, got, out.Row)
		}
	}
}
