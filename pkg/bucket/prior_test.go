package bucket

import (
	"testing"
	"time"
)

// What Merge makes of rows of several versions, case by case.
func TestMergeVersions(t *testing.T) {
	from, to := must(t, 10, time.Second, 10), must(t, 20, time.Second, 40) // 1 s and 2 s deep
	const changed, now = t0 + sec/2, t0 + sec
	charged := func(region string, l Limit, ver, at, n int64) Row {
		r, s := Charge{Limit: l, Ver: ver, Now: at, Tokens: n, Inc: l.Time(n)}.Apply(Row{Region: region}, false)
		if s != Charged {
			t.Fatal(s)
		}
		return r
	}
	terms := func(c Carry) Rescale { return Rescale{Limit: to, Ver: 2, Carry: c, Since: changed, Now: now} }
	carried := func(r Row, c Carry) Row {
		r, _ = terms(c).Apply(r)
		return r
	}
	// At the change a has 5 of 10 used, and b spent 2 a moment ago that a has not seen.
	a, b := charged("a", from, 1, t0, 10), charged("b", from, 1, changed, 2)
	later, _ := Charge{Limit: to, Ver: 2, Now: now, Tokens: 4, Inc: to.Time(4)}.Apply(carried(b, Proportional), true)

	for _, tt := range []struct {
		name  string
		own   Row
		peers []Row
		c     Rescale
		used  int64 // of 40, half a second after the change, in which 10 refill
	}{
		{"both of the older", a, []Row{b}, terms(Proportional), 20 + 8 - 10},
		{"own carried over", carried(a, Proportional), []Row{b}, terms(Proportional), 20 + 8 - 10},
		{"both carried over", carried(a, Proportional), []Row{carried(b, Proportional)}, terms(Proportional), 20 + 8 - 10},
		{"the other carried over and charged", carried(a, Proportional), []Row{later}, terms(Proportional), 20 + 8 - 10 + 4},
		{"as many used", carried(a, Additive), []Row{b}, terms(Additive), 0},
		{"as many used, and now", carried(a, Additive), []Row{b}, Rescale{Limit: to, Ver: 2, Carry: Additive, Since: changed, Now: changed}, 5 + 2},
		{"as many left", carried(a, AsIs), []Row{b}, terms(AsIs), 35 + 2 - 10},
		{"filled", carried(a, Reset), []Row{b}, terms(Reset), 0},
		{"filled, and now", carried(a, Reset), []Row{b}, Rescale{Limit: to, Ver: 2, Carry: Reset, Since: changed, Now: changed}, 0},
		{"late, beyond what is there", carried(charged("a", from, 1, changed, 9), Proportional), []Row{charged("b", from, 1, changed, 9)}, terms(Proportional), 40 - 10},
		{"of a newer version, whose mode is not known", charged("a", to, 2, now, 4),
			[]Row{charged("b", from, 3, now, 5)}, Rescale{Limit: to, Ver: 2, Carry: Reset, Since: changed, Now: now}, 4 + 20},
		{"that do not say", Row{Region: "a", TAT: now + sec, Spent: 20, At: now, Born: 1, Ver: 99}, nil, terms(Proportional), 20},
		{"without versions", charged("a", from, 0, now, 10), nil, Rescale{Limit: to, Now: now}, 20},
		{"twice, the newer carried over", Row{Region: "c"}, []Row{carried(a, Reset), a}, terms(Proportional), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := tt.c.Merge(tt.own, tt.peers, DefaultGrace)
			if got := to.Level(g.TAT, tt.c.Now); got != tt.used || !g.Complete {
				t.Errorf("%d used, complete %v, want %d", got, g.Complete, tt.used)
			}
		})
	}
}
