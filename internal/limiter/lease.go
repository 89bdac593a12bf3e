package limiter

import (
	"time"

	"weir/pkg/bucket"
)

const (
	// A lease covers this process's own demand for a horizon: horizonTight while
	// the bucket is nearly empty, when tokens held here are tokens refused
	// elsewhere, growing to horizonFull while it is full.
	horizonTight = int64(400 * time.Millisecond)
	horizonFull  = int64(2500 * time.Millisecond)

	// A lease is at most a leaseShare of the burst; of a bucket that refills
	// slowly, where a lease that expires unspent is missed for long, at most what
	// refills in leaseRefill, or a slowShare of the burst.
	leaseShare  = 12
	slowShare   = 128
	leaseRefill = 2 * int64(time.Second)

	// leaseLife is for how many horizons a lease may be spent. It is paid for, so
	// late spending admits no more in the long run, but it does so later.
	leaseLife = 2

	// For scarceFor after a refusal a process does not chase single tokens: less
	// than a worthwhile part of a lease is not worth a write.
	scarceFor  = 2 * int64(time.Second)
	worthwhile = 2

	// demandSlot is the length of the slots in which demand is counted.
	demandSlot = int64(500 * time.Millisecond)
)

// demand counts the tokens that requests to this process ask for, served or not.
type demand struct {
	slot      int64 // number of the current slot
	cur, prev int64 // tokens asked for in it and in the one before
}

// add counts n tokens asked for at now.
func (d *demand) add(now, n int64) {
	switch s := now / demandSlot; s - d.slot {
	case 0:
	case 1:
		d.prev, d.cur, d.slot = d.cur, 0, s
	default:
		d.prev, d.cur, d.slot = 0, 0, s
	}
	d.cur += n
}

// within returns how many tokens will be asked for within h, judged by the
// current slot and as much of the last one as makes the two a slot long. After a
// pause that is no more than has been asked for since: a process that serves a
// request or two and goes cold strands nothing.
func (d *demand) within(now, h int64) int64 {
	rest := demandSlot - now%demandSlot
	n := (d.cur + d.prev*rest/demandSlot) * h / demandSlot
	if d.prev == 0 {
		return min(n, d.cur)
	}
	return n
}

// horizon returns how long a lease taken from a bucket with left tokens should
// last, in ns.
func horizon(l bucket.Limit, left int64) int64 {
	// From 0.3 of the burst, where it is tight, to 0.8, in hundredths.
	full := min(max(200*left/max(1, l.Burst())-60, 0), 100)
	return horizonTight + full*(horizonFull-horizonTight)/100
}

// leaseSize returns how many tokens to charge at once for requests that need
// need, with left tokens in the bucket, and for how long they may be spent.
func (e *entry) leaseSize(now, need, left int64) (tokens, life int64) {
	l := *e.limit
	h := horizon(l, left)
	if e.scarce(now) { // who wins seldom takes more at a time, so that fewer try
		h = max(h, min(e.gap, scarceFor))
	}
	most := min(l.Burst()/leaseShare, max(l.Tokens(leaseRefill), l.Burst()/slowShare))
	return max(need, min(e.demand.within(now, h), most)), leaseLife * h
}

// lend adds n charged tokens to the lease, to be spent within life; e.mu is held.
// What an expired lease still held is forfeited, never mixed with fresh tokens.
func (e *entry) lend(now, n, life int64) {
	if now >= e.creditUntil {
		e.credit, e.odd = 0, 0
	}
	if e.credit == 0 {
		e.mixed = false
	}
	if n > 0 {
		e.credit += n
		e.creditUntil = max(e.creditUntil, now+life)
	}
}

// spendable returns the tokens that may be spent from memory at now.
func (e *entry) spendable(now int64) int64 {
	if now >= e.creditUntil {
		return 0
	}
	return e.credit
}

// scarce reports whether the bucket refused this process lately.
func (e *entry) scarce(now int64) bool { return now-e.refusedAt < scarceFor }

// won notes that tokens were charged, for the pace of further tries: how long it
// takes to win some only says something while they are scarce.
func (e *entry) won(now int64) {
	if e.scarce(now) {
		e.gap += (now - e.wonAt - e.gap) / 4
	} else {
		e.gap = 0
	}
	e.wonAt = now
}

// refuse fills r and remembers the refusal of asked tokens; e.mu is held.
//
// A process that wants single tokens comes back exactly when there is one. One
// that wants leases comes back when there is a whole one again, but not all
// processes at once and each about twice as often as it succeeds: where many
// compete, most tries would only find that another was first.
func (l *Limiter) refuse(now int64, e *entry, c *Check, r *Result, asked, reach int64) {
	e.describe(now, c, r, false)
	pause := max(0, int64(r.Wait)-reach) // a held request comes in so much sooner
	if e.ahead > 0 {                     // an estimate refused, and it changes with every charge
		pause = min(pause, refreshEvery/4)
	}
	if asked > c.Cost {
		pause = max(pause, int64((0.5+l.rand())*float64(max(horizonTight, e.gap/2))))
		if e.peers == nil { // elsewhere more may come free than what refills
			pause = max(pause, int64(e.limit.Wait(e.tat, now, asked))-reach)
		}
	}
	e.denyUntil, e.refusedAt = now+min(pause, probeAfter), now
}
