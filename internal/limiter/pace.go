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

	// Expected spend counts fully once the bucket is paceFull full of spend that
	// is visible, and not at all below paceFrom.
	paceFrom, paceFull = 0.8, 1.0
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
	own    average
	others []average // by Region, in no order
	marks  [paceMarks]mark
	n      int // marks noted so far
}

// mark is this Region's total spend at a time.
type mark struct{ at, spent int64 }

// average is the spend of one Region's row over the last seconds, by the times
// that the row itself gives: what arrives late and at once is not a burst.
type average struct {
	region string
	last   mark
	rate   float64 // tokens per ns
	seen   int64   // At of the row when it was last read
	lag    int64   // age of a row that has just changed, averaged
}

// note records the rows as just read.
func (p *pace) note(now int64, own bucket.Row, others []bucket.Row) {
	p.own.note(now, own)
	for i := range others {
		p.of(others[i].Region).note(now, others[i])
	}
	if p.n > 0 {
		last := p.marks[(p.n-1)%paceMarks]
		if now < last.at || own.Spent < last.spent { // the clock or the row began anew
			p.n = 0
		} else if now-last.at < paceSpacing {
			return
		}
	}
	p.marks[p.n%paceMarks] = mark{now, own.Spent}
	p.n++
}

func (p *pace) of(region string) *average {
	for i := range p.others {
		if p.others[i].region == region {
			return &p.others[i]
		}
	}
	p.others = append(p.others, average{region: region})
	return &p.others[len(p.others)-1]
}

func (a *average) note(now int64, row bucket.Row) {
	if row.At != a.seen {
		a.lag += (max(0, now-row.At) - a.lag) / 4
		a.seen = row.At
	}
	dt := row.At - a.last.at
	switch {
	case a.last.at == 0 || dt < 0 || row.Spent < a.last.spent:
		a.rate = 0
	case dt < paceSpacing:
		return
	default:
		keep := math.Exp(-float64(dt) / paceMemory)
		a.rate = a.rate*keep + (1-keep)*float64(row.Spent-a.last.spent)/float64(dt)
	}
	a.last = mark{row.At, row.Spent}
}

// unseen returns the time, in ns, that spend which is not visible yet probably
// adds to the bucket's level tat.
func (p *peers) unseen(l bucket.Limit, spent, tat, now int64) int64 {
	depth := float64(l.Depth())
	weight := (float64(max(0, tat-now))/depth - paceFrom) / (paceFull - paceFrom)
	if weight <= 0 || p.pace.n == 0 || p.pace.own.rate <= 0 {
		return 0
	}
	var age, active int64
	others := 0.0
	for i := range p.rows {
		a, of := now-p.rows[i].At, p.pace.of(p.rows[i].Region)
		if a <= 2*of.lag+paceSpacing { // else it has fallen silent
			age += max(0, a)
			active++
			others += of.rate
		}
	}
	if active == 0 {
		return 0
	}
	scale := min(others/p.pace.own.rate, 2*float64(active))
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
			return m.spent + int64(part*float64(newer.spent-m.spent))
		}
		newer = m
	}
	return newer.spent
}
