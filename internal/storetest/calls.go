package storetest

import (
	"testing"

	"weir/pkg/bucket"
)

// testSteadyChargeIsOneCall: whoever knows the row pays one round trip and one
// write unit, whatever the charge comes to.
func testSteadyChargeIsOneCall(t *testing.T, h Harness) {
	s, key, l := h.Open(t, home), newKey(t), limit(t, 10, 10)
	var known *bucket.Row
	for i, step := range []struct {
		at, n int64
		want  bucket.Status
	}{
		{0, 1, bucket.Charged},            // a new bucket
		{1, 1, bucket.Charged},            // busy
		{2, 9, bucket.Refused},            // too little
		{second, 1, bucket.Charged},       // idle, a new epoch
		{second + 1, 9, bucket.Charged},   // busy
		{2*second - 1, 1, bucket.Charged}, //
		{2 * second, 1, bucket.Charged},   // busy, a new epoch
		{9 * second, 10, bucket.Charged},  // idle, a new epoch
		{9 * second, 1, bucket.Refused},   // empty
	} {
		c := take(l, t0+step.at, step.n)
		c.Known = known
		out := charge(t, s, key, c)
		if out.Status != step.want || out.Calls != 1 || out.Units != 1 {
			t.Errorf("step %d: %v in %d calls and %v units, want %v in 1 and 1", i, out.Status, out.Calls, out.Units, step.want)
		}
		row := out.Row
		known = &row
	}
}

// testStaleKnown: an outdated or invented Known costs a call, never correctness.
func testStaleKnown(t *testing.T, h Harness) {
	l := limit(t, 10, 10)
	for name, known := range map[string]*bucket.Row{
		"none":      nil,
		"zero":      {},
		"busy":      {Region: home, TAT: t0 + 3*second, Epoch: bucket.Epoch{Start: t0}},
		"old epoch": {Region: home, TAT: t0 + 3*second, Epoch: bucket.Epoch{Start: t0 - 5*second}},
		"idle":      {Region: home, TAT: t0 - second, Epoch: bucket.Epoch{Start: t0}},
		"too full":  {Region: home, TAT: t0 + 99*second, Epoch: bucket.Epoch{Start: t0}},
	} {
		for _, spent := range []int64{0, 4, 10} { // no row, a busy one, an empty one
			s, key := h.Open(t, home), newKey(t)
			if spent > 0 {
				charge(t, s, key, take(l, t0, spent))
			}
			c := take(l, t0, 5)
			c.Known = known
			out := charge(t, s, key, c)
			want := bucket.Charged
			if spent == 10 {
				want = bucket.Refused
			}
			if out.Status != want || out.Calls > 2 {
				t.Errorf("Known %s, %d spent: %v in %d calls, want %v in at most 2", name, spent, out.Status, out.Calls, want)
			}
			if got := rows(t, s, key)[home].Spent; want == bucket.Charged && got != spent+5 {
				t.Errorf("Known %s: %d spent, want %d", name, got, spent+5)
			}
		}
	}
}
