package bucket

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

// What a Rescale makes of a row, and what it leaves alone.
func TestRescale(t *testing.T) {
	from, to := must(t, 10, time.Second, 10), must(t, 20, time.Second, 40) // 1 s and 2 s deep
	refuse := must(t, 0, time.Second, 0)
	row := Row{Region: "a", TAT: t0 + sec/2, Spent: 20, At: t0, Epoch: Epoch{t0 - sec/2, 17}, Fold: 3, Born: 1, Ver: 6, Limit: from,
		Seen: map[string]Seen{"b": {1, 7, t0}}, Base: Base{t0 - sec, 12}}
	row.Epochs[1] = row.Epoch
	prior := Prior{Burst: 10, Depth: sec, At: t0, Spent: 20}
	with := func(change func(*Row)) Row {
		r := row
		change(&r)
		return r
	}
	for _, tt := range []struct {
		name string
		row  Row
		c    Rescale
		want Row
		ok   bool
	}{
		{"the same fraction", row, Rescale{to, 7, Proportional, 0, t0},
			with(func(r *Row) { r.TAT, r.Ver, r.Limit, r.Prior, r.Base = t0+sec, 7, to, prior, Base{t0 - 2*sec, 12} }), true},
		{"as many used", row, Rescale{to, 7, Additive, 0, t0},
			with(func(r *Row) { r.TAT, r.Ver, r.Limit, r.Prior, r.Base = t0+sec/4, 7, to, prior, Base{t0 - sec/2, 12} }), true},
		{"as many left", row, Rescale{to, 7, AsIs, 0, t0},
			with(func(r *Row) {
				r.TAT, r.Ver, r.Limit, r.Prior, r.Base = t0+7*sec/4, 7, to, prior, Base{t0 + 7*sec/4, 20}
			}), true},
		{"full", row, Rescale{to, 7, Reset, 0, t0},
			with(func(r *Row) { r.TAT, r.Ver, r.Limit, r.Prior, r.Base = t0, 7, to, prior, Base{t0, 20} }), true},
		{"a base that is ahead", with(func(r *Row) { r.Base.TAT = t0 + sec/4 }), Rescale{to, 7, Proportional, 0, t0},
			with(func(r *Row) { r.TAT, r.Ver, r.Limit, r.Prior, r.Base = t0+sec, 7, to, prior, Base{t0 + sec/2, 12} }), true},
		{"never folded", with(func(r *Row) { r.Base, r.Fold = Base{}, 0 }), Rescale{to, 7, Proportional, 0, t0},
			with(func(r *Row) { r.TAT, r.Ver, r.Limit, r.Prior, r.Base, r.Fold = t0+sec, 7, to, prior, Base{}, 0 }), true},
		{"by a clock that is behind", row, Rescale{to, 7, Proportional, 0, t0 - sec},
			with(func(r *Row) { r.TAT, r.Ver, r.Limit, r.Prior, r.Base = t0+sec, 7, to, prior, Base{t0 - 2*sec, 12} }), true},
		{"idle", with(func(r *Row) { r.TAT = t0 - 5 }), Rescale{to, 7, Proportional, 0, t0},
			with(func(r *Row) { r.TAT, r.Ver, r.Limit, r.Prior, r.Base = t0-10, 7, to, prior, Base{t0 - 2*sec, 12} }), true},
		{"the same limit", row, Rescale{from, 7, Reset, 0, t0}, with(func(r *Row) { r.Ver = 7 }), true},
		{"another limit of the same version", row, Rescale{to, 6, Proportional, 0, t0},
			with(func(r *Row) { r.TAT, r.Limit, r.Prior, r.Base = t0+sec, to, prior, Base{t0 - 2*sec, 12} }), true},
		{"the same", row, Rescale{from, 6, Proportional, 0, t0}, row, false},
		{"older", row, Rescale{to, 5, Proportional, 0, t0}, row, false},
		{"not known", with(func(r *Row) { r.Limit = Limit{} }), Rescale{to, 5, Reset, 0, t0}, with(func(r *Row) { r.Ver, r.Limit = 5, to }), true},
		{"to rate 0", row, Rescale{Limit{}, 7, Proportional, 0, t0},
			with(func(r *Row) { r.Ver, r.Limit, r.Prior, r.Base = 7, refuse, prior, Base{t0 + sec/2, 20} }), true},
		{"from rate 0", with(func(r *Row) { r.Limit, r.TAT = refuse, t0+9*sec }), Rescale{to, 7, Proportional, 0, t0},
			with(func(r *Row) {
				r.TAT, r.Ver, r.Limit, r.Prior, r.Base = t0+2*sec, 7, to, Prior{At: t0, Spent: 20}, Base{t0 + 2*sec, 20}
			}), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := tt.c.Apply(tt.row)
			if ok != tt.ok || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("Apply = %+v, %v\n want   %+v, %v", got, ok, tt.want, tt.ok)
			}
			if _, again := tt.c.Apply(got); again {
				t.Error("there was something to do a second time")
			}
		})
	}
}

