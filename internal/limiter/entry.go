package limiter

import (
	"sync"
	"time"

	"weir/pkg/bucket"
)

// probeAfter bounds how long a refusal is remembered, so that a process notices
// a raised limit or returned tokens soon, at one write a second and bucket.
const probeAfter = int64(time.Second)

// verdict is what memory alone can say.
type verdict int

const (
	allow verdict = iota
	refuse
	ask // only the store can tell
)

// entry is what this process knows of one bucket.
type entry struct {
	// What a decision from memory reads comes first, to be in few cache lines.
	mu          sync.Mutex
	busy        bool  // a store call is in flight
	known       bool  // row has been read or written
	strict      bool  // the bucket is in the strict store
	temp        bool  // not in the table: gone after this request, so nothing can be counted in it
	credit      int64 // tokens charged and not yet spent: the lease
	creditUntil int64
	denyUntil   int64 // refusal memory
	tat         int64 // of the whole bucket as last computed
	left        int64 // tokens in the bucket of that tat at leftAt; see remaining
	leftAt      int64
	leftOf      int64 // the tat it was computed from
	ripe        int64 // when the last token of the lease is there; see ripeIn
	ver         int64
	demand      demand
	limit       bucket.Limit // the limit the rest was computed with

	row   bucket.Row // this Region's row as last seen
	peers *peers     // the other Regions' rows; nil if never read
	ahead int64      // how much of tat is expected and not visible yet
	paid  int64      // remainder of Limit.Charge

	wonAt     int64 // when tokens were charged last
	gap       int64 // between such charges, averaged, ns
	refusedAt int64

	queue   []*waiter // requests that wait for the call in flight, in their order
	first   int64     // tokens spent before the bucket was known, not charged yet
	offline int64     // TAT of this process's own count, while the store cannot tell
	wasted  int64     // write units spent on refusals
}

// local decides c from memory alone. Its Result is complete unless the verdict
// is ask.
func (l *Limiter) local(now int64, c *Check, r *Result, most int64) verdict {
	r.Name, r.Limit, r.FromMemory, r.Mode = c.Name, c.Limit, true, c.Mode
	switch {
	case c.Mode == Off || c.Limit.IsUnlimited():
		r.Allowed, r.Remaining = true, c.Limit.Remaining(0, now)
		return allow
	case c.Limit.IsZero() || c.Cost > c.Limit.Burst():
		r.Wait = bucket.Never
		return refuse
	}
	e := l.table.lock(c.Key, now)
	e.demand.add(now, c.Cost)
	v := e.local(now, c, r, most)
	e.mu.Unlock()
	return v
}

// local fills r from what is known; e.mu is held.
func (e *entry) local(now int64, c *Check, r *Result, most int64) verdict {
	e.adopt(c)
	if c.Cost == 0 { // takes nothing, so nothing need be written
		e.describe(now, c, r, true)
		if w := c.Limit.Wait(e.tat, now, 0); w > 0 {
			r.Allowed, r.Wait = false, w
			return refuse
		}
		return allow
	}
	reach := patienceOf(c, most)
	if e.credit >= c.Cost && now < e.creditUntil {
		if held := e.ripeIn(now, c.Limit, c.Cost); held <= reach {
			e.credit -= c.Cost
			e.describe(now, c, r, true)
			r.Hold = time.Duration(held)
			return allow
		}
	}
	if now < e.denyUntil {
		e.describe(now, c, r, false)
		r.Wait = max(r.Wait, 1) // a token may be there by now; the next lease is not
		return refuse
	}
	if !e.known && e.tat == 0 && !e.temp && e.first+c.Cost <= c.Initial {
		e.first += c.Cost
		e.describe(now, c, r, true)
		r.Remaining -= e.first
		return allow
	}
	return ask
}

// adopt forgets what was computed under another limit; e.mu is held. A limit that
// was cut does not let tokens be spent that were charged at the old price.
func (e *entry) adopt(c *Check) {
	if e.ver == c.Ver && e.limit == c.Limit {
		return
	}
	if c.Limit.Burst() < e.limit.Burst() || c.Limit.Time(1) > e.limit.Time(1) {
		e.credit = 0
	}
	e.limit, e.ver, e.leftAt = c.Limit, c.Ver, 0
	e.paid, e.denyUntil, e.offline = 0, 0, 0
}

// describe fills r from the level last known; e.mu is held.
func (e *entry) describe(now int64, c *Check, r *Result, allowed bool) {
	r.Allowed = allowed
	r.Remaining = min(c.Limit.Burst(), e.remaining(now, c.Limit)+e.ripeBy(now, c.Limit))
	r.Full = c.Limit.Full(e.tat, now)
	r.Wait = 0
	if !allowed {
		r.Wait = c.Limit.Wait(e.tat, now, c.Cost)
	}
}

// leftFor is for how long a count of tokens may be reported again: a division is a
// good part of a decision from memory.
const leftFor = int64(time.Millisecond)

// remaining returns the whole tokens in the bucket, as of at most leftFor ago;
// e.mu is held.
func (e *entry) remaining(now int64, l bucket.Limit) int64 {
	if e.leftOf != e.tat || now < e.leftAt || now-e.leftAt >= leftFor {
		e.left, e.leftAt, e.leftOf = l.Remaining(e.tat, now), now, e.tat
	}
	return e.left
}

// handBack puts tokens of a refused request back into the process's lease; e.mu
// is held.
func (e *entry) handBack(now int64, c *Check, r *Result) {
	e.lend(now, c.Cost, 2*horizonTight)
	e.describe(now, c, r, true)
}
