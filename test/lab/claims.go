package main

import (
	"fmt"
	"maps"
	"time"
)

// claim is something that Weir promises.
type claim struct {
	text string
	got  string
	ok   bool
}

// stranded bounds the tokens that were charged and not used: an authorizer's
// lease that ran out or died with it, and a request whose answer was lost with
// the authorizer.
const stranded = 0.03

// claims holds the story against what Weir promises.
func (r *result) claims() []claim {
	var out []claim
	add := func(ok bool, text, got string, args ...any) {
		out = append(out, claim{text, fmt.Sprintf(got, args...), ok})
	}
	all := r.all()
	add(r.undecided == 0, "every request is decided", "%d of %d were not", r.undecided, all.offered+r.undecided)
	add(all.unchecked == 0, "none is let through unchecked", "%d were", all.unchecked)

	_, even := r.chapter(nothing)
	add(even.admitted >= 95*even.ideal/100 && even.admitted <= even.ideal+r.unseen(),
		"even traffic: the limit, and once what could not be seen yet", "%d where one bucket would admit %d; %d more would be too many", even.admitted, even.ideal, r.unseen()+1)

	_, apart := r.chapter(cut)
	add(apart.admitted >= 95*apart.ideal/100 && apart.admitted <= 2*apart.ideal+r.unseen(),
		"cut off: the limit on either side", "%d where one bucket would admit %d", apart.admitted, apart.ideal)

	c, _ := r.chapter(heal)
	settled := c.from + min(10*time.Second, c.lasts/2)
	after := r.between(settled, c.to)
	limit := float64(r.o.rate) * (c.to - settled).Seconds()
	wave := 2 * float64(r.o.rate) * r.o.lag.Seconds() // Regions that are late with each other go up and down together
	add(within(float64(after.admitted), limit/2, 1.05*limit+wave),
		fmt.Sprintf("healed: the limit again after %v", settled-c.from), "%d of %.0f in %v", after.admitted, limit, (c.to - settled).Round(time.Second))

	_, dead := r.chapter(death)
	add(1000*dead.falsely <= 3*dead.offered, "a Region dead: what moves is served", "%d of %d refused that one bucket would admit", dead.falsely, dead.offered)

	same, spent := true, int64(0)
	for i, rows := range r.rows {
		same = same && maps.Equal(rows, r.rows[0])
		if i == 0 {
			for _, n := range rows {
				spent += n
			}
		}
	}
	add(same, "all Regions have the same rows in the end", "%v", r.rows)
	admitted := int64(all.admitted - all.unchecked)
	unused := spent - admitted
	add(unused >= 0, "no charge is lost", "%d admitted, %d charged", admitted, spent)
	add(float64(unused) <= stranded*float64(admitted), "hardly any charge is unused", "%d of %d", unused, spent)
	simulated := sum(r.simulated)
	add(within(float64(all.admitted), simulated*(1-agreement), simulated*(1+agreement)),
		"the simulator says the same", "%d admitted here, %.0f there", all.admitted, simulated)
	return out
}

// unseen bounds what all Regions together may admit before they see each other:
// in each of the others a burst, and the rate for as long as a row takes there.
// Lags are up to one and a half times the mean, and rows are read now and then.
func (r *result) unseen() int {
	lag := 3*r.o.lag/2 + time.Second/2
	return (len(regionNames) - 1) * int(r.limit.Burst()+r.limit.Tokens(int64(lag)))
}

func within(x, least, most float64) bool { return least <= x && x <= most }