// What a Charge makes of a row of another version: what a Rescale does first, and
// nothing if it does not come to pass (I2).
func TestApplyVersions(t *testing.T) {
	from, to := must(t, 10, time.Second, 10), must(t, 20, time.Second, 40)
	row := Row{Region: "a", TAT: t0 + sec/2, Spent: 20, At: t0, Epoch: Epoch{t0, 17}, Fold: 3, Born: 1, Ver: 6, Limit: from}
	silent := row
	silent.Limit = Limit{}
	for _, tt := range []struct {
		name    string
		row     Row
		limit   Limit
		ver, n  int64
		fold    *Fold
		s       Status
		carried bool // first
	}{
		{"newer", row, to, 7, 20, nil, Charged, true},
		{"newer, and too much", row, to, 7, 21, nil, Refused, true},
		{"newer, with a fold", row, to, 7, 10, &Fold{From: 3, Delta: sec / 2}, Charged, true},
		{"newer, with a fold of an older row", row, to, 7, 10, &Fold{From: 2}, Conflict, true},
		{"newer, the same limit", row, from, 7, 5, nil, Charged, true},
		{"another limit of the same version", row, to, 6, 20, nil, Charged, true},
		{"older", row, to, 5, 1, nil, Outdated, false},
		{"older, and too much", row, to, 5, 41, nil, Outdated, false},
		{"older, with a fold of an older row", row, to, 5, 1, &Fold{From: 2}, Outdated, false},
		{"on a row without a limit", silent, to, 7, 10, nil, Charged, true},
		{"older than a row without a limit", silent, to, 5, 10, nil, Charged, true},
		{"without a version, older", row, to, 0, 1, nil, Outdated, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := Charge{Limit: tt.limit, Ver: tt.ver, Now: t0, Tokens: tt.n, Inc: tt.limit.Time(tt.n), Fold: tt.fold}
			want := tt.row
			if tt.carried && tt.s == Charged {
				want, _ = Rescale{Limit: c.Limit, Ver: c.Ver, Now: t0}.Apply(tt.row)
				want, _ = c.Apply(want, true)
			}
			got, s := c.Apply(tt.row, true)
			if s != tt.s || !reflect.DeepEqual(got, want) {
				t.Errorf("Apply = %+v, %v\n want   %+v, %v", got, s, want, tt.s)
			}
		})
	}
	t.Run("without versions", func(t *testing.T) {
		c := Charge{Limit: to, Now: t0, Tokens: 1, Inc: to.Time(1)}
		r := row
		r.Ver = 0
		if got, s := c.Apply(r, true); s != Charged || got.TAT != r.TAT+c.Inc || got.Limit != to || got.Prior != (Prior{}) {
			t.Errorf("Apply = %+v, %v, want the TAT taken as it is", got, s)
		}
	})
}

// I17: whatever changes come to a row in whatever order, and however often, it ends
// up at the newest, and none that is older than the row changes it.
func TestChangesInAnyOrder(t *testing.T) {
	for seed := range uint64(1000) {
		rnd := rand.New(rand.NewPCG(seed, 17))
		changes := make([]Rescale, 1+rnd.IntN(6))
		for i := range changes {
			changes[i] = Rescale{Limit: randomLimit(rnd), Ver: int64(i + 1), Carry: Carry(rnd.IntN(4))}
		}
		row, now := Row{}, t0
		for i, last := range append(rnd.Perm(len(changes)), rnd.Perm(len(changes))...) {
			c := changes[last]
			c.Now, now = now, now+rnd.Int64N(sec)
			before := row
			if i%2 == 0 && row.Born > 0 {
				row, _ = c.Apply(row)
			} else {
				row, _ = Charge{Limit: c.Limit, Ver: c.Ver, Carry: c.Carry, Now: c.Now, Tokens: 1, Inc: c.Limit.Time(1)}.Apply(row, row.Born > 0)
			}
			switch {
			case row.Ver < before.Ver || row.Ver > 0 && row.Limit != changes[row.Ver-1].Limit:
				t.Fatalf("seed %d: version %d on %+v made %+v", seed, c.Ver, before, row)
			case c.Ver < before.Ver && !reflect.DeepEqual(row, before):
				t.Fatalf("seed %d: version %d changed %+v to %+v", seed, c.Ver, before, row)
			}
		}
		newest := changes[len(changes)-1]
		newest.Now = now
		if row, _ = newest.Apply(row); row.Ver != newest.Ver || row.Limit != newest.Limit {
			t.Fatalf("seed %d: %+v, want version %d", seed, row, newest.Ver)
		}
	}
}

