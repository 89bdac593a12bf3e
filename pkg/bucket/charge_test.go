package bucket

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

// charger is a process that charges a row: it keeps its own remainder.
type charger struct {
	l    Limit
	paid int64
}

func (p *charger) charge(r Row, found bool, now, n int64) (Row, Status) {
	inc, rest := p.l.Charge(n, p.paid)
	r, s := Charge{Limit: p.l, Now: now, Tokens: n, Inc: inc}.Apply(r, found)
	if s == Charged {
		p.paid = rest
	}
	return r, s
}

// I7: where T is a whole number of ns, a row admits what a TAT alone and an
// exact Bucket admit, and holds the same TAT.
func TestApplyIsTake(t *testing.T) {
	for _, l := range []Limit{must(t, 100, time.Second, 100), must(t, MaxPerSecond, time.Second, 7), must(t, 1, 24*time.Hour, 3)} {
		rnd := rand.New(rand.NewPCG(3, 0))
		p, row, found := charger{l: l}, Row{}, false
		now, tat, b, admitted := t0, int64(0), Bucket{}, 0
		for range 2000 {
			now += rnd.Int64N(l.Time(3)) - l.Time(1)/4
			n := 1 + rnd.Int64N(3)
			var d, e Decision
			tat, d = l.Take(tat, now, n)
			b, e = b.Take(l, now, n)
			next, s := p.charge(row, found, now, n)
			if (s == Charged) != d.Allowed || d != e {
				t.Fatalf("Apply = %v, Take = %+v, Bucket.Take = %+v", s, d, e)
			}
			if s == Charged {
				row, found = next, true
				admitted++
			}
			if found && (row.TAT != tat || b.TAT != tat) {
				t.Fatalf("TAT of the row %d, of Take %d, of Bucket %d", row.TAT, tat, b.TAT)
			}
		}
		if admitted < 200 || admitted == 2000 {
			t.Fatalf("%d of 2000 admitted: the script tests little", admitted)
		}
	}
}

// I1, I5: processes that share a row keep to the limit, whoever charges.
func TestManyProcessesOneRow(t *testing.T) {
	const procs = 50
	for _, r := range awkward {
		l := must(t, r.count, r.period, r.burst)
		rnd := rand.New(rand.NewPCG(4, uint64(r.count)))
		ps := make([]charger, procs)
		for i := range ps {
			ps[i].l = l
		}
		row, _ := ps[0].charge(Row{}, false, t0, r.burst)
		now, total, admitted := t0, int64(0), []admission{{t0, r.burst}}
		for total < 20_000 {
			now += int64(l.Wait(row.TAT, now, 1))
			next, s := ps[rnd.IntN(procs)].charge(row, true, now, 1)
			if s != Charged {
				now++ // Wait knows no remainder: at most a nanosecond off
				continue
			}
			row = next
			total++
			if total <= 200 {
				admitted = append(admitted, admission{now, 1})
			}
		}
		checkBound(t, Rate{r.count, r.period}, r.burst, admitted, l.slack+procs+1)
		ideal := float64(now-t0+procs) / float64(r.period) * float64(r.count)
		if got := float64(total) / ideal; math.Abs(got-1) > 1e-5 {
			t.Errorf("%d per %v: %.7f of the ideal", r.count, r.period, got)
		}
		if row.Spent != r.burst+total {
			t.Errorf("Spent = %d, want %d", row.Spent, r.burst+total)
		}
	}
}

// I6: a burst is whole however many processes share it, though each rounds its
// first increment up.
func TestBurstIsWholeAcrossProcesses(t *testing.T) {
	for _, r := range awkward {
		l := must(t, r.count, r.period, r.burst)
		n := min(r.burst, max(1, l.slack)) // processes, at most 1 ns of slack each
		row, found := Row{}, false
		for i := range n {
			p := charger{l: l}
			share := r.burst / n
			if i < r.burst%n {
				share++
			}
			var s Status
			if row, s = p.charge(row, found, t0, share); s != Charged {
				t.Fatalf("%d per %v, burst %d: %d of %d processes were served", r.count, r.period, r.burst, i, n)
			}
			found = true
			if got, want := l.Remaining(row.TAT, t0), r.burst-row.Spent; got != want {
				t.Fatalf("%d per %v: Remaining = %d, want %d", r.count, r.period, got, want)
			}
		}
		if _, s := (&charger{l: l}).charge(row, true, t0, 1); s != Refused {
			t.Errorf("%d per %v: more than the burst of %d: %v", r.count, r.period, r.burst, s)
		}
	}
}

