package bucket

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"
)

func TestParseCarry(t *testing.T) {
	for _, c := range []Carry{Proportional, AsIs, Additive, Reset} {
		if got, err := ParseCarry(c.String()); err != nil || got != c {
			t.Errorf("ParseCarry(%q) = %v, %v", c.String(), got, err)
		}
	}
	if got, err := ParseCarry(""); err != nil || got != Proportional {
		t.Errorf(`ParseCarry("") = %v, %v, want proportional`, got, err)
	}
	for _, s := range []string{"Proportional", "asis", "Carry(7)", "reset "} {
		if got, err := ParseCarry(s); err == nil {
			t.Errorf("ParseCarry(%q) = %v, want an error", s, got)
		}
	}
	if got := Carry(7).String(); got != "Carry(7)" {
		t.Errorf("Carry(7) is called %q", got)
	}
}

// What each mode makes of a bucket, in tokens used.
func TestCarry(t *testing.T) {
	small, large := must(t, 10, time.Second, 10), must(t, 20, time.Second, 40)
	hourly := must(t, 200, time.Hour, 200)
	perMinute, perSecond := must(t, 60, time.Minute, 60), must(t, 1, time.Second, 60)
	refuse := must(t, 0, time.Second, 0)
	for _, tt := range []struct {
		name                         string
		from, to                     Limit
		used                         int64 // ns ahead of now
		proportional, asIs, additive int64 // ns ahead
	}{
		{"full", small, large, 0, 0, 0, 0},
		{"a quarter used, raised", small, large, 250 * ms, 500 * ms, 1625 * ms, 125 * ms},
		{"a quarter used, cut", large, small, 500 * ms, 250 * ms, 0, 1000 * ms},
		{"three quarters used, cut", large, small, 1500 * ms, 750 * ms, 0, 3000 * ms},
		{"all but 5 used, cut", large, small, 1750 * ms, 875 * ms, 500 * ms, 3500 * ms},
		{"empty, raised", small, large, sec, 2 * sec, 2 * sec, sec / 2},
		{"2 owed, raised", small, large, 1200 * ms, 2100 * ms, 2100 * ms, 600 * ms},
		{"2 owed, cut", large, small, 2100 * ms, 1200 * ms, 1200 * ms, 4200 * ms},
		{"empty, from hours to seconds", hourly, small, 3600 * sec, sec, sec, 20 * sec},
		{"empty, from seconds to hours", small, hourly, sec, 3600 * sec, 3600 * sec, 180 * sec},
		{"the same in other words", perMinute, perSecond, 12_345_678_901, 12_345_678_901, 12_345_678_901, 12_345_678_901},
		{"the same", small, small, 123_456_789, 123_456_789, 123_456_789, 123_456_789},
		{"to rate 0", small, refuse, 700 * ms, 700 * ms, 700 * ms, 700 * ms},
		{"to unlimited", small, Unlimited(), 700 * ms, 700 * ms, 700 * ms, 700 * ms},
		{"from rate 0", refuse, small, 700 * ms, 700 * ms, 700 * ms, 700 * ms},
		{"from rate 0, after hours", refuse, small, 3600 * sec, sec, sec, sec},
		{"from unlimited", Unlimited(), small, 3600 * sec, sec, sec, sec},
		{"from what is not known", Limit{}, small, 3600 * sec, 3600 * sec, 3600 * sec, 3600 * sec},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for c, want := range map[Carry]int64{Proportional: tt.proportional, AsIs: tt.asIs, Additive: tt.additive} {
				if got := c.TAT(t0+tt.used, t0, tt.from, tt.to); got != t0+want {
					t.Errorf("%v: %v ahead, want %v", c, time.Duration(got-t0), time.Duration(want))
				}
			}
			want := t0
			if tt.from == tt.to || !tt.from.known() {
				want += tt.used
			}
			if got := Reset.TAT(t0+tt.used, t0, tt.from, tt.to); got != want {
				t.Errorf("reset: %v ahead, want %v", time.Duration(got-t0), time.Duration(want-t0))
			}
			if got := Proportional.TAT(t0-5, t0, tt.from, tt.to); got != t0-5 {
				t.Errorf("idle: %d ahead, want it as it was", got-t0)
			}
		})
	}
}

// A TAT beyond what int64 holds becomes the last one, not the first.
func TestCarrySaturates(t *testing.T) {
	fast, slow := must(t, MaxPerSecond, time.Second, 1), must(t, 1, 24*time.Hour, 36_500)
	for _, c := range []Carry{Proportional, AsIs, Additive} {
		for _, now := range []int64{0, t0} {
			if got := c.TAT(math.MaxInt64, now, fast, slow); got != math.MaxInt64 {
				t.Errorf("%v at %d: TAT = %d, want the last one", c, now, got)
			}
		}
	}
}

