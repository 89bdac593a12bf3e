package bucket

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

// checkMerge merges the rows that data stands for, the first of them as own, and
// fails unless the result is sane (I12), not below any row (I9), independent of
// order and of duplicates (I11), and folded once (I10).
func checkMerge(t *testing.T, seed uint64, data []byte) {
	t.Helper()
	limits := []Limit{
		must(t, 100, time.Second, 100), must(t, 7, time.Minute, 7),
		must(t, 1, 24*time.Hour, 36_500), must(t, MaxPerSecond, time.Second, MaxBurst),
	}
	l, rows := limits[seed%4], rowsFrom(data, t0, append(limits, Unlimited(), must(t, 0, time.Second, 0)))
	if len(rows) == 0 {
		return
	}
	own, peers := rows[0], rows[1:]
	c := Rescale{Limit: l, Ver: int64(seed / 4 % 4), Carry: Carry(seed / 16 % 4), Since: t0 - int64(seed/64%3)*sec, Now: t0}
	g := c.Merge(own, peers, DefaultGrace)
	if g.TAT < t0 || g.TAT > t0+int64(MaxDepth) || g.Unseen < 0 || g.Skew < 0 || (g.Skew > 0) != (g.SkewRegion != "") {
		t.Fatalf("Merge = %+v", g)
	}
	views := c.gather(nil, own, peers)
	for _, v := range views {
		if g.TAT < min(v.TAT, t0+int64(MaxDepth)) {
			t.Fatalf("TAT %d is below that of %+v", g.TAT, v)
		}
	}
	if !sameStateDiffers(rows) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		again := append(slices.Clone(peers), peers[:rnd.IntN(len(peers)+1)]...)
		rnd.Shuffle(len(again), func(i, j int) { again[i], again[j] = again[j], again[i] })
		if h := c.Merge(own, again, DefaultGrace); !reflect.DeepEqual(g, h) {
			t.Fatalf("in another order: %+v (%+v), was %+v (%+v)", h, h.Fold, g, g.Fold)
		}
	}
	if g.Fold != nil {
		checkFold(t, c, views[0].Row, peers, g)
	}
}

// checkFold fails unless g.Fold brings own, as it is under r, to g.TAT, once.
func checkFold(t *testing.T, r Rescale, own Row, peers []Row, g Global) {
	t.Helper()
	own.Ver = r.Ver
	c := Charge{Limit: r.Limit, Ver: r.Ver, Now: t0, Fold: g.Fold, Keep: -math.MaxInt64}
	folded, s := c.Apply(own, true)
	if s != Charged || folded.TAT < g.TAT {
		t.Fatalf("after the fold: %+v, %v, want TAT %d", folded, s, g.TAT)
	}
	if _, s := c.Apply(folded, true); s != Conflict {
		t.Fatalf("the same fold again: %v, want a conflict", s)
	}
	folded.Fold, folded.At = max(folded.Fold, own.Fold), max(folded.At, own.At)
	peers = slices.DeleteFunc(slices.Clone(peers), func(r Row) bool { return r.Region == own.Region })
	if h := r.Merge(folded, peers, DefaultGrace); h.Fold != nil || h.Unseen != 0 || h.TAT != g.TAT {
		t.Fatalf("after the fold: %+v, fold %+v, want nothing new at %d\n%+v\nown %+v\npeers %+v\nfolded %+v", h, h.Fold, g.TAT, r, own, peers, folded)
	}
}

// rowsFrom makes rows from bytes, with values near each other, near the ends of
// int64, and near now.
func rowsFrom(data []byte, now int64, limits []Limit) []Row {
	next := func() byte {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return b
	}
	num := func() int64 {
		switch b := next(); {
		case b < 128:
			return int64(b % 16)
		case b < 150:
			return now + (int64(b)-139)*100*ms
		case b < 180:
			return now - (int64(b)-165)*sec*60
		case b < 240:
			return int64(b) << (b % 56)
		default:
			return []int64{math.MaxInt64, math.MinInt64, -1, math.MaxInt64 - now, now, 1 << 62}[b%6]
		}
	}
	var rows []Row
	for len(data) > 0 && len(rows) < 12 {
		r := Row{Region: string(rune('a' + next()%6)), TAT: num(), Spent: num(), At: num(),
			Epoch: Epoch{num(), num()}, Fold: num(), Born: num(), Ver: num()}
		for i := range next() % (EpochsKept + 1) {
			r.Epochs[i] = Epoch{num(), num()}
		}
		r.Base = Base{num(), num()}
		if b := next(); b >= 64 { // of another version
			r.Limit, r.Ver = limits[int(b)%len(limits)], int64(b/64)
			r.Prior = Prior{Burst: num(), Depth: num(), At: num(), Spent: num()}
		}
		for range next() % 4 {
			if r.Seen == nil {
				r.Seen = map[string]Seen{}
			}
			r.Seen[string(rune('a'+next()%6))] = Seen{num(), num(), num()}
		}
		rows = append(rows, r)
	}
	return rows
}

// sameStateDiffers reports whether two rows that newer cannot tell apart differ.
// In a store they do not: a state of a row has one Epoch and one Seen.
func sameStateDiffers(rows []Row) bool {
	for i := range rows {
		for j := range rows[:i] {
			c := Rescale{Now: t0}
			a, b := c.view(rows[i], true), c.view(rows[j], true)
			if a.Region == b.Region && !a.newer(&b) && !b.newer(&a) && !reflect.DeepEqual(rows[i], rows[j]) {
				return true
			}
		}
	}
	return false
}

// I9 to I12 on rows that the fuzzer makes up.
func FuzzMerge(f *testing.F) {
	f.Add(uint64(1), []byte("a few rows, all of them rather ordinary, one hopes"))
	f.Add(uint64(2), []byte{0, 139, 5, 138, 137, 3, 0, 1, 0, 1, 1, 1, 4, 137, 1, 140, 5, 139, 139, 2, 0, 1, 0, 0})
	f.Add(uint64(3), slices.Repeat([]byte{250, 251, 252, 240, 244, 190, 160}, 12))
	f.Fuzz(checkMerge)
}

// I9 to I12: what FuzzMerge looks for, on random rows.
func TestMergeOfAnything(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 0))
	for seed := range uint64(20_000) {
		data := make([]byte, 8+rnd.IntN(120))
		for i := range data {
			data[i] = byte(rnd.IntN(256))
		}
		checkMerge(t, seed, data)
	}
}
