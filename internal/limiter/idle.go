package limiter

// quietSlots is for how many slots of demand nobody must have asked for a bucket
// for it to be quiet: no lease or refusal lasts so long.
const quietSlots = 8

// idle reports whether e may be dropped to make room for another: it holds no
// tokens, is part of no call, remembers no refusal, and counts nothing that
// requests of the last seconds owe; e.mu is held.
func (e *entry) idle(now int64) bool {
	return !e.busy && len(e.queue) == 0 && e.spendable(now) == 0 && now >= e.denyUntil &&
		(e.quiet(now) || !e.owes(now))
}

// dormant reports whether nobody misses what e knows but its tat; e.mu is held.
func (e *entry) dormant(now int64) bool {
	return e.quiet(now) && e.idle(now) && !e.owes(now)
}

func (e *entry) quiet(now int64) bool { return now/demandSlot-e.demand.slot > quietSlots }

// owes reports whether requests passed that no store knows of, and that the bucket
// would not have refilled since. At rate 0 they cannot be charged.
func (e *entry) owes(now int64) bool {
	return e.offline > now || !e.limit.IsZero() && now-e.demand.slot*demandSlot < e.limit.Time(e.first)
}
