package bucket

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

const ms = int64(time.Millisecond)

// A script of takes: when, how many, and what comes of it. A refusal changes
// nothing (I2).
func TestTake(t *testing.T) {
	type step struct {
		at        int64 // ns after t0
		n         int64
		allowed   bool
		remaining int64
		wait      time.Duration
		full      time.Duration
	}
	for _, tt := range []struct {
		name  string
		limit Limit
		steps []step
	}{
		{"10/s, burst 3", must(t, 10, time.Second, 3), []step{
			{0, 0, true, 3, 0, 0},
			{0, 1, true, 2, 0, 100 * time.Millisecond},
			{0, 2, true, 0, 0, 300 * time.Millisecond},
			{0, 1, false, 0, 100 * time.Millisecond, 300 * time.Millisecond},
			{0, 3, false, 0, 300 * time.Millisecond, 300 * time.Millisecond},
			{0, 4, false, 0, Never, 300 * time.Millisecond},
			{0, 0, true, 0, 0, 300 * time.Millisecond},
			{100*ms - 1, 1, false, 0, 1, 200*time.Millisecond + 1},
			{100 * ms, 1, true, 0, 0, 300 * time.Millisecond},
			{100 * ms, 1, false, 0, 100 * time.Millisecond, 300 * time.Millisecond},
			{250 * ms, 1, true, 0, 0, 250 * time.Millisecond},
			{300 * ms, 1, true, 0, 0, 300 * time.Millisecond},
			{10_000 * ms, -4, true, 3, 0, 0},
			{10_000 * ms, 3, true, 0, 0, 300 * time.Millisecond},
		}},
		{"3/s, burst 3: thirds of a ns", must(t, 3, time.Second, 3), []step{
			{0, 1, true, 2, 0, 333_333_334},
			{0, 1, true, 1, 0, 666_666_668},
			{0, 1, true, 0, 0, 1_000_000_002},
			{0, 1, false, 0, 333_332_336, 1_000_000_002}, // the slack is 1 us
		}},
		{"7/m, burst 7, at once", must(t, 7, time.Minute, 7), []step{
			{0, 7, true, 0, 0, time.Minute},
			{0, 1, false, 0, 8_571_427_572, time.Minute},
		}},
		{"1/d, burst 1", must(t, 1, 24*time.Hour, 1), []step{
			{0, 1, true, 0, 0, 24 * time.Hour},
			{0, 1, false, 0, 24 * time.Hour, 24 * time.Hour},
			{86_400_000 * ms, 1, true, 0, 0, 24 * time.Hour},
		}},
		{"1,000,000/s, burst 10,000,000", must(t, MaxPerSecond, time.Second, MaxBurst), []step{
			{0, MaxBurst, true, 0, 0, 10 * time.Second},
			{0, 1, false, 0, time.Microsecond, 10 * time.Second},
			{ms, 1000, true, 0, 0, 10 * time.Second},
		}},
		{"rate 0", Limit{}, []step{
			{0, 1, false, 0, Never, 0},
			{0, 0, false, 0, Never, 0},
		}},
		{"unlimited", Unlimited(), []step{
			{0, math.MaxInt64, true, math.MaxInt64, 0, 0},
			{0, 0, true, math.MaxInt64, 0, 0},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tat, exact := int64(0), Bucket{}
			for i, s := range tt.steps {
				want := Decision{s.allowed, s.remaining, s.wait, s.full}
				next, got := tt.limit.Take(tat, t0+s.at, s.n)
				if got != want {
					t.Errorf("step %d: Take = %+v, want %+v", i, got, want)
				}
				if !got.Allowed && next != tat { // I2
					t.Errorf("step %d: a refusal moved the TAT by %d", i, next-tat)
				}
				b, d := exact.Take(tt.limit, t0+s.at, s.n)
				if d.Allowed != s.allowed || d.Remaining != s.remaining {
					t.Errorf("step %d: Bucket.Take = %+v, want %+v", i, d, want)
				}
				tat, exact = next, b
			}
		})
	}
}

// A remainder of another limit counts as none.
func TestBucketForeignRemainder(t *testing.T) {
	l := must(t, 3, time.Second, 3)
	for _, paid := range []int64{-1, 3, math.MaxInt64} {
		want := Bucket{TAT: t0 + 500*ms}.Remaining(l, t0)
		got, d := Bucket{TAT: t0 + 500*ms, Paid: paid}.Take(l, t0, 1)
		if !d.Allowed || d.Remaining != want-1 || got != (Bucket{t0 + 833_333_334, 2}) {
			t.Errorf("paid %d: Take = %+v, %+v", paid, got, d)
		}
		if got := (Bucket{TAT: t0 + 333_333_334, Paid: paid}).Remaining(l, t0); got != 1 {
			t.Errorf("paid %d: Remaining = %d, want 1", paid, got)
		}
	}
}

