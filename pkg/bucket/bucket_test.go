package bucket

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// awkward rates: few of them divide into whole nanoseconds.
var awkward = []struct {
	count  int64
	period time.Duration
	burst  int64
}{
	{3, time.Second, 3},
	{7, time.Minute, 7},
	{1, 24 * time.Hour, 1},
	{1, 24 * time.Hour, 36_500},
	{300_000, time.Second, 300_000},
	{999_983, time.Second, 10},
	{999_983, time.Second, MaxBurst},
	{1_000_000, time.Second, 1},
	{100, time.Second, 100},
	{1_000, 3 * time.Microsecond * 1000, 17},
}

// latest is how far the scripts' clocks go: a century later, now + tau still
// fits.
const latest = t0 + int64(MaxDepth)/2

// run plays a script against Bucket and the model and fails at the first
// difference. It returns what was admitted.
func run(t *testing.T, r Rate, burst int64, script []admission) []admission {
	t.Helper()
	l := must(t, r.Count, r.Period, burst)
	m, b := newModel(r, burst), Bucket{}
	var admitted []admission
	for i, s := range script {
		want := m.wait(s.at, s.n)
		if got := b.Wait(l, s.at, s.n); got != want {
			t.Fatalf("step %d: Wait(%d) = %v, want %v", i, s.n, got, want)
		}
		next, d := b.Take(l, s.at, s.n)
		if ok := m.take(s.at, s.n); d.Allowed != ok {
			t.Fatalf("step %d: Take(%d) = %v, want %v", i, s.n, d.Allowed, ok)
		}
		if got, want := d.Remaining, m.remaining(s.at); got != want {
			t.Fatalf("step %d: Remaining after Take(%d) = %d, want %d", i, s.n, got, want)
		}
		if !d.Allowed {
			if next != b { // I2
				t.Fatalf("step %d: a refusal changed %+v to %+v", i, b, next)
			}
			if d.Wait != want {
				t.Fatalf("step %d: Decision.Wait = %v, want %v", i, d.Wait, want)
			}
			if want == Never {
				continue
			}
			// I4: 1 ns earlier it is still refused, then it is allowed.
			if _, d := b.Take(l, s.at+int64(want)-1, s.n); d.Allowed {
				t.Fatalf("step %d: Take(%d) allowed 1 ns before Wait", i, s.n)
			}
			if _, d := b.Take(l, s.at+int64(want), s.n); !d.Allowed {
				t.Fatalf("step %d: Take(%d) refused after Wait", i, s.n)
			}
			continue
		}
		if s.n > 0 {
			admitted = append(admitted, s)
		}
		b = next
	}
	return admitted
}

// I1 to I4, on random scripts around the edge of full and empty, with a clock
// that steps back now and then.
func TestBucketIsRational(t *testing.T) {
	for _, r := range awkward {
		rate := Rate{r.count, r.period}
		l := must(t, r.count, r.period, r.burst)
		rnd := rand.New(rand.NewPCG(1, uint64(r.count)))
		now, script := t0, []admission(nil)
		for range 400 {
			n := rnd.Int64N(min(r.burst, 4) + 2)
			switch rnd.IntN(8) {
			case 0:
				n = rnd.Int64N(r.burst + 2)
			case 1:
				now += rnd.Int64N(min(l.full, max(0, latest-now)) + 1)
			case 2:
				now -= rnd.Int64N(l.Time(2))
			}
			now += rnd.Int64N(l.Time(2) + 1)
			script = append(script, admission{now, n})
		}
		admitted := run(t, rate, r.burst, script)
		if len(admitted) < 20 || len(admitted) == len(script) {
			t.Errorf("%v: %d of %d admitted: the script tests little", rate, len(admitted), len(script))
		}
		checkBound(t, rate, r.burst, admitted, 0)
	}
}

