package bucket

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"
)

func TestNewLimit(t *testing.T) {
	const day = 24 * time.Hour
	for _, tt := range []struct {
		name  string
		rate  Rate
		burst int64
		err   error
		text  string // part of the message
	}{
		{"slowest", Rate{1, day}, 1, nil, ""},
		{"fastest", Rate{MaxPerSecond, time.Second}, MaxBurst, nil, ""},
		{"fastest, by the day", Rate{MaxPerSecond * 86_400, day}, 1, nil, ""},
		{"fastest, by the millisecond", Rate{1000, time.Millisecond}, 1, nil, ""},
		{"a century deep", Rate{1, day}, 36_500, nil, ""},
		{"rate 0", Rate{}, 0, nil, ""},
		{"rate 0 with a burst", Rate{0, time.Second}, 7, nil, ""},

		{"above the fastest", Rate{MaxPerSecond + 1, time.Second}, 1, ErrRate, "at most 1000000/s"},
		{"above the fastest by a hair", Rate{MaxPerSecond*86_400 + 1, day}, 1, ErrRate, "at most 1000000/s"},
		{"count beyond 64 bits in ns", Rate{math.MaxInt64, day}, 1, ErrRate, "at most 1000000/s"},
		{"negative", Rate{-1, time.Second}, 1, ErrRate, "0 or more"},
		{"no period", Rate{1, 0}, 1, ErrRate, "24h0m0s"},
		{"negative period", Rate{1, -time.Second}, 1, ErrRate, "24h0m0s"},
		{"long period", Rate{1, day + 1}, 1, ErrRate, "24h0m0s"},

		{"no burst", Rate{1, time.Second}, 0, ErrBurst, "rate 0"},
		{"negative burst", Rate{1, time.Second}, -1, ErrBurst, "1 to 10000000"},
		{"negative burst at rate 0", Rate{}, -1, ErrBurst, "1 to 10000000"},
		{"huge burst", Rate{1, time.Second}, MaxBurst + 1, ErrBurst, "1 to 10000000"},
		{"over a century deep", Rate{1, day}, 36_501, ErrBurst, "at most 36500"},
		{"27,000 years deep", Rate{1, day}, MaxBurst, ErrBurst, "at most 36500"},
		{"over a century deep, by the hour", Rate{7, time.Hour}, MaxBurst, ErrBurst, "at most 6132000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, err := NewLimit(tt.rate, tt.burst)
			if !errors.Is(err, tt.err) {
				t.Fatalf("NewLimit error = %v, want %v", err, tt.err)
			}
			if err != nil {
				if !strings.Contains(err.Error(), tt.text) {
					t.Errorf("NewLimit error = %q, want it to say %q", err, tt.text)
				}
				if l != (Limit{}) {
					t.Errorf("NewLimit = %+v with an error, want the zero Limit", l)
				}
				return
			}
			if l.Burst() != tt.burst || l.Rate().Count != tt.rate.Count {
				t.Errorf("NewLimit = %d per %v, burst %d", l.Rate().Count, l.Rate().Period, l.Burst())
			}
		})
	}
}

// The burst that the error suggests is the largest that NewLimit accepts.
func TestNewLimitSuggestsTheLargestBurst(t *testing.T) {
	for _, r := range []Rate{{1, 24 * time.Hour}, {7, time.Hour}, {11, 13 * time.Hour}} {
		most := int64(MaxDepth) / int64(r.Period) * r.Count // a whole number of periods
		most += new(big.Int).Div(big.NewInt(int64(MaxDepth)%int64(r.Period)*r.Count), big.NewInt(int64(r.Period))).Int64()
		if _, err := NewLimit(r, most); err != nil {
			t.Errorf("burst %d: %v", most, err)
		}
		if _, err := NewLimit(r, most+1); !errors.Is(err, ErrBurst) {
			t.Errorf("burst %d: error = %v, want ErrBurst", most+1, err)
		}
	}
}

func TestDepth(t *testing.T) {
	for _, tt := range []struct {
		count  int64
		period time.Duration
		burst  int64
		want   time.Duration
	}{
		{100, time.Second, 100, time.Second}, // T is whole: no slack
		{1, 24 * time.Hour, 36_500, MaxDepth},
		{1_000_000, time.Second, MaxBurst, 10 * time.Second},
		{3, time.Second, 3, time.Second + 1000},                  // a microsecond
		{300_000, time.Second, 300_000, time.Second + 3},         // a thousandth of T
		{999_983, time.Second, 1, 1001 + 1},                      // ceil(1000.017 ns)
		{7, time.Minute, 1, 8*time.Second + 571_428_572 + 1_000}, // ceil
	} {
		if got := must(t, tt.count, tt.period, tt.burst).Depth(); got != tt.want {
			t.Errorf("%d per %v, burst %d: Depth = %d, want %d", tt.count, tt.period, tt.burst, got, tt.want)
		}
	}
}

