package limiter

import "time"

// unknown answers a check that the store could not decide, by its OnError.
func (l *Limiter) unknown(now int64, e *entry, c *Check, r *Result) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l.unknownLocked(now, e, c, r)
}

// unknownLocked is unknown with e.mu held.
func (l *Limiter) unknownLocked(now int64, e *entry, c *Check, r *Result) {
	e.adopt(now, c)
	if e.fixed(c.Cost) { // then nobody need be asked
		r.answer(*e.limit, e.newest)
		return
	}
	r.Limit, r.Ver = *e.limit, e.newest
	r.Unknown, r.FromMemory, r.Remaining, r.Full, r.Hold = true, false, -1, 0, 0
	switch c.OnError {
	case Admit:
		r.Allowed = true
	case Deny:
		// Until when nobody knows; a second is the least that a client can be told.
		r.Allowed, r.Wait = false, time.Second
	case AdmitLocal:
		if e.temp {
			r.Allowed, r.Wait = false, time.Second
			break
		}
		r.Wait = e.countOffline(now, c, l.processes)
		r.Allowed = r.Wait == 0
	}
}

// countOffline takes c.Cost from this process's part of the bucket, one in
// processes, by its own count, and returns how long to wait if it holds too
// little; e.mu is held. A part may be less than one request: then one passes as
// often as the part's rate says.
func (e *entry) countOffline(now int64, c *Check, processes int64) time.Duration {
	inc := e.limit.Time(c.Cost * processes)
	depth := max(int64(e.limit.Depth()), inc)
	tat := max(e.offline, now) + inc
	if wait := tat - depth - now; wait > 0 {
		return time.Duration(wait)
	}
	e.offline = tat
	return 0
}
