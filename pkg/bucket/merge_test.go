package bucket

import (
	"math"
	"testing"
	"time"
)

const sec = int64(time.Second)

// What rows come to, case by case; among them leftovers and duplicates (I11) and
// rows with impossible numbers (I12).
func TestMerge(t *testing.T) {
	l := must(t, 10, time.Second, 10)
	const T, born, grace = 100 * ms, t0 - 3600*sec, 5 * sec
	seenOwn := map[string]Seen{"own": {Born: born, Spent: 100, At: t0 - sec}}

	// A row of Region b that spent 3 tokens 100 ms ago, and knows all of own.
	b := Row{Region: "b", TAT: t0 + 2*T, Spent: 53, At: t0 - T, Epoch: Epoch{t0 - T, 50}, Seen: seenOwn, Born: born}
	// Own row: level 0, has seen b's 50 tokens a second ago.
	own := Row{Region: "own", TAT: t0 - sec, Spent: 100, At: t0 - sec, Epoch: Epoch{t0 - sec, 99}, Fold: 7, Born: born,
		Seen: map[string]Seen{"b": {Born: born, Spent: 50, At: t0 - sec}}}
	with := func(r Row, change func(*Row)) Row {
		change(&r)
		return r
	}
	silence := func(r *Row) { r.Epoch = Epoch{t0 - 2*T, 51} } // one token more than 100 ms before

	for _, tt := range []mergeTest{
		{"nobody yet", Row{Region: "own"}, nil,
			Global{TAT: t0, Complete: true}, -1},
		{"alone, full", own, nil,
			Global{TAT: t0, Complete: true}, -1},
		{"alone, busy", with(own, func(r *Row) { r.TAT = t0 + T }), nil,
			Global{TAT: t0 + T, Complete: true}, -1},
		{"nothing new", own, []Row{with(b, func(r *Row) { r.TAT, r.Spent, r.At, r.Epoch = t0-sec, 50, t0-sec, Epoch{t0 - sec, 49} })},
			Global{TAT: t0, Complete: true}, -1},
		{"spent elsewhere", own, []Row{b},
			Global{TAT: t0 + 2*T, Complete: true, Unseen: 3}, 2 * T},
		{"spent elsewhere while busy here", with(own, func(r *Row) { r.TAT = t0 + T; r.Spent, r.At, r.Epoch = 102, t0, Epoch{t0, 100} }), []Row{b},
			Global{TAT: t0 + 4*T, Complete: true, Unseen: 3}, 3 * T},
		{"spent elsewhere and gone by now", own, []Row{with(b, func(r *Row) { r.TAT, r.At, r.Epoch.Start = t0-5*T, t0-8*T, t0-8*T })},
			Global{TAT: t0, Complete: true, Unseen: 3}, 0},
		{"before and in the epoch", own, []Row{with(b, func(r *Row) { silence(r); r.TAT = 0 })},
			// own: 50..51 at -200 ms, then 51..53 at -100 ms
			Global{TAT: t0, Complete: true, Unseen: 3}, 0},
		{"in view of a third Region only", own, []Row{{Region: "c", TAT: t0 + 3*T, Born: born}},
			Global{TAT: t0 + 3*T, Complete: true}, 3 * T},
		{"never seen: since it was born", with(own, func(r *Row) { r.Seen = nil }), []Row{with(b, func(r *Row) {
			r.Born, r.Spent, r.Epoch, r.Seen = t0-T-grace, 5, Epoch{t0 - T, 2}, nil
		})},
			// own: 5 at -100 ms; b has not seen own's 100 and is incomplete
			Global{TAT: t0 + 4*T, Complete: true, Unseen: 5}, 4 * T},
		{"never seen, born too long ago", with(own, func(r *Row) { r.Seen = nil }), []Row{with(b, func(r *Row) {
			r.Born, r.Spent, r.Epoch, r.Seen = t0-T-grace-1, 5, Epoch{t0 - T, 2}, nil
		})},
			// own: 2 forgiven, 3 at -100 ms; b: 99 forgiven, 1 at its TAT
			Global{TAT: t0 + 2*T, Unseen: 5}, 2 * T},
		{"a cut as long as grace", with(own, func(r *Row) { r.Seen = map[string]Seen{"b": {born, 50, t0 - 2*T - grace}} }), []Row{with(b, func(r *Row) {
			silence(r)
			r.TAT, r.Seen = 0, nil
		})},
			Global{TAT: t0 + 2*T - T, Complete: true, Unseen: 3}, T},
		{"a longer cut", with(own, func(r *Row) { r.Seen = map[string]Seen{"b": {born, 50, t0 - 2*T - grace - 1}} }), []Row{with(b, func(r *Row) {
			silence(r)
			r.TAT, r.Seen = 0, nil
		})},
			// own: 1 forgiven, 2 at -100 ms; b: 99 forgiven, 1 at -1 s
			Global{TAT: t0, Unseen: 3}, 0},
		{"a longer cut, all that came after it handed back", with(own, func(r *Row) { r.Seen = map[string]Seen{"b": {born, 50, t0 - 2*T - grace - 1}} }),
			[]Row{with(b, func(r *Row) { silence(r); r.TAT, r.Spent, r.Seen = 0, 51, nil })},
			Global{TAT: t0, Unseen: 1}, 0},
		{"came back after it had expired", own, []Row{with(b, func(r *Row) { r.Born, r.Spent, r.Epoch = t0-T, 3, Epoch{t0 - T, 0} })},
			Global{TAT: t0 + 2*T, Complete: true, Unseen: 3}, 2 * T},
		{"a leftover of its earlier life", own, []Row{with(b, func(r *Row) { r.Born, r.TAT, r.Spent = born-1, 0, 1000 })},
			Global{TAT: t0, Complete: true}, -1},
		{"handed back", own, []Row{with(b, func(r *Row) { r.TAT, r.Spent, r.Epoch.Spent = 0, 45, 48 })},
			Global{TAT: t0, Complete: true}, -1},
		{"handed back since the epoch began", own, []Row{with(b, func(r *Row) { r.Epoch.Spent = 60 })},
			Global{TAT: t0 + 2*T, Complete: true, Unseen: 3}, 2 * T},
		{"handed back, and all of it new", own, []Row{with(b, func(r *Row) { r.TAT, r.Epoch.Spent, r.Seen = 0, 60, nil })},
			Global{TAT: t0 + 2*T, Complete: true, Unseen: 3}, 2 * T},
		{"an epoch after At", own, []Row{with(b, func(r *Row) { r.TAT, r.Epoch, r.Seen = 0, Epoch{t0 + 5*sec, 51}, nil })},
			Global{TAT: t0 + 2*T, Complete: true, Unseen: 3}, 2 * T},
		{"from a clock 3 s ahead", own, []Row{with(b, func(r *Row) {
			r.TAT, r.At, r.Epoch, r.Seen = t0+3*sec, t0+3*sec, Epoch{t0 + 3*sec - T, 51}, nil
		})},
			// as if At were now: 1 at -100 ms, 2 at 0
			Global{TAT: t0 + 2*T, Complete: true, Unseen: 3, Skew: 3 * sec, SkewRegion: "b"}, 2 * T},
		{"from a clock an hour ahead, born too long ago", with(own, func(r *Row) { r.Seen = nil }), []Row{with(b, func(r *Row) {
			r.TAT, r.At, r.Epoch, r.Seen, r.Born = 0, t0+3600*sec, Epoch{t0 + 3600*sec - T, 51}, nil, t0+3600*sec-2*grace
		})},
			// own: 51 forgiven, 2 at 0; b: 99 forgiven, 1 at its TAT
			Global{TAT: t0, Unseen: 53, Skew: 3600 * sec, SkewRegion: "b"}, 0},
		{"twice, from a clock ahead, the newer handed back 1", own, []Row{
			with(b, func(r *Row) { r.TAT, r.At, r.Spent, r.Epoch.Start = 0, t0+sec, 54, t0+sec }),
			with(b, func(r *Row) { r.TAT, r.At, r.Epoch.Start = t0+sec+3*T, t0+sec+1, t0+sec+1 }),
		},
			Global{TAT: t0 + 3*T - 1, Complete: true, Unseen: 3, Skew: sec + 1, SkewRegion: "b"}, 3*T - 1},
		{"own clock stepped back", with(own, func(r *Row) { r.TAT, r.At = t0+sec, t0+sec/2 }), nil,
			Global{TAT: t0 + sec, Complete: true}, -1},
		{"twice, the newer counts", own, []Row{with(b, func(r *Row) { r.Spent, r.At = 52, t0-2*T }), b, with(b, func(r *Row) { r.Spent, r.At = 51, t0-3*T })},
			Global{TAT: t0 + 2*T, Complete: true, Unseen: 3}, 2 * T},
		{"own row among the peers, newer", with(own, func(r *Row) { r.Fold, r.TAT, r.Seen = 6, 0, nil }), []Row{own, b},
			Global{TAT: t0 + 2*T, Complete: true, Unseen: 3}, 2 * T},
		{"own row among the peers, newer, its clock ahead", with(own, func(r *Row) { r.TAT = 0 }), []Row{with(own, func(r *Row) { r.TAT, r.At = t0+2*sec, t0+sec })},
			Global{TAT: t0 + 2*sec, Complete: true}, -1},
		{"own row among the peers, older", own, []Row{with(own, func(r *Row) { r.Fold, r.TAT, r.Seen = 6, t0+5*T, nil }), b},
			Global{TAT: t0 + 2*T, Complete: true, Unseen: 3}, 2 * T},
		{"own row is older than what b has seen of it", with(own, func(r *Row) { r.Spent = 99 }), []Row{b},
			Global{TAT: t0 + 2*T, Complete: true, Unseen: 3}, -1},
		{"own row has expired, b has seen it", Row{Region: "own"}, []Row{b},
			Global{TAT: t0 + 2*T, Complete: true, Unseen: 53}, -1},
		{"own row claims to have seen itself", with(own, func(r *Row) { r.Seen = map[string]Seen{"own": {born, 1000, t0}, "b": own.Seen["b"]} }), []Row{b},
			Global{TAT: t0 + 2*T, Complete: true, Unseen: 3}, 2 * T},
		{"spent beyond int64", own, []Row{with(b, func(r *Row) { r.TAT, r.Spent, r.Seen = 0, math.MinInt64, nil })},
			Global{TAT: t0, Complete: true}, -1},
		{"all that int64 holds was spent before the epoch", own, []Row{with(b, func(r *Row) { r.TAT, r.Spent, r.Epoch.Spent, r.Seen = 0, math.MaxInt64, math.MaxInt64, nil })},
			Global{TAT: t0 + int64(MaxDepth), Complete: true, Unseen: math.MaxInt64 - 50}, int64(MaxDepth)},
		{"a TAT below int64, from a clock ahead", own, []Row{with(b, func(r *Row) { r.TAT, r.Spent, r.At = math.MinInt64, 50, t0+sec })},
			Global{TAT: t0, Complete: true, Skew: sec, SkewRegion: "b"}, -1},
		{"a TAT beyond int64", own, []Row{with(b, func(r *Row) { r.TAT = math.MaxInt64 })},
			Global{TAT: t0 + int64(MaxDepth), Complete: true, Unseen: 3}, int64(MaxDepth)},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, l, grace) })
	}
}

