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
	mixed       bool  // some of the lease was charged under another limit
	follows     bool  // the limit is known from the row alone; see follow
	gone        bool  // the table has it no longer
	carry       int8  // a bucket.Carry: see Check
	credit      int64 // tokens charged and not yet spent: the lease
	creditUntil int64
	denyUntil   int64 // refusal memory
	tat         int64 // of the whole bucket as last computed, under limit
	left        int64 // whole tokens in the bucket at leftAt; see leftFor
	leftAt      int64 // 0 if it must be counted anew
	ripe        int64 // when the last token of the lease is there; see ripeIn
	demand      demand

	// What is in force: the newest that a check or this Region's row has said.
	limit  *bucket.Limit // see intern
	ver    int64
	newest int64 // version of any Region's row; ver or newer
	most   int64 // a request may cost; -1 if the limit admits nothing or everything
	since  int64 // see Check

	row   bucket.Row // this Region's row as last seen
	peers *peers     // the other Regions' rows; nil if never read
	ahead int64      // how much of tat is expected and not visible yet
	paid  int64      // remainder of Limit.Charge
	odd   int64      // ns charged for the lease beyond its tokens; see exchange

	wonAt     int64 // when tokens were charged last
	gap       int64 // between such charges, averaged, ns
	refusedAt int64

	queue   []*waiter // requests that wait for the call in flight, in their order
	first   int64     // tokens spent before the bucket was known, not charged yet
	offline int64     // TAT of this process's own count, while the store cannot tell
	wasted  int64     // write units spent on refusals
}

// noLimit is that of a bucket that no check has named yet.
var noLimit = &bucket.Limit{}

// newEntry returns the entry of a bucket of which tat is remembered from the last
// one that was dropped, 0 if nothing is.
func newEntry(tat int64) *entry { return &entry{tat: tat, limit: noLimit} }

// level sets the TAT that the bucket is known to have under the limit in force;
// e.mu is held.
func (e *entry) level(tat int64) { e.tat, e.leftAt = tat, 0 }

// local decides c from memory alone. Its Result is complete unless the verdict
// is ask.
func (l *Limiter) local(now int64, c *Check, r *Result, most int64) verdict {
	r.Name, r.FromMemory, r.Mode = c.Name, true, c.Mode
	if c.Mode == Off {
		r.Limit, r.Ver = c.Limit, c.Ver
		r.Allowed, r.Remaining = true, c.Limit.Remaining(0, now)
		return allow
	}
	e := l.table.lockKnown(c.Key)
	if e == nil {
		if c.fixed() { // nothing need be kept in mind
			return r.answer(c.Limit, c.Ver)
		}
		e = l.table.lock(c.Key, now)
	}
	e.demand.add(now, c.Cost)
	v := e.local(now, c, r, most)
	e.mu.Unlock()
	return v
}

// local fills r from what is known; e.mu is held.
func (e *entry) local(now int64, c *Check, r *Result, most int64) verdict {
	// Of one version there is one limit; should that be wrong, prepare finds out.
	if e.ver != c.Ver || c.Ver == 0 && *e.limit != c.Limit {
		if e.ver == 0 && c.Ver == 0 && c.fixed() {
			return r.answer(c.Limit, 0)
		}
		e.adopt(now, c)
	}
	if e.fixed(c.Cost) {
		return r.answer(*e.limit, e.newest)
	}
	if c.Cost == 0 { // takes nothing, so nothing need be written
		e.describe(now, c, r, true)
		if w := e.limit.Wait(e.tat, now, 0); w > 0 {
			r.Allowed, r.Wait = false, w
			return refuse
		}
		return allow
	}
	reach := patienceOf(c, most)
	if e.credit >= c.Cost && now < e.creditUntil {
		if held := e.ripeIn(now, c.Cost); held <= reach {
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
	r.Limit, r.Ver = *e.limit, e.newest
	return ask
}

// describe fills r from the level last known, for a limit that is not fixed; e.mu
// is held.
func (e *entry) describe(now int64, c *Check, r *Result, allowed bool) {
	r.Limit, r.Ver = *e.limit, e.newest
	r.Allowed = allowed
	if now < e.leftAt || now-e.leftAt >= leftFor {
		e.left, e.leftAt = e.limit.Remaining(e.tat, now), now
	}
	r.Remaining = min(e.most, e.left+e.ripeBy(now))
	r.Full = time.Duration(max(0, e.tat-now))
	r.Wait = 0
	if !allowed {
		r.Wait = e.limit.Wait(e.tat, now, c.Cost)
	}
}

// leftFor is for how long a count of tokens may be reported again: a division is a
// good part of a decision from memory.
const leftFor = int64(time.Millisecond)

// handBack puts tokens of a refused request back into the process's lease; e.mu
// is held.
func (e *entry) handBack(now int64, c *Check, r *Result) {
	e.adopt(now, c)
	e.lend(now, c.Cost, 2*horizonTight)
	e.mixed = e.mixed || r.Ver != e.newest
	if !e.fixed(c.Cost) {
		e.describe(now, c, r, true)
	}
}