// I3: whatever the clock does, what is admitted between two takes is bounded by
// the signed time between them; and a full turn back leaves the bucket as empty.
func TestClockBackwardsMintsNothing(t *testing.T) {
	l := must(t, 10, time.Second, 10)
	b, d := Bucket{}.Take(l, t0, 10)
	if !d.Allowed {
		t.Fatal("a full bucket refused its burst")
	}
	for _, back := range []int64{0, 1, 1e6, 1e9, 3600e9, t0} {
		next, d := b.Take(l, t0-back, 1)
		if d.Allowed || next != b {
			t.Errorf("%v back: Take = %+v, %+v, want a refusal", time.Duration(back), next, d)
		}
		if want := time.Duration(back) + 100*time.Millisecond; d.Wait != want {
			t.Errorf("%v back: Wait = %v, want %v", time.Duration(back), d.Wait, want)
		}
	}
	if _, d := b.Take(l, t0+1e8, 1); !d.Allowed {
		t.Error("a token was lost by looking from the past")
	}
}

// I5: saturated, one token at a time, at the exact moment it is due.
func TestLongRunRate(t *testing.T) {
	for _, r := range awkward {
		l := must(t, r.count, r.period, r.burst)
		b, _ := Bucket{}.Take(l, t0, r.burst)
		now, n := t0, int64(0)
		for n < 50_000 {
			next, d := b.Take(l, now, 1)
			if d.Allowed {
				b = next
				n++
				continue
			}
			now += int64(d.Wait)
		}
		ideal := float64(now-t0) / float64(r.period) * float64(r.count)
		if got := float64(n) / ideal; math.Abs(got-1) > 1e-6 {
			t.Errorf("%d per %v: %d admitted, %.9f of the ideal", r.count, r.period, n, got)
		}
	}
}

// I6: a burst may be taken in any pieces.
func TestBurstIsWhole(t *testing.T) {
	for _, r := range awkward {
		if r.burst > 300_000 {
			continue
		}
		l := must(t, r.count, r.period, r.burst)
		b := Bucket{}
		for i := range r.burst {
			next, d := b.Take(l, t0, 1)
			if want := r.burst - i - 1; !d.Allowed || d.Remaining != want {
				t.Fatalf("%d per %v: token %d of %d: %+v, want %d left", r.count, r.period, i+1, r.burst, d, want)
			}
			b = next
		}
		if _, d := b.Take(l, t0, 1); d.Allowed {
			t.Errorf("%d per %v: more than the burst of %d", r.count, r.period, r.burst)
		}
	}
}

// I1 to I4 on scripts that the fuzzer finds.
func FuzzBucket(f *testing.F) {
	f.Add(int64(3), int64(time.Second), int64(3), []byte{0, 1, 0, 1, 9, 2, 200, 3})
	f.Add(int64(7), int64(time.Minute), int64(7), []byte{255, 7, 1, 1, 1, 1, 128, 0})
	f.Add(int64(999_983), int64(time.Second), int64(MaxBurst), []byte("saturate"))
	f.Add(int64(1), int64(24*time.Hour), int64(36_500), []byte("a day a token"))
	f.Fuzz(func(t *testing.T, count, period, burst int64, script []byte) {
		r := Rate{count, time.Duration(period)}
		l, err := NewLimit(r, burst)
		if err != nil || l.IsZero() || len(script) > 400 {
			t.Skip()
		}
		// Two bytes a step: how far the clock moves, in 64ths of a token with
		// the top values going back or far ahead, and how much is taken.
		now, steps := t0, []admission(nil)
		for i := 0; i+1 < len(script); i += 2 {
			dt, n := int64(script[i]), int64(script[i+1]%8)
			switch {
			case dt >= 250:
				now += min(l.full/256*(dt-249), max(0, latest-now)) + dt
			case dt >= 230:
				now -= l.Time(1) / 8 * (dt - 229)
			default:
				now += l.Time(1)*dt/64 + dt%3
			}
			if script[i+1] >= 200 {
				n = burst / 56 * int64(script[i+1]-199)
			}
			steps = append(steps, admission{now, n})
		}
		checkBound(t, r, burst, run(t, r, burst, steps), 0)
	})
}
