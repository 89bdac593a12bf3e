package bucket

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// What rows come to whose past matters: spend of others is put in where it
// belongs, as far as rows tell when and on top of what that was.
func TestEstimate(t *testing.T) {
	l := must(t, 10, time.Second, 10)
	const T, born = 100 * ms, t0 - 3600*sec
	b := Row{Region: "b", Spent: 53, Born: born}
	own := Row{Region: "own", Spent: 100, At: t0 - sec, Epoch: Epoch{t0 - sec, 99}, Fold: 7, Born: born}
	with := func(r Row, change func(*Row)) Row {
		change(&r)
		return r
	}
	// A row that has been busy for a second, since b spent 5 tokens 2 s ago.
	since := with(own, func(r *Row) {
		r.TAT, r.At, r.Epoch, r.Base = t0+2*T, t0, Epoch{t0 - sec, 90}, Base{t0 - 3*sec, 90}
		r.Seen = map[string]Seen{"b": {Born: born, Spent: 50, At: t0 - 3*sec}}
	})
	before := with(b, func(r *Row) {
		r.TAT, r.Spent, r.At, r.Epoch = t0-sec-5*T, 55, t0-2*sec, Epoch{t0 - 2*sec - 5*T, 50}
		r.Seen = map[string]Seen{"own": {Born: born, Spent: 90, At: t0 - 3*sec}}
	})
	// A row that has spent 10 tokens in each of its last seconds, and no view of own.
	steady := with(b, func(r *Row) {
		r.TAT, r.Spent, r.At, r.Epoch, r.Seen = 0, 85, t0-5*T, Epoch{t0 - sec, 80}, nil
		r.Epochs = [EpochsKept]Epoch{{t0 - 2*sec, 70}, {t0 - sec, 80}, {t0 - 4*sec, 50}, {t0 - 3*sec, 60}}
	})
	quiet := with(own, func(r *Row) {
		r.TAT, r.Seen = t0-5*sec, map[string]Seen{"b": {Born: born, Spent: 50, At: t0 - 4*sec}}
	})
	// A row that has seen 98 of the tokens of the row above, and is idle.
	slow := func(at int64) Row {
		return with(b, func(r *Row) {
			r.TAT, r.At, r.Epoch = t0-4*sec, t0-4*sec, Epoch{t0 - 4*sec, 50}
			r.Seen = map[string]Seen{"own": {Born: born, Spent: 98, At: at}}
		})
	}
	dated := with(since, func(r *Row) { r.Epochs[0], r.Base = r.Epoch, Base{t0 + T, 99} })

	for _, tt := range []mergeTest{
		{"spent elsewhere before the bucket was used here", since, []Row{before},
			Global{TAT: t0 + 2*T, Complete: true, Unseen: 5}, 0},
		{"the same, never folded", with(since, func(r *Row) { r.Fold, r.Base, r.Spent, r.Epoch, r.Seen = 0, Base{}, 10, Epoch{t0 - sec, 0}, nil }),
			[]Row{with(before, func(r *Row) { r.Born, r.Spent, r.Epoch, r.Seen = t0-3*sec, 5, Epoch{t0 - 3*sec, 0}, nil })},
			Global{TAT: t0 + 2*T, Complete: true, Unseen: 5}, 0},
		{"the same, folded before rows had a base", with(since, func(r *Row) { r.Base = Base{} }), []Row{before},
			Global{TAT: t0 + 7*T, Complete: true, Unseen: 5}, 5 * T},
		{"the same, most of it others' spend", with(since, func(r *Row) { r.Base, r.TAT, r.Spent, r.Epoch.Spent = Base{}, t0+9*T, 2, 1 }),
			[]Row{with(before, func(r *Row) { r.Seen = nil })},
			// own: 5 on top, as it is not known what of it came when; b does not know own at all
			Global{TAT: t0 + 14*T, Complete: true, Unseen: 5}, 5 * T},
		{"the same, from a clock an hour ahead", since, []Row{with(before, func(r *Row) {
			r.TAT, r.At, r.Epoch.Start = r.TAT+3602*sec, r.At+3602*sec, r.Epoch.Start+3602*sec
		})},
			// own: 5 at 0
			Global{TAT: t0 + 7*T, Complete: true, Unseen: 5, Skew: 3600 * sec, SkewRegion: "b"}, 5 * T},
		{"before, in a row whose base comes from a clock ahead", with(before, func(r *Row) { r.Region, r.Seen = "own", map[string]Seen{"b": {born, 90, t0 - 3*sec}} }),
			[]Row{with(since, func(r *Row) {
				r.Region, r.Fold, r.Seen = "b", 3, map[string]Seen{"own": {born, 50, t0 - 3*sec}}
				r.TAT, r.At, r.Epoch.Start, r.Base.TAT = r.TAT+sec, r.At+sec, r.Epoch.Start+sec, t0-15*T+sec
			})},
			// b: 5 on top of what it had at -1.5 s, then its own 10
			Global{TAT: t0 + 2*T, Complete: true, Unseen: 10, Skew: sec, SkewRegion: "b"}, 2 * T},
		{"steady elsewhere, dated by the second", quiet, []Row{steady},
			// own: 10 at -3, -2 and -1 s, 5 at -500 ms
			Global{TAT: t0 + 5*T, Complete: true, Unseen: 35}, 5 * T},
		{"steady elsewhere, in a row with one epoch", quiet, []Row{with(steady, func(r *Row) { r.Epochs = [EpochsKept]Epoch{} })},
			// own: 30 at -1 s, 5 after that
			Global{TAT: t0 + 25*T, Complete: true, Unseen: 35}, 25 * T},
		{"handed back and spent again", quiet, []Row{with(steady, func(r *Row) {
			r.Spent, r.Epoch, r.Epochs = 58, Epoch{t0 - sec, 50}, [EpochsKept]Epoch{1: {t0 - sec, 50}, 3: {t0 - 3*sec, 60}}
		})},
			// own: 8 at -500 ms
			Global{TAT: t0 + 3*T, Complete: true, Unseen: 8}, 3 * T},
		{"from a clock behind", dated, []Row{slow(t0 - sec - 1)},
			// own: 3 on top; b, which would be lower, has seen what own had not spent
			Global{TAT: t0 + 5*T, Complete: true, Unseen: 3}, 3 * T},
		{"from a clock that is behind, if own came back since", with(dated, func(r *Row) { r.Born, r.Seen = t0-3*sec, nil }), []Row{slow(t0 - sec - 1)},
			// own: 50 forgiven, 3 on top; b: 99 at -1 s, 1 at 0
			Global{TAT: t0 + 90*T, Complete: true, Unseen: 53}, 88 * T},
		{"from a clock that may be right", dated, []Row{slow(t0 - sec)},
			Global{TAT: t0 + 2*T, Complete: true, Unseen: 3}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, l, DefaultGrace) })
	}
}

