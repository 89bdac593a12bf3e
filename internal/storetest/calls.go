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
	const now = t0 + second // an epoch that opened at t0 is just over
	busy, idle := now+second/2, now
	for name, known := range map[string]*bucket.Row{
		"none":            nil,
		"zero":            {},
		"busy":            {Region: home, TAT: busy, Epoch: bucket.Epoch{Start: t0 + 1}},
		"busy, old epoch": {Region: home, TAT: busy, Epoch: bucket.Epoch{Start: t0}},
		"idle":            {Region: home, TAT: idle, Epoch: bucket.Epoch{Start: t0 + 1}},
		"idle, old epoch": {Region: home, TAT: idle, Epoch: bucket.Epoch{Start: t0}},
		"too full":        {Region: home, TAT: now + 99*second, Epoch: bucket.Epoch{Start: now}},
	} {
		for _, before := range [][]bucket.Charge{
			nil,                 // no row
			{take(l, t0, 1)},    // idle, an epoch that is over
			{take(l, t0, 10)},   // idle to the nanosecond, the same
			{take(l, t0+1, 1)},  // idle, an epoch that is not
			{take(l, t0+1, 10)}, // busy, the same
			{take(l, t0, 1), take(l, t0+second-1, 4)},  // busy, an epoch that is over
			{take(l, t0, 1), take(l, t0+second-1, 10)}, // too full, the same
		} {
			s, key := h.Open(t, home), newKey(t)
			row, found := bucket.Row{Region: home}, false
			for _, c := range before {
				row, found = charge(t, s, key, c).Row, true
			}
			c := take(l, now, 5)
			c.Known = known
			want, status := c.Apply(row, found)
			out := charge(t, s, key, c)
			if out.Status != status || !equalRow(out.Row, want) || out.Calls > 2 {
				t.Errorf("Known %s, row %+v: %v %+v in %d calls\nwant %v %+v in at most 2",
					name, row, out.Status, out.Row, out.Calls, status, want)
			}
		}
	}
}