// Every form of a charge; a row that is refused or in conflict stays as it is (I2).
func TestApply(t *testing.T) {
	l := must(t, 10, time.Second, 10)
	const T, sec = 100 * ms, int64(time.Second)
	seen := map[string]Seen{"b": {Spent: 4, At: t0}}
	base := Row{Region: "a", TAT: t0 + 5*T, Spent: 20, At: t0, Epoch: Epoch{Start: t0 - sec/2, Spent: 17}, Fold: 3, Born: 1, Ver: 6, Limit: l}
	with := func(change func(*Row)) Row {
		r := base
		change(&r)
		return r
	}
	for _, tt := range []struct {
		name  string
		row   Row
		found bool
		c     Charge
		want  Row
		s     Status
	}{
		{"busy", base, true, Charge{Now: t0 + 1, Tokens: 2, Inc: 2 * T, Ver: 7},
			with(func(r *Row) { r.TAT += 2 * T; r.Spent += 2; r.At++; r.Ver = 7 }), Charged},
		{"idle", with(func(r *Row) { r.TAT = t0 - 1 }), true, Charge{Now: t0, Tokens: 2, Inc: 2 * T, Ver: 6},
			with(func(r *Row) { r.TAT = t0 + 2*T; r.Spent += 2 }), Charged},
		{"to the brim", base, true, Charge{Now: t0, Tokens: 5, Inc: 5 * T, Ver: 6},
			with(func(r *Row) { r.TAT += 5 * T; r.Spent += 5 }), Charged},
		{"over the brim", base, true, Charge{Now: t0, Tokens: 6, Inc: 6 * T, Ver: 7}, base, Refused},
		{"to what is kept", base, true, Charge{Now: t0, Tokens: 2, Inc: 2 * T, Ver: 6, Keep: 3 * T},
			with(func(r *Row) { r.TAT += 2 * T; r.Spent += 2 }), Charged},
		{"into what is kept", base, true, Charge{Now: t0, Tokens: 2, Inc: 2*T + 1, Ver: 7, Keep: 3 * T}, base, Refused},
		{"overdrawn", base, true, Charge{Now: t0, Tokens: 6, Inc: 6 * T, Ver: 6, Keep: -T},
			with(func(r *Row) { r.TAT += 6 * T; r.Spent += 6 }), Charged},
		{"overdrawn too far", base, true, Charge{Now: t0, Tokens: 6, Inc: 6*T + 1, Ver: 7, Keep: -T}, base, Refused},
		{"returned", base, true, Charge{Now: t0, Tokens: -2, Inc: -2 * T, Ver: 6, Keep: -int64(MaxDepth)},
			with(func(r *Row) { r.TAT -= 2 * T; r.Spent -= 2 }), Charged},
		{"a new epoch", base, true, Charge{Now: t0 + sec/2, Tokens: 1, Inc: T, Ver: 6},
			with(func(r *Row) {
				r.TAT, r.Spent, r.At, r.Epoch = t0+6*T, 21, t0+sec/2, Epoch{t0 + sec/2, 20}
				r.Epochs[0] = r.Epoch
			}), Charged},
		{"a new epoch in the place of an old one", with(func(r *Row) { r.Epochs[0] = Epoch{t0 - 4*sec, 2} }), true,
			Charge{Now: t0 + sec/2, Tokens: 1, Inc: T, Ver: 6},
			with(func(r *Row) {
				r.TAT, r.Spent, r.At, r.Epoch = t0+6*T, 21, t0+sec/2, Epoch{t0 + sec/2, 20}
				r.Epochs[0] = r.Epoch
			}), Charged},
		{"no row", Row{Region: "a", TAT: t0 + 9*T, Spent: 5, Fold: 2}, false, Charge{Now: t0, Tokens: 1, Inc: T, Ver: 6},
			Row{Region: "a", TAT: t0 + T, Spent: 1, At: t0, Epoch: Epoch{t0, 0}, Epochs: [EpochsKept]Epoch{{t0, 0}}, Born: t0, Ver: 6, Limit: l}, Charged},
		{"no row, refused", Row{Region: "a"}, false, Charge{Now: t0, Tokens: 11, Inc: 11 * T}, Row{Region: "a"}, Refused},
		{"fold", base, true, Charge{Now: t0, Tokens: 1, Inc: T, Ver: 6, Fold: &Fold{From: 3, Delta: 2 * T, Seen: seen}},
			with(func(r *Row) { r.TAT += 3 * T; r.Spent++; r.Fold = 4; r.Seen = seen; r.Base = Base{t0 + 8*T, 21} }), Charged},
		{"after a fold", with(func(r *Row) { r.Base = Base{t0 + 4*T, 19} }), true, Charge{Now: t0, Tokens: 1, Inc: T, Ver: 6},
			with(func(r *Row) { r.TAT += T; r.Spent++; r.Base = Base{t0 + 4*T, 19} }), Charged},
		{"fold on an idle row", with(func(r *Row) { r.TAT = 0 }), true,
			Charge{Now: t0, Tokens: 1, Inc: T, Ver: 6, Fold: &Fold{From: 3, Delta: 2 * T, Seen: seen}},
			with(func(r *Row) { r.TAT = t0 + 3*T; r.Spent++; r.Fold = 4; r.Seen = seen; r.Base = Base{t0 + 3*T, 21} }), Charged},
		{"fold that leaves no room", base, true, Charge{Now: t0, Tokens: 1, Inc: T, Fold: &Fold{From: 3, Delta: 4*T + 1, Seen: seen}}, base, Refused},
		{"fold of an older row", base, true, Charge{Now: t0, Tokens: 1, Inc: T, Fold: &Fold{From: 2, Seen: seen}}, base, Conflict},
		{"fold without a row", Row{Region: "a"}, false, Charge{Now: t0, Tokens: 1, Inc: T, Fold: &Fold{From: 2, Seen: seen}}, Row{Region: "a"}, Conflict},
		{"a conflict comes before a refusal", base, true, Charge{Now: t0, Tokens: 11, Inc: 11 * T, Fold: &Fold{From: 2, Seen: seen}}, base, Conflict},
		{"a negative delta is none", base, true, Charge{Now: t0, Tokens: 1, Inc: T, Ver: 6, Fold: &Fold{From: 3, Delta: -T, Seen: seen}},
			with(func(r *Row) { r.TAT += T; r.Spent++; r.Fold = 4; r.Seen = seen; r.Base = Base{t0 + 6*T, 21} }), Charged},
		{"a delta beyond int64", base, true, Charge{Now: t0, Tokens: 1, Inc: T, Fold: &Fold{From: 3, Delta: math.MaxInt64, Seen: seen}}, base, Refused},
		{"a TAT beyond int64", with(func(r *Row) { r.TAT = math.MaxInt64 }), true, Charge{Now: -t0, Tokens: 1, Inc: T},
			with(func(r *Row) { r.TAT = math.MaxInt64 }), Refused},
		{"both beyond int64", with(func(r *Row) { r.TAT = math.MaxInt64 }), true,
			Charge{Now: t0, Tokens: 1, Inc: T, Fold: &Fold{From: 3, Delta: math.MaxInt64}},
			with(func(r *Row) { r.TAT = math.MaxInt64 }), Refused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.c.Limit, tt.c.Ver = l, max(6, tt.c.Ver)
			got, s := tt.c.Apply(tt.row, tt.found)
			if s != tt.s || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("Apply = %+v, %v\n want   %+v, %v", got, s, tt.want, tt.s)
			}
		})
	}
}

func TestApplyWithoutARate(t *testing.T) {
	row := Row{TAT: t0 + 5, Spent: 1}
	inc, _ := Limit{}.Charge(1, 0)
	if got, s := (Charge{Now: t0, Tokens: 1, Inc: inc}).Apply(row, true); s != Refused || !reflect.DeepEqual(got, row) {
		t.Errorf("rate 0: Apply = %+v, %v, want a refusal", got, s)
	}
	if got, s := (Charge{Limit: Unlimited(), Now: t0, Tokens: 1}).Apply(row, true); s != Charged || got.TAT != row.TAT || got.Spent != 2 {
		t.Errorf("unlimited: Apply = %+v, %v, want 2 spent and the same TAT", got, s)
	}
}
