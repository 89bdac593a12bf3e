package bucket

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// I13: the figures of the prototype that this rule was chosen by, R = B = 100,
// two minutes each. It took the highest of three seeds.
func TestRegionsReproduceThePrototype(t *testing.T) {
	l := must(t, 100, time.Second, 100)
	for _, tt := range []struct {
		name         string
		weights      []float64
		load         float64
		lag          time.Duration
		ratio, worst float64
	}{
		{"2 even, 0.9R", []float64{1, 1}, 0.9, time.Second, 1, 0.88},
		{"2 even, 3R", []float64{1, 1}, 3, time.Second, 1.005, 1.04},
		{"3 even, 1.5R", []float64{1, 1, 1}, 1.5, 2 * time.Second, 1.005, 1.06},
		{"3 even, 3R, lag 0.3 s", []float64{1, 1, 1}, 3, 300 * time.Millisecond, 1.001, 1.03},
		{"3 even, 3R", []float64{1, 1, 1}, 3, time.Second, 1.006, 1.06},
		{"3 even, 3R, lag 4 s", []float64{1, 1, 1}, 3, 4 * time.Second, 1.008, 1.38},
		{"80/15/5, 3R", []float64{80, 15, 5}, 3, time.Second, 1.003, 1.04},
		{"5 even, 3R", []float64{1, 1, 1, 1, 1}, 3, time.Second, 1.012, 1.07},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newWorld(t, l, len(tt.weights), tt.lag, 1).play(poisson(l, tt.weights, tt.load, 2*time.Minute, 1))
			if math.Abs(r.ratio-tt.ratio) > 0.02 || math.Abs(r.worst-tt.worst) > 0.08 {
				t.Errorf("admitted %.3f of the ideal, worst 10 s %.2f, want %.3f and %.2f", r.ratio, r.worst, tt.ratio, tt.worst)
			}
			if tt.load < 1 && r.refused > 0 {
				t.Errorf("%d refused below the limit", r.refused)
			}
		})
	}
}

// I8: while one Region is active its row is a plain bucket, and what the others
// see is that bucket.
func TestOneActiveRegionIsAPlainBucket(t *testing.T) {
	for _, r := range awkward {
		l := must(t, r.count, r.period, r.burst)
		w := newWorld(t, l, 3, 0, 1)
		rnd := rand.New(rand.NewPCG(8, uint64(r.count)))
		plain, found, now := Row{Region: "b"}, false, t0
		p, admitted := charger{l: l}, 0
		for range 2_000 {
			now += rnd.Int64N(l.Time(2) + 1)
			var s Status
			next, s := p.charge(plain, found, now, 1)
			if s == Charged {
				plain, found = next, true
				admitted++
			}
			if ok := w.request(1, now); ok != (s == Charged) {
				t.Fatalf("%d per %v: admitted %v, want %v", r.count, r.period, ok, s == Charged)
			}
			if w.rows[1].TAT != plain.TAT || w.rows[1].Fold != 0 {
				t.Fatalf("%d per %v: TAT %d after %d folds, want %d after none", r.count, r.period, w.rows[1].TAT, w.rows[1].Fold, plain.TAT)
			}
			if g := Merge(l, w.rows[0], w.peers(0, now), now, w.grace); g.TAT != max(now, plain.TAT) {
				t.Fatalf("%d per %v: seen from elsewhere as %d, want %d", r.count, r.period, g.TAT, plain.TAT)
			}
		}
		if admitted < 500 {
			t.Errorf("%d per %v: only %d admitted", r.count, r.period, admitted)
		}
	}
}

// I8: with replication that takes no time, many Regions are one plain bucket.
//
// I13 too: nothing is hidden, so nothing is admitted beyond the bound.
func TestInstantReplicationIsOneBucket(t *testing.T) {
	l := must(t, 100, time.Second, 100)
	w := newWorld(t, l, 4, 0, 1)
	tat, refused := int64(0), 0
	for i, a := range poisson(l, []float64{1, 5, 1, 9}, 1.2, time.Minute, 1) {
		next, d := l.Take(tat, a.at, 1)
		if got := w.request(a.region, a.at); got != d.Allowed {
			t.Fatalf("request %d: admitted %v, want %v", i, got, d.Allowed)
		}
		if tat = next; d.Allowed && w.rows[a.region].TAT != tat {
			t.Fatalf("request %d: TAT %d, want %d", i, w.rows[a.region].TAT, tat)
		}
		if !d.Allowed {
			refused++
		}
	}
	if refused < 500 {
		t.Errorf("only %d refused", refused)
	}
}