// Overdrawn buckets come from folds and from plans made smaller.
func TestOverdrawn(t *testing.T) {
	l := must(t, 10, time.Second, 10)
	tat := t0 + 3*int64(time.Second) // 30 tokens missing of 10
	next, d := l.Take(tat, t0, 0)
	want := Decision{Wait: 2 * time.Second, Full: 3 * time.Second}
	if d != want || next != tat {
		t.Errorf("Take(0) = %+v, want %+v", d, want)
	}
	if got := l.Level(tat, t0); got != 30 {
		t.Errorf("Level = %d, want 30", got)
	}
	if _, d := (Bucket{TAT: tat}).Take(l, t0, 0); d != want {
		t.Errorf("Bucket.Take(0) = %+v, want %+v", d, want)
	}
}

func TestLevel(t *testing.T) {
	third := must(t, 3, time.Second, 3)
	for _, tt := range []struct {
		name string
		got  int64
		want int64
	}{
		{"full", third.Level(0, t0), 0},
		{"one taken, rounded up", third.Level(t0+333_333_334, t0), 1},
		{"a little more", third.Level(t0+333_333_334+2*int64(maxSlack), t0), 2},
		{"rate 0", Limit{}.Level(t0+1, t0), 0},
		{"unlimited", Unlimited().Level(t0+1, t0), 0},
		{"the end of time", must(t, MaxPerSecond, time.Second, 1).Level(math.MaxInt64, math.MinInt64), math.MaxInt64/1000 + 1},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: Level = %d, want %d", tt.name, tt.got, tt.want)
		}
	}
}

// Nothing overflows, whatever TAT a row holds: a far one refuses, and says so.
func TestTakeExtremes(t *testing.T) {
	for _, r := range awkward {
		l := must(t, r.count, r.period, r.burst)
		for _, tat := range []int64{math.MinInt64, -1, 0, math.MaxInt64} {
			_, d := l.Take(tat, t0, 1)
			_, e := Bucket{tat, -1}.Take(l, t0, 1)
			want := tat <= 0
			if d.Allowed != want || e.Allowed != want {
				t.Errorf("%d per %v, TAT %d: allowed %v and %v, want %v", r.count, r.period, tat, d.Allowed, e.Allowed, want)
			}
			if d.Wait < 0 || d.Full < 0 || d.Remaining < 0 || e.Wait < 0 || e.Full < 0 || e.Remaining < 0 {
				t.Errorf("%d per %v, TAT %d: negative in %+v or %+v", r.count, r.period, tat, d, e)
			}
			if want == (d.Wait > 0) {
				t.Errorf("%d per %v, TAT %d: allowed %v and wait %v", r.count, r.period, tat, want, d.Wait)
			}
		}
	}
}

// I1 to I4 for a TAT alone: the bound holds to 1 us and a thousandth of a token.
func TestTakeProperties(t *testing.T) {
	for _, r := range awkward {
		l := must(t, r.count, r.period, r.burst)
		rnd := rand.New(rand.NewPCG(2, uint64(r.count)))
		now, tat, admitted := t0, int64(0), []admission(nil)
		for i := range 1000 {
			n := rnd.Int64N(min(r.burst, 5) + 1)
			if i%50 == 0 {
				n = r.burst
			}
			now += rnd.Int64N(l.Time(4)+1) - l.Time(1)
			next, d := l.Take(tat, now, n)
			if d.Allowed {
				if n > 0 {
					admitted = append(admitted, admission{now, n})
				}
				tat = next
				continue
			}
			if next != tat {
				t.Fatalf("a refusal moved the TAT by %d", next-tat)
			}
			if _, d := l.Take(tat, now+int64(d.Wait)-1, n); d.Allowed {
				t.Fatal("allowed 1 ns before Wait")
			}
			if _, d := l.Take(tat, now+int64(d.Wait), n); !d.Allowed {
				t.Fatal("refused after Wait")
			}
		}
		if len(admitted) < 100 {
			t.Errorf("%d per %v: only %d admitted", r.count, r.period, len(admitted))
		}
		checkBound(t, Rate{r.count, r.period}, r.burst, admitted, l.slack+1)
	}
}