func TestTimeAndTokens(t *testing.T) {
	third := must(t, 3, time.Second, 3)
	for _, tt := range []struct {
		name string
		got  int64
		want int64
	}{
		{"time of none", third.Time(0), 0},
		{"time of less than none", third.Time(-1), 0},
		{"time of one, rounded up", third.Time(1), 333_333_334},
		{"time of three", third.Time(3), 1e9},
		{"time beyond int64, within uint64", must(t, 1, 24*time.Hour, 1).Time(150_000), math.MaxInt64},
		{"time just beyond uint64", must(t, 1, 24*time.Hour, 1).Time(300_000), math.MaxInt64},
		{"time far beyond int64", must(t, 1, 24*time.Hour, 1).Time(math.MaxInt64), math.MaxInt64},
		{"time at rate 0", Limit{}.Time(1), math.MaxInt64},
		{"time of none at rate 0", Limit{}.Time(0), 0},
		{"time of unlimited", Unlimited().Time(5), 0},
		{"tokens in no time", third.Tokens(0), 0},
		{"tokens in less than no time", third.Tokens(-1), 0},
		{"tokens just before one", third.Tokens(333_333_333), 0},
		{"tokens in a second", third.Tokens(1e9), 3},
		{"tokens in all of time", must(t, 1_000_000, time.Second, 1).Tokens(math.MaxInt64), math.MaxInt64 / 1000},
		{"tokens at rate 0", Limit{}.Tokens(1e9), 0},
		{"tokens of unlimited", Unlimited().Tokens(1e9), 0},
	} {
		if tt.got != tt.want {
			t.Errorf("%s = %d, want %d", tt.name, tt.got, tt.want)
		}
	}
}

func TestPerSecond(t *testing.T) {
	for _, tt := range []struct {
		rate Rate
		want float64
	}{
		{Rate{}, 0}, {Rate{5, 0}, 0}, {Rate{100, time.Second}, 100}, {Rate{30, time.Minute}, 0.5},
	} {
		if got := tt.rate.PerSecond(); got != tt.want {
			t.Errorf("%v.PerSecond() = %v, want %v", tt.rate, got, tt.want)
		}
	}
}

// I5: increments add up to ceil(total*Period/Count), whatever the pieces.
func TestChargeAddsUp(t *testing.T) {
	for _, r := range awkward {
		l := must(t, r.count, r.period, r.burst)
		var total, sum, paid int64
		for i := range int64(3_000) {
			n := 1 + i*i%min(r.burst, 97)
			inc, rest := l.Charge(n, paid)
			total, sum, paid = total+n, sum+inc, rest
			if paid < 0 || paid >= r.count {
				t.Fatalf("%d per %v: remainder %d out of range", r.count, r.period, paid)
			}
			if want := l.Time(total); sum != want {
				t.Fatalf("%d per %v: %d tokens charged as %d ns, want %d", r.count, r.period, total, sum, want)
			}
			if sum > int64(MaxDepth) {
				break
			}
		}
	}
}

func TestChargeExtremes(t *testing.T) {
	third := must(t, 3, time.Second, 3)
	for _, tt := range []struct {
		name      string
		l         Limit
		n, paid   int64
		inc, rest int64
	}{
		{"none", third, 0, 2, 0, 2},
		{"less than none", third, -5, 2, 0, 2},
		{"one", third, 1, 0, 333_333_334, 2},
		{"one, two thirds paid", third, 1, 2, 333_333_333, 1},
		{"a remainder of another limit", third, 1, 3, 333_333_334, 2},
		{"a negative remainder", third, 1, -1, 333_333_334, 2},
		{"beyond int64", must(t, 1, 24*time.Hour, 1), math.MaxInt64, 0, math.MaxInt64, 0},
		{"at rate 0", Limit{}, 1, 0, math.MaxInt64, 0},
		{"unlimited", Unlimited(), 1, 0, 0, 0},
	} {
		if inc, rest := tt.l.Charge(tt.n, tt.paid); inc != tt.inc || rest != tt.rest {
			t.Errorf("%s: Charge(%d, %d) = %d, %d, want %d, %d", tt.name, tt.n, tt.paid, inc, rest, tt.inc, tt.rest)
		}
	}
}
