package limiter

import (
	"math"
	"time"

	"weir/pkg/bucket"
)

const (
	paceMarks   = 16
	paceSpacing = int64(500 * time.Millisecond)
	paceMemory  = 4 * float64(time.Second) // time constant of the averages
	paceMaxAge  = 10 * int64(time.Second)  // of a row that still counts as active

	// Expected spend counts fully once the bucket is paceFull full of spend that
	// is visible, and not at all below paceFrom.
	paceFrom, paceFull = 0.9, 1.0
)

// pace estimates what other Regions have spent that cannot be seen yet. When a
// bucket is drained in several Regions at once, each sees the same free space
// and would take all of it. So each assumes that the others do now, in the time
// that is still invisible, what it does itself, scaled by how their spend
// compared with its own over the last seconds. If it holds back, it may assume
// that they do too, and the sum settles instead of swinging. The estimate is
// never charged to a row: it only delays, and a wrong one is gone with the next
// reading. docs/adr/0006 has the figures.
type pace struct {
	marks       [paceMarks]mark
	n           int     // marks noted so far
	own, others float64 // tokens per ns, averaged
}

// mark is this Region's and the others' total spend at a time.
type mark struct{ at, own, others int64 }

// note records spends as just read.
func (p *pace) note(now, own int64, others []bucket.Row) {
	m := mark{at: now, own: own}
	for i := range others {
		m.others += others[i].Spent
	}
	if p.n > 0 {
		last := p.marks[(p.n-1)%paceMarks]
		dt := now - last.at
		if dt < paceSpacing && dt >= 0 {
			return
		}
		if dt < 0 || m.own < last.own || m.others < last.others { // a clock or a row began anew
			*p = pace{}
		} else {
			keep := math.Exp(-float64(dt) / paceMemory)
			p.own = p.own*keep + (1-keep)*float64(m.own-last.own)/float64(dt)
			p.others = p.others*keep + (1-keep)*float64(m.others-last.others)/float64(dt)
		}
	}
	p.marks[p.n%paceMarks] = m
	p.n++
}

// unseen returns the time, in ns, that spend which is not visible yet probably
// adds to the bucket's level tat.
func (p *peers) unseen(l bucket.Limit, spent, tat, now int64) int64 {
	depth := float64(l.Depth())
	weight := (float64(max(0, tat-now))/depth - paceFrom) / (paceFull - paceFrom)
	if weight <= 0 || p.pace.own <= 0 {
		return 0
	}
	var age, active int64
	for i := range p.rows {
		if a := now - p.rows[i].At; a < paceMaxAge {
			age += max(0, a)
			active++
		}
	}
	if active == 0 {
		return 0
	}
	scale := min(p.pace.others/p.pace.own, 2*float64(active))
	mine := float64(spent - p.pace.spentBy(now-age/active))
	return l.Time(int64(mine * scale * min(1, weight)))
}

// spentBy returns this Region's total spend at time t, between marks by a
// straight line.
func (p *pace) spentBy(t int64) int64 {
	newer := p.marks[(p.n-1)%paceMarks]
	for i := p.n - 2; i >= 0 && i >= p.n-paceMarks && newer.at > t; i-- {
		m := p.marks[i%paceMarks]
		if m.at <= t {
			part := float64(t-m.at) / float64(newer.at-m.at)
			return m.own + int64(part*float64(newer.own-m.own))
		}
		newer = m
	}
	return newer.own
}
