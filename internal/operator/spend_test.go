package operator

import (
	"testing"
	"time"

	"weir/pkg/bucket"
)

// spending returns the row of a Region that has spent perCharge tokens every
// period from start until end.
func spending(l bucket.Limit, region string, start, end, period, perCharge int64) bucket.Row {
	r, found := bucket.Row{Region: region}, false
	for now := start; now <= end; now += period {
		inc, _ := l.Charge(perCharge, 0)
		r, _ = bucket.Charge{Limit: l, Now: now, Tokens: perCharge, Inc: inc}.Apply(r, found)
		found = true
	}
	return r
}

func limit(t *testing.T, perSecond, burst int64) bucket.Limit {
	t.Helper()
	l, err := bucket.NewLimit(bucket.Rate{Count: perSecond, Period: time.Second}, burst)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestSpend(t *testing.T) {
	const t0 = 1_800_000_000 * second
	big := limit(t, 1000, 100_000)
	for _, tt := range []struct {
		name     string
		rows     []bucket.Row
		now      int64
		min, max int64 // tokens per 1,000 s
	}{
		{"nobody", nil, t0, 0, 0},
		{"one Region, 50 a second", []bucket.Row{spending(big, "a", t0, t0+60*second, second/10, 5)}, t0 + 60*second, 45_000, 52_000},
		{"leases, 50 a second", []bucket.Row{spending(big, "a", t0, t0+60*second, 2*second, 100)}, t0 + 60*second, 25_000, 55_000},
		{"two Regions, one seen a second late",
			[]bucket.Row{
				spending(big, "a", t0, t0+60*second, second/10, 5),
				spending(big, "b", t0, t0+59*second, second/10, 5),
			}, t0 + 60*second, 90_000, 104_000},
		{"10 a minute", []bucket.Row{spending(big, "a", t0, t0+600*second, 6*second, 1)}, t0 + 600*second, 100, 250},
		{"was busy, a minute ago", []bucket.Row{spending(big, "a", t0, t0+60*second, second/10, 5)}, t0 + 120*second, 0, 3_500},
		{"a first burst is no rate", []bucket.Row{spending(big, "a", t0, t0, second, 90)}, t0 + second/10, 30_000, 30_000},
		{"a row of another age", []bucket.Row{{Spent: 9, Born: t0, At: t0 + 10*second}}, t0 + 10*second, 900, 900},
		{"a clock that is ahead", []bucket.Row{spending(big, "a", t0, t0+60*second, second/10, 5)}, t0 + 55*second, 0, 60_000},
		{"nonsense", []bucket.Row{{Spent: -5, Born: 1 << 62, At: -1 << 62}, {Spent: 1 << 62, At: t0, Born: t0}}, t0, 0, 1 << 62},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Spend(tt.rows, tt.now); got < tt.min || got > tt.max {
				t.Errorf("Spend = %d, want %d to %d", got, tt.min, tt.max)
			}
		})
	}
}

func TestExceeds(t *testing.T) {
	l := limit(t, 50, 1)
	daily, err := bucket.NewLimit(bucket.Rate{Count: 1, Period: 24 * time.Hour}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		spend int64
		l     bucket.Limit
		want  bool
	}{
		{50_000, l, false}, {50_001, l, true}, {0, l, false},
		{1, bucket.Limit{}, true}, {0, bucket.Limit{}, false}, {1 << 62, bucket.Unlimited(), false},
		{1, daily, true}, {1 << 62, limit(t, bucket.MaxPerSecond, 1), true},
	} {
		if got := exceeds(tt.spend, tt.l); got != tt.want {
			t.Errorf("exceeds(%d, %d per %v) = %v, want %v", tt.spend, tt.l.Rate().Count, tt.l.Rate().Period, got, tt.want)
		}
	}
}