// I14: on every view of random worlds, with lags, cuts and lazy folding, the
// global TAT is at least the level of one bucket that all visible tokens enter
// when they were spent, and at most what the older rule has: all unseen spend on
// top of a row's present TAT, dated by its last epoch.
func TestEstimateIsBetweenBounds(t *testing.T) {
	merges, below, exact := 0, 0, 0 // every fifth is looked at
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 10))
		l := must(t, 100, time.Second, []int64{20, 100, 500}[rnd.IntN(3)])
		regions := 2 + rnd.IntN(3)
		w := newWorld(t, l, regions, time.Duration(rnd.IntN(2000))*time.Millisecond, seed)
		w.grace = int64(time.Hour) // so that nothing is forgiven
		w.cut = [2]int64{t0 + 4*sec, t0 + 4*sec + rnd.Int64N(5*sec)}
		lazy := rnd.IntN(4) // of five folds
		w.folds = func() bool { return rnd.IntN(5) >= lazy }
		w.merged = func(i int, peers []Row, g Global, now int64) {
			if merges++; merges%5 != 0 {
				return
			}
			own := w.rows[i]
			truth, older := w.level(append(slices.Clone(peers), own)), olderTAT(l, own, peers, now)
			if g.TAT < truth || g.TAT > older || !g.Complete {
				t.Fatalf("seed %d, Region %d, %v after the start: global TAT %d, want at least %d, at most %d",
					seed, i, time.Duration(now-t0), g.TAT, truth, older)
			}
			if g.TAT < older {
				below++
			}
			if g.TAT == max(now, truth) {
				exact++
			}
		}
		weights := make([]float64, regions)
		for i := range weights {
			weights[i] = rnd.Float64()
		}
		w.play(poisson(l, weights, []float64{0.3, 0.9, 1.5}[rnd.IntN(3)], 14*time.Second, seed))
	}
	merges /= 5
	t.Logf("of %d merges %d were exact, %d below the older rule", merges, exact, below)
	if below < merges/25 || exact < merges/4 {
		t.Errorf("of %d merges only %d were exact, %d below the older rule", merges, exact, below)
	}
}

// level returns the TAT of one bucket that the tokens of the rows have entered
// when they were spent.
func (w *world) level(rows []Row) int64 {
	var times []int64
	for _, r := range rows {
		times = append(times, w.spent[r.Region[0]-'a'][:r.Spent]...)
	}
	slices.Sort(times)
	tat := int64(0)
	for _, at := range times {
		tat = max(tat, at) + w.l.Time(1)
	}
	return tat
}

// olderTAT is the global TAT by the rule that was there before rows had a Base.
func olderTAT(l Limit, own Row, peers []Row, now int64) int64 {
	c := Rescale{Limit: l, Now: now}
	views := c.gather(nil, own, peers)
	lowest, highest := int64(1<<62), now
	for k := range views {
		tat := views[k].TAT
		highest = max(highest, tat)
		for m := range views {
			if n, old, _ := views[m].unseen(views[k].Seen[views[m].Region]); m != k && n > 0 {
				if old > 0 {
					tat = max(tat, views[m].Epoch.Start) + l.Time(old)
				}
				tat = max(tat, views[m].At) + l.Time(n-old)
			}
		}
		lowest = min(lowest, tat)
	}
	return max(highest, lowest)
}