// mergeTest is what rows come to at t0.
type mergeTest struct {
	name  string
	own   Row
	peers []Row
	want  Global // Fold is compared by its Delta
	delta int64  // -1 if there is no Fold
}

func (tt mergeTest) run(t *testing.T, l Limit, grace int64) {
	t.Helper()
	got := Merge(l, tt.own, tt.peers, t0, grace)
	delta := int64(-1)
	if got.Fold != nil {
		delta = got.Fold.Delta
	}
	got.Fold = nil
	if got != tt.want || delta != tt.delta {
		t.Errorf("Merge = %+v, fold %d\n want   %+v, fold %d; TAT is %v after now",
			got, delta, tt.want, tt.delta, time.Duration(got.TAT-t0))
	}
}

func TestMergeWithoutARate(t *testing.T) {
	peers := []Row{{Region: "b", TAT: t0 + sec, Spent: 5, At: t0}}
	for _, l := range []Limit{{}, Unlimited()} {
		got := Merge(l, Row{Region: "a", TAT: t0 + 5}, peers, t0, 0)
		if want := (Global{TAT: t0 + 5, Complete: true}); got != want {
			t.Errorf("Merge = %+v, want %+v", got, want)
		}
	}
}

// The Seen map of a row is shared with other goroutines: a Fold brings a new one.
func TestMergeLeavesRowsAlone(t *testing.T) {
	l := must(t, 10, time.Second, 10)
	seen := map[string]Seen{"b": {Spent: 1}, "gone": {Spent: 9}}
	own := Row{Region: "a", Seen: seen}
	peers := []Row{{Region: "b", Spent: 3, At: t0 + sec}}
	g := Merge(l, own, peers, t0, 0)
	if len(seen) != 2 || seen["b"].Spent != 1 || peers[0].At != t0+sec {
		t.Errorf("Merge changed its arguments: %v, %v", seen, peers)
	}
	if g.Fold.Seen["b"].Spent != 3 || g.Fold.Seen["gone"].Spent != 9 {
		t.Errorf("Fold.Seen = %v, want b's 3 and the 9 of a Region whose row is not visible", g.Fold.Seen)
	}
}
