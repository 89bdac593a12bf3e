package limiter

import "time"

// Stats is what a process has in mind, and what it has cost, for metrics.
type Stats struct {
	Buckets  int64 // kept in mind
	Entries  int64 // of these, with more than how full they were
	Overflow int64 // requests that found no room for an entry, since the start
	Leases   int64 // buckets of which tokens are in hand
	Tokens   int64 // in hand

	Skew  time.Duration // see SkewSeen
	Costs Costs
}

// Stats returns what there is at now. It looks at every entry, which takes up to
// some milliseconds: it is for reports, not for requests.
func (l *Limiter) Stats(now int64) Stats {
	s := Stats{
		Buckets: l.table.size.Load(), Entries: l.table.entries.Load(), Overflow: l.table.overflow.Load(),
		Skew: l.SkewSeen(), Costs: l.Costs(),
	}
	l.table.each(func(_ string, e *entry) {
		e.mu.Lock()
		defer e.mu.Unlock()
		if n := e.spendable(now); n > 0 {
			s.Leases++
			s.Tokens += n
		}
	})
	return s
}
