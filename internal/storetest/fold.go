package storetest

import (
	"reflect"
	"testing"

	"weir/pkg/bucket"
)

// folded is take with a fold.
func folded(l bucket.Limit, now, n int64, f bucket.Fold) bucket.Charge {
	c := take(l, now, n)
	c.Fold = &f
	return c
}

// testFold: a fold adds its delta to the TAT, replaces Seen, and is counted.
func testFold(t *testing.T, h Harness) {
	s, key, l := h.Open(t, home), newKey(t), limit(t, 10, 10)
	seen1 := map[string]bucket.Seen{"us-east-1": {Born: t0 - 7, Spent: 3, At: t0 - 1}}
	seen2 := map[string]bucket.Seen{
		"us-east-1": {Born: t0 - 7, Spent: 5, At: t0 + 5},
		"us-west-2": {Born: t0, Spent: 0, At: 0},
	}
	ref, found := bucket.Row{Region: home}, false
	for i, step := range []struct {
		c    bucket.Charge
		want bucket.Status
	}{
		{folded(l, t0, 1, bucket.Fold{From: 0, Delta: l.Time(3), Seen: seen1}), bucket.Charged}, // creates the row
		{take(l, t0, 1), bucket.Charged}, // keeps Seen
		{folded(l, t0, 1, bucket.Fold{From: 1, Delta: l.Time(5), Seen: seen2}), bucket.Refused},
		{folded(l, t0+second/10, 1, bucket.Fold{From: 1, Delta: l.Time(5), Seen: seen2}), bucket.Charged},
		{folded(l, t0+9*second, 1, bucket.Fold{From: 2, Delta: 0, Seen: seen2}), bucket.Charged}, // idle
		{folded(l, t0+9*second, 1, bucket.Fold{From: 3, Delta: 0}), bucket.Charged},              // sees nobody
	} {
		var status bucket.Status
		ref, status = step.c.Apply(ref, found)
		if found = true; status != step.want {
			t.Fatalf("step %d: the reference says %v, the table %v", i, status, step.want)
		}
		out := charge(t, s, key, step.c)
		if out.Status != step.want || !equalRow(out.Row, ref) {
			t.Fatalf("step %d: %v %+v\nwant    %v %+v", i, out.Status, out.Row, step.want, ref)
		}
		if got := rows(t, s, key)[home]; !equalRow(got, ref) {
			t.Fatalf("step %d: Rows = %+v\nwant %+v", i, got, ref)
		}
	}
}

// testFoldConflict: a fold onto another than the row's last is refused as a
// conflict, whether or not the tokens are there.
func testFoldConflict(t *testing.T, h Harness) {
	s, key, l := h.Open(t, home), newKey(t), limit(t, 10, 10)
	wantStatus(t, charge(t, s, key, folded(l, t0, 1, bucket.Fold{From: 1})), bucket.Conflict) // no row
	if got := rows(t, s, key); len(got) != 0 {
		t.Fatalf("Rows = %+v, want none", got)
	}
	wantStatus(t, charge(t, s, key, folded(l, t0, 1, bucket.Fold{})), bucket.Charged)
	row := charge(t, s, key, take(l, t0, 9)).Row
	for _, from := range []int64{0, 2, 7} {
		for _, now := range []int64{t0, t0 + 5*second} { // empty, full
			out := charge(t, s, key, folded(l, now, 1, bucket.Fold{From: from}))
			wantStatus(t, out, bucket.Conflict)
			if !equalRow(out.Row, row) {
				t.Errorf("fold from %d: row %+v\nwant as found %+v", from, out.Row, row)
			}
		}
	}
	if got := rows(t, s, key)[home]; !equalRow(got, row) {
		t.Errorf("Rows = %+v\nwant %+v", got, row)
	}
}

// equalRow compares rows; no Seen and an empty one are the same.
func equalRow(a, b bucket.Row) bool {
	if len(a.Seen) == 0 && len(b.Seen) == 0 {
		a.Seen, b.Seen = nil, nil
	}
	return reflect.DeepEqual(a, b)
}