// A Region that was silent for three hours, while the others went on, is neither
// starved nor lets a flood through when it is back; nor do the others.
func TestSilentRegionReturns(t *testing.T) {
	l := must(t, 100, time.Second, 100)
	const away = 3 * time.Hour
	for _, tt := range []struct {
		load     float64 // of each of three Regions before and after
		lo, hi   float64
		falsely  int
		calmLoad float64 // of the two that stay
	}{
		{0.3, 1, 1, 0, 0.02},
		{1, 0.98, 1.03, math.MaxInt, 0.02},
	} {
		as := poisson(l, []float64{1, 1, 1}, 3*tt.load, 20*time.Second, 1)
		for _, a := range poisson(l, []float64{1, 1}, tt.calmLoad, away, 2) {
			as = append(as, arrival{a.at + 20*sec, a.region})
		}
		for _, a := range poisson(l, []float64{1, 1, 1}, 3*tt.load, time.Minute, 3) {
			as = append(as, arrival{a.at + 20*sec + int64(away), a.region})
		}
		r := newWorld(t, l, 3, time.Second, 1).play(as)
		if r.ratio < tt.lo || r.ratio > tt.hi || r.refused > tt.falsely || r.worst > 1.1 {
			t.Errorf("load 3 x %.1fR: %.3f of the ideal, worst 10 s %.2f, %d falsely refused", tt.load, r.ratio, r.worst, r.refused)
		}
	}
}

// A Region whose clock is off neither starves the others nor itself below the
// limit, and at saturation costs shares, not the limit. Worst is what lag hides.
func TestClockSkew(t *testing.T) {
	l := must(t, 100, time.Second, 100)
	for _, tt := range []struct {
		skew      time.Duration
		saturated float64 // at most, of the ideal
	}{
		{-10 * time.Second, 1.05}, {-3 * time.Second, 1.05}, {-time.Second, 1.15},
		{250 * time.Millisecond, 1.05}, {time.Second, 1.15}, {3 * time.Second, 1.05}, {10 * time.Second, 1.05},
	} {
		for _, load := range []float64{0.9, 3} {
			w := newWorld(t, l, 3, time.Second, 1)
			w.grace = DefaultGrace
			w.skew[0], w.skewed = int64(tt.skew), true
			r := w.play(poisson(l, []float64{1, 1, 1}, load, 45*time.Second, 1))
			if lo, hi := 0.99, tt.saturated; load < 1 && r.ratio != 1 || r.ratio < lo || r.ratio > hi {
				t.Errorf("%v off, %.1fR: %.3f of the ideal, want %.2f to %.2f, below R all of it", tt.skew, load, r.ratio, lo, hi)
			}
		}
	}
}

// A cut between all Regions refuses nothing falsely below the limit, to speak of:
// neither where all is made up for, nor where some is forgiven.
func TestCutBelowTheLimit(t *testing.T) {
	l := must(t, 100, time.Second, 100)
	for _, cut := range []time.Duration{3 * time.Second, 4 * time.Second, 6 * time.Second, 15 * time.Second} {
		for seed := range uint64(6) {
			w := newWorld(t, l, 3, time.Second, seed)
			w.cut = [2]int64{t0 + 20*sec, t0 + 20*sec + int64(cut)}
			as := poisson(l, []float64{1, 1, 1}, 0.9, 2*time.Minute, seed)
			if r := w.play(as); 1000*r.refused > 3*len(as) {
				t.Errorf("cut of %v, seed %d: %d of %d falsely refused, want at most 0.3%%", cut, seed, r.refused, len(as))
			}
		}
	}
}

// A saturated tenant is back at its limit once a cut is over: what is longer ago
// than grace is forgiven, not made up for by serving nobody.
func TestSaturatedCut(t *testing.T) {
	l := must(t, 100, time.Second, 100)
	for _, cut := range []time.Duration{3 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute} {
		for seed := range uint64(2) {
			w := newWorld(t, l, 3, time.Second, seed)
			end := 20*time.Second + cut
			w.cut = [2]int64{t0 + 20*sec, t0 + int64(end)}
			r := w.play(poisson(l, []float64{1, 1, 1}, 3, end+30*time.Second, seed))
			least := 700
			if int64(cut) < w.grace {
				least = 400 // two times the limit for as long as it took, less a burst
			}
			// The 10 s after the cut are still short of messages for a second or two.
			if n := r.within(end, end+10*time.Second); n < least || n > 1300 {
				t.Errorf("cut of %v, seed %d: %d admitted in the 10 s after it, want %d to 1300", cut, seed, n, least)
			}
			if n := r.within(end+10*time.Second, end+30*time.Second); n < 1500 || n > 2100 {
				t.Errorf("cut of %v, seed %d: %d admitted in the 20 s after that, want about 2000", cut, seed, n)
			}
		}
	}
}