// I16: however a bucket's limit changes, it admits no second burst: between any
// two admissions no more than the burst at the first, what raises of the burst have
// added since, and what has refilled; a reset adds a burst.
func TestChangesKeepTheBound(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 16))
		l := randomWhole(rnd, t)
		row, found, now, ver := Row{}, false, t0, int64(1)
		var log []booking
		budget := newBudget(l)
		for range 300 {
			step := rnd.Int64N(l.Time(2) + 1)
			budget.pass(step)
			now += step
			if rnd.IntN(12) == 0 {
				to, carry := randomWhole(rnd, t), Carry(rnd.IntN(4))
				budget.change(to, carry)
				l, ver = to, ver+1
				since := now
				if rnd.IntN(2) == 0 { // it is noticed later
					step = rnd.Int64N(l.Time(3) + 1)
					budget.pass(step)
					now += step
				}
				if found {
					row, _ = Rescale{Limit: l, Ver: ver, Carry: carry, Since: since, Now: now}.Apply(row)
				}
			}
			n := 1 + rnd.Int64N(min(l.Burst(), 4))
			next, s := Charge{Limit: l, Ver: ver, Now: now, Tokens: n, Inc: l.Time(n)}.Apply(row, found)
			if s == Charged {
				row, found = next, true
				log = append(log, booking{n, l.burst, budget})
			}
		}
		checkBudget(t, seed, log)
	}
}

// A change that nobody has noticed for an hour is carried over as of when it was
// made: an empty bucket of a slow limit has refilled at the new pace since, and that
// of a fast one not at the old. It is the same for a row of one's own, for one that
// is charged, and for one of another Region.
func TestChangeNoticedLate(t *testing.T) {
	slow, fast := must(t, 1, time.Hour, 10), must(t, 100, time.Second, 100)
	const hour = 3600 * sec
	for _, tt := range []struct {
		name     string
		from, to Limit
		since    int64 // after the row was emptied
		left     int64 // an hour after that
	}{
		{"raised", slow, fast, sec, 100},
		{"raised, when is not known", slow, fast, -t0, 10},
		{"raised this moment", slow, fast, hour, 10},
		{"raised in the future", slow, fast, 2 * hour, 10},
		{"cut", fast, slow, 0, 1},
		{"cut, when is not known", fast, slow, -t0, 10},
		{"cut before it was emptied under the old limit", fast, slow, -5 * sec, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n, now := tt.from.burst, t0+hour
			row, _ := Charge{Limit: tt.from, Ver: 1, Now: t0, Tokens: n, Inc: tt.from.Time(n)}.Apply(Row{Region: "a"}, false)
			c := Rescale{Limit: tt.to, Ver: 2, Since: t0 + tt.since, Now: now}
			carried, _ := c.Apply(row)
			for name, tat := range map[string]int64{
				"carried over":                      carried.TAT,
				"of one's own":                      c.Merge(row, nil, DefaultGrace).TAT,
				"elsewhere":                         c.Merge(Row{Region: "b"}, []Row{row}, DefaultGrace).TAT,
				"seen by one that was carried over": c.Merge(carried, []Row{carried}, DefaultGrace).TAT,
			} {
				if got := tt.to.Remaining(tat, now); got != tt.left {
					t.Errorf("%s: %d left, want %d", name, got, tt.left)
				}
			}
			for n, want := range map[int64]Status{tt.left: Charged, tt.left + 1: Refused} {
				ch := Charge{Limit: tt.to, Ver: 2, Since: c.Since, Now: now, Tokens: n, Inc: tt.to.Time(n)}
				if _, s := ch.Apply(row, true); s != want {
					t.Errorf("a charge of %d: %v, want %v", n, s, want)
				}
			}
		})
	}
}

// booking is an admission and the budget there was then.
type booking struct {
	n, burst int64
	budget   budget
}

// budget is what a limit that changes has given since the start, beyond its first
// burst: what refilled, in tokens, and what raises and resets have added.
type budget struct {
	l        Limit
	refilled float64
	added    int64
}

func newBudget(l Limit) budget { return budget{l: l} }

func (b *budget) pass(d int64) { b.refilled += float64(d) / 1e9 * b.l.rate.PerSecond() }

func (b *budget) change(to Limit, c Carry) {
	b.added += max(0, to.burst-b.l.burst)
	if c == Reset {
		b.added += to.burst
	}
	b.l = to
}

func checkBudget(t *testing.T, seed uint64, log []booking) {
	t.Helper()
	for i := range log {
		sum := int64(0)
		for j := i; j < len(log); j++ {
			sum += log[j].n
			a, b := log[i].budget, log[j].budget
			if most := float64(log[i].burst+b.added-a.added) + b.refilled - a.refilled; float64(sum) > most+0.001 {
				t.Fatalf("seed %d: %d admitted between admissions %d and %d, want at most %.3f", seed, sum, i, j, most)
			}
		}
	}
	if len(log) < 30 {
		t.Fatalf("seed %d: %d admitted: the script tests little", seed, len(log))
	}
}

// randomWhole returns a limit whose T is a whole number of ns.
func randomWhole(rnd *rand.Rand, t *testing.T) Limit {
	t.Helper()
	rates := []Rate{{1, time.Second}, {10, time.Second}, {100, time.Second}, {60, time.Minute}, {20, time.Hour}, {1000, time.Second}}
	r := rates[rnd.IntN(len(rates))]
	return must(t, r.Count, r.Period, []int64{1, 5, 20, 100}[rnd.IntN(4)])
}

// I15: on limits that the fuzzer finds.
func FuzzCarry(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { checkCarry(t, rand.New(rand.NewPCG(seed, 15))) })
}