// carried is what Carry.TAT is, as its documentation has it and in rational
// numbers: ns ahead of now.
func carried(c Carry, used int64, from, to Limit) *big.Rat {
	period := func(l Limit) *big.Rat { return big.NewRat(int64(l.rate.Period), l.rate.Count) }
	b1, b2 := big.NewRat(from.burst, 1), big.NewRat(to.burst, 1)
	u := new(big.Rat).Quo(big.NewRat(used, 1), period(from))
	v := new(big.Rat).Set(u)
	switch debt := new(big.Rat).Sub(u, b1); {
	case c == AsIs, c == Proportional && debt.Sign() > 0:
		if v.Add(b2, debt); v.Sign() < 0 {
			v.SetInt64(0)
		}
	case c == Proportional:
		v.Mul(u, b2).Quo(v, b1)
	}
	return v.Mul(v, period(to))
}

// I15: on random limits, from one token a day to a million a second, the level is
// kept by its mode, rounded up to a nanosecond; more used before is not less used
// after; and back is where it was, but for that nanosecond.
func TestCarryKeepsTheLevel(t *testing.T) {
	for seed := range uint64(20_000) {
		checkCarry(t, rand.New(rand.NewPCG(seed, 15)))
	}
}

func checkCarry(t *testing.T, rnd *rand.Rand) {
	t.Helper()
	from, to := randomLimit(rnd), randomLimit(rnd)
	used := 1 + rnd.Int64N(from.tau)
	switch rnd.IntN(4) {
	case 0:
		used = from.full
	case 1:
		used = 1 + rnd.Int64N(int64(1)<<(1+rnd.IntN(62)))
	}
	for _, c := range []Carry{Proportional, AsIs, Additive} {
		want := carried(c, used, from, to)
		got := c.TAT(t0+used, t0, from, to) - t0
		if got == math.MaxInt64-t0 {
			if want.Cmp(big.NewRat(math.MaxInt64-t0, 1)) < 0 {
				t.Fatalf("%v of %d ns, %+v to %+v: saturated, want %v", c, used, from, to, want.FloatString(3))
			}
			continue
		}
		over := new(big.Rat).Sub(big.NewRat(got, 1), want)
		// What counts as slack before is forgiven after: less than a thousandth of a token.
		least := new(big.Rat).Neg(carried(Additive, from.slack, from, to))
		if over.Cmp(big.NewRat(1, 1)) >= 0 || over.Cmp(least) < 0 || c != Proportional && over.Sign() < 0 {
			t.Fatalf("%v of %d ns, %+v to %+v: %d, want %v", c, used, from, to, got, want.FloatString(3))
		}
		if used < from.full && over.Sign() < 0 {
			t.Fatalf("%v of %d ns, %+v to %+v: %d, want at least %v", c, used, from, to, got, want.FloatString(3))
		}
		if more := c.TAT(t0+used+1, t0, from, to) - t0; more < got {
			t.Fatalf("%v, %+v to %+v: %d ns become %d, one more %d", c, from, to, used, got, more)
		}
		checkRoundTrip(t, c, used, got, from, to)
	}
}

// checkRoundTrip fails unless from and back is where it was, within what a
// nanosecond of to is in from.
func checkRoundTrip(t *testing.T, c Carry, used, there int64, from, to Limit) {
	t.Helper()
	if c == AsIs && (there == 0 || from.burst > to.burst) || used > from.full {
		return // as-is gives nothing back that a smaller burst has cut off
	}
	back := c.TAT(t0+there, t0, to, from) - t0
	step := new(big.Rat).Add(carried(c, 1, to, from), big.NewRat(1, 1))
	if c == AsIs {
		step = new(big.Rat).Add(carried(Additive, 1, to, from), big.NewRat(1, 1))
	}
	if d := big.NewRat(back-used, 1); d.Sign() < 0 || d.Cmp(step) > 0 {
		t.Fatalf("%v, %+v to %+v and back: %d ns become %d, at most %v more is rounding", c, from, to, used, back, step.FloatString(3))
	}
}

// randomLimit returns a limit of any rate and burst.
func randomLimit(rnd *rand.Rand) Limit {
	for {
		r := Rate{1 + rnd.Int64N(int64(1)<<(1+rnd.IntN(36))), time.Duration(1 + rnd.Int64N(int64(MaxPeriod)))}
		if rnd.IntN(2) == 0 {
			r.Period = []time.Duration{time.Second, time.Minute, time.Hour, 24 * time.Hour}[rnd.IntN(4)]
		}
		if l, err := NewLimit(r, 1+rnd.Int64N(int64(1)<<(1+rnd.IntN(23)))); err == nil {
			return l
		}
	}
}
