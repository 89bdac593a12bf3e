package limiter

import (
	"time"

	"weir/pkg/bucket"
)

// turnEvery is how soon after a refusal the store may be asked again because it
// was of another limit: see exchange.
const turnEvery = int64(50 * time.Millisecond)

// adopt makes c's limit the one in force, unless a newer version is; e.mu is held.
// A goroutine that still holds an old plan decides by the newest that the process
// has seen.
func (e *entry) adopt(now int64, c *Check) {
	if c.Ver < e.ver || c.Ver == e.ver && !e.follows && *e.limit == c.Limit {
		return
	}
	e.change(bucket.Rescale{Limit: c.Limit, Ver: c.Ver, Carry: c.Carry, Since: c.Since, Now: now})
}

// follow makes the limit of this Region's row the one in force, if it is of a newer
// version than any check so far: who brought the row to it knows more than this
// process. e.mu is held.
func (e *entry) follow(now int64, row bucket.Row) {
	e.notice(row)
	if row.Ver > e.ver && says(row) {
		e.change(bucket.Rescale{Limit: row.Limit, Ver: row.Ver, Now: now})
		e.follows = true
	}
}

// notice notes the version of any Region's row. That of another Region is not
// followed: by what carry this Region's row would have to be brought to it is not
// known here. But the caller is told, and reads its plan again. e.mu is held.
func (e *entry) notice(row bucket.Row) {
	if row.Ver > e.newest && says(row) {
		e.newest = row.Ver
	}
}

// says reports whether a row says what limit its TAT was computed with. Those of
// old did not, and their versions were those of plans.
func says(row bucket.Row) bool { return row.Limit != bucket.Limit{} }

// change brings e to the limit to, whose version is not older; e.mu is held.
//
// The bucket's level is carried over, and nothing is remembered of refusals by the
// limit before. The lease stays: its tokens are paid for. So a limit that was
// lowered is exceeded once, by what processes hold: each at most a twelfth of the
// old burst, at most the new burst, and for no longer than the lease lives, 5 s at
// most.
func (e *entry) change(to bucket.Rescale) {
	from, now := e.inForce(to.Now), to.Now
	e.limit, e.ver, e.carry, e.since = intern(to.Limit), to.Ver, int8(to.Carry), to.Since
	e.newest, e.follows = max(e.newest, e.ver), false
	e.most = to.Limit.Burst()
	if to.Limit.IsUnlimited() || to.Limit.IsZero() {
		e.most = -1
	}
	if from.Limit == to.Limit { // of a plan that changed elsewhere
		return
	}
	e.leftAt, e.paid = 0, 0
	switch {
	case from.Limit == bucket.Limit{}: // nothing was computed yet
	case from.Ver == 0 && to.Ver == 0:
		e.exchange(now, from.Limit)
	default:
		e.carryOver(from, to)
	}
}

// carry returns what becomes of a TAT of a row that was last charged at at.
func carry(tat, at int64, from, to bucket.Rescale) int64 {
	row, _ := to.Apply(bucket.Row{TAT: tat, At: at, Limit: from.Limit, Ver: from.Ver})
	return row.TAT
}

// carryRipe returns what becomes of a lease's ripe. Tokens of the future are owed,
// so many of them; those that were there when they were charged are there for good.
func carryRipe(ripe int64, from, to bucket.Rescale) int64 {
	if ripe <= to.Now {
		return ripe
	}
	return carry(ripe+int64(from.Limit.Depth()), to.Now, from, to) - int64(to.Limit.Depth())
}

// carryOver makes of what was computed under one limit what it is under another.
func (e *entry) carryOver(from, to bucket.Rescale) {
	e.level(carry(e.tat, e.row.At, from, to))
	e.ahead = 0
	e.ripe = carryRipe(e.ripe, from, to)
	e.offline = carry(e.offline, to.Now, from, to)
	e.denyUntil, e.refusedAt, e.gap = 0, 0, 0
	if e.most >= 0 {
		e.credit = min(e.credit, e.most)
	}
	e.mixed = e.credit > 0
}

// exchange is for limits without versions that take turns at one bucket, because
// tenants of different plans share it. None is newer; a TAT is read under each as
// it is, and so a lease is worth the time that was charged for it. A refusal counts
// for both, unless the other limit has room and the store was not asked just now:
// taking turns must not buy writes.
func (e *entry) exchange(now int64, from bucket.Limit) {
	worth := from.Time(e.credit) + e.odd
	e.credit = e.limit.Tokens(worth)
	e.odd = max(0, worth-e.limit.Time(e.credit))
	if now-e.refusedAt >= turnEvery && e.limit.Wait(e.tat, now, 1) == 0 {
		e.denyUntil = 0
	}
}

// inForce is the change that brings a row of the bucket to what is in force.
func (e *entry) inForce(now int64) bucket.Rescale {
	return bucket.Rescale{Limit: *e.limit, Ver: e.ver, Carry: bucket.Carry(e.carry), Since: e.since, Now: now}
}

// tatOf returns a row's TAT under the limit in force; e.mu is held.
func (e *entry) tatOf(now int64, row bucket.Row) int64 {
	if row.Ver == e.ver && (e.ver == 0 || row.Limit == *e.limit) {
		return row.TAT
	}
	row, _ = e.inForce(now).Apply(row)
	return row.TAT
}

// fixed reports whether the limit in force answers a request of that cost whatever
// the bucket holds; e.mu is held.
func (e *entry) fixed(cost int64) bool { return cost > e.most }

// fixed is the same of c's own limit.
func (c *Check) fixed() bool {
	return c.Limit.IsUnlimited() || c.Limit.IsZero() || c.Cost > c.Limit.Burst()
}

// answer fills r with what limit l, of version ver, answers whatever the bucket
// holds.
func (r *Result) answer(l bucket.Limit, ver int64) verdict {
	r.Limit, r.Ver = l, ver
	if l.IsUnlimited() {
		r.Allowed, r.Remaining = true, l.Remaining(0, 0)
		return allow
	}
	r.Allowed, r.Wait = false, bucket.Never
	return refuse
}
