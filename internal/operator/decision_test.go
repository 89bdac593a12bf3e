package operator

import (
	"strings"
	"testing"

	"weir/pkg/bucket"
)

func TestDecide(t *testing.T) {
	for _, tt := range []struct {
		limit     string
		used      int64 // tokens
		want      Outcome
		wait      float64
		remaining int64
		why       string
	}{
		{"rate: 10/s", 0, Passes, 0, 9, "9 of 10 tokens are left"},
		{"rate: 10/s", 10, Refused, 0.1, 0, "there will be enough in 100ms"},
		{"{rate: 10/s, cost: 5}", 8, Refused, 0.3, 2, "has 2 of the 5 tokens it costs"},
		{"{rate: 10/s, hold: 250ms}", 10, Held, 0.1, 0, "held for 250ms"},
		{"{rate: 10/s, hold: 50ms}", 10, Refused, 0.1, 0, "100ms"},
		{"{rate: 10/s, mode: shadow}", 10, Passes, 0.1, 0, "in shadow"},
		{"{rate: 10/s, mode: off}", 10, Passes, 0, -1, "off"},
		{"rate: unlimited", 0, Passes, 0, -1, "unlimited"},
		{"rate: 0/s", 0, Refused, -1, 0, "the rate is 0"},
		{"{rate: 10/s, cost: 0}", 10, Passes, 0, 0, "0 of 10"},
	} {
		l := &planOf(t, tt.limit).Limits[0]
		d := decide(l, l.Bucket, t0+l.Bucket.Time(tt.used), t0)
		if d.Outcome != tt.want || d.Wait != tt.wait || d.Remaining != tt.remaining || !strings.Contains(d.Why, tt.why) {
			t.Errorf("%s, %d used: %+v; want %s, wait %v, %d left, %q", tt.limit, tt.used, d, tt.want, tt.wait, tt.remaining, tt.why)
		}
	}
}

func TestDecideOfACostThatNeverFits(t *testing.T) {
	l := planOf(t, "{rate: 10/s, cost: 5}").Limits[0]
	small, err := bucket.NewLimit(l.Bucket.Rate(), 4) // as an override may have it
	if err != nil {
		t.Fatal(err)
	}
	if d := decide(&l, small, t0, t0); d.Outcome != Refused || d.Wait != -1 || !strings.Contains(d.Why, "costs 5 tokens, and the bucket holds 4") {
		t.Errorf("%+v", d)
	}
}

// TestWorse: the answer is that of the limit that refuses for longest, or of the
// one with the least left.
func TestWorse(t *testing.T) {
	inOrder := []Decision{
		{Outcome: Refused, wait: 2}, {Outcome: Refused, wait: 1}, {Outcome: Held, wait: 9}, {Outcome: Held, wait: 8},
		{Outcome: Passes, Remaining: 0}, {Outcome: Passes, Remaining: 7}, {Outcome: Passes, Remaining: -1},
	}
	for i, a := range inOrder {
		for j, b := range inOrder {
			if i != j && a.worse(b) != (i < j) {
				t.Errorf("%+v worse than %+v: %v", a, b, a.worse(b))
			}
		}
	}
}
