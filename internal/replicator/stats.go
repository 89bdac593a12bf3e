package replicator

import "time"

// Stats counts what a Replicator has done.
type Stats struct {
	Writes    int // of processes in all Regions, as their streams show them
	Applied   int // replicated writes
	Older     int // not applied, because the target had a later write
	Coalesced int // not applied, because a later write of the item took their place on the way

	LagMean, LagMax time.Duration // of Applied, since the write that was applied
	BehindMean      time.Duration // of Applied: how much of it was not asked for

	lagSum, behindSum time.Duration
}

// Stats returns the counts so far.
func (r *Replicator) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stats
}

func (s *Stats) applied(lag, behind time.Duration) {
	s.Applied++
	s.lagSum += lag
	s.behindSum += behind
	s.LagMax = max(s.LagMax, lag)
	s.means()
}

func (s *Stats) means() {
	s.LagMean, s.BehindMean = 0, 0
	if n := time.Duration(s.Applied); n > 0 {
		s.LagMean, s.BehindMean = s.lagSum/n, s.behindSum/n
	}
}

// Since returns what has been counted since t was; LagMax stays that of all.
func (s Stats) Since(t Stats) Stats {
	s.Writes -= t.Writes
	s.Applied -= t.Applied
	s.Older -= t.Older
	s.Coalesced -= t.Coalesced
	s.lagSum -= t.lagSum
	s.behindSum -= t.behindSum
	s.means()
	return s
}
