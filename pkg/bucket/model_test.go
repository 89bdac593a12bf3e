package bucket

import (
	"math/big"
	"testing"
	"time"
)

// model is a token bucket as the textbook has it, in rational numbers: tokens
// that refill at rate R up to B. It shares no formula with the package.
type model struct {
	rate   *big.Rat // tokens per ns
	burst  *big.Rat
	tokens *big.Rat
	last   int64 // when tokens was true
}

func newModel(r Rate, burst int64) *model {
	return &model{
		rate:   big.NewRat(r.Count, int64(r.Period)),
		burst:  big.NewRat(burst, 1),
		tokens: big.NewRat(burst, 1),
	}
}

// at returns the tokens at now; before last they are fewer, as if time ran back.
func (m *model) at(now int64) *big.Rat {
	t := new(big.Rat).SetInt64(now - m.last)
	t.Mul(t, m.rate).Add(t, m.tokens)
	if t.Cmp(m.burst) > 0 {
		t.Set(m.burst)
	}
	return t
}

func (m *model) take(now, n int64) bool {
	left := m.at(now)
	left.Sub(left, big.NewRat(n, 1))
	if left.Sign() < 0 {
		return false
	}
	if n > 0 {
		m.tokens, m.last = left, now
	}
	return true
}

// remaining returns the whole tokens at now, at least 0.
func (m *model) remaining(now int64) int64 {
	t := m.at(now)
	if t.Sign() < 0 {
		return 0
	}
	return new(big.Int).Quo(t.Num(), t.Denom()).Int64()
}

// wait returns the ns after now until n tokens are there.
func (m *model) wait(now, n int64) time.Duration {
	lack := new(big.Rat).Sub(big.NewRat(n, 1), m.at(now))
	if lack.Sign() <= 0 {
		return 0
	}
	if big.NewRat(n, 1).Cmp(m.burst) > 0 {
		return Never
	}
	lack.Quo(lack, m.rate)
	q, r := new(big.Int).QuoRem(lack.Num(), lack.Denom(), new(big.Int))
	if r.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return time.Duration(q.Int64())
}

// admission is a take that was allowed.
type admission struct{ at, n int64 }

// checkBound fails if between any two admissions, both included, more was
// admitted than B + R*(t + slop): t is the time between them, negative if the
// clock was set back.
func checkBound(t *testing.T, r Rate, burst int64, admitted []admission, slop int64) {
	t.Helper()
	for i := range admitted {
		sum := int64(0)
		for _, a := range admitted[i:] {
			sum += a.n
			// sum*P <= B*P + C*(t+slop)
			lhs := new(big.Int).Mul(big.NewInt(sum-burst), big.NewInt(int64(r.Period)))
			rhs := new(big.Int).Mul(big.NewInt(r.Count), big.NewInt(a.at-admitted[i].at+slop))
			if lhs.Cmp(rhs) > 0 {
				t.Fatalf("%d tokens admitted within %v, at %d per %v and burst %d",
					sum, time.Duration(a.at-admitted[i].at), r.Count, r.Period, burst)
			}
		}
	}
}

// must returns the limit, or fails.
func must(t testing.TB, count int64, period time.Duration, burst int64) Limit {
	t.Helper()
	l, err := NewLimit(Rate{count, period}, burst)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// t0 is where the tests' clocks start: 2023, an odd number of ns.
const t0 = int64(1_700_000_000_123_456_789)
