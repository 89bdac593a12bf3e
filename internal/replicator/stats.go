package replicator

import "time"

// Stats counts what a Replicator has done.
type Stats struct {
	Writes    int // of processes in all Regions, as their streams show them
	Applied   int // replicated writes
	Older     int // not applied, because the target had a later write
	Coalesced int // not applied, because a later write of the item took their place on the way

	LagMean, LagMax time.Duration // of Applied, from the first of the writes that one stands for

	lagSum time.Duration
}

// Stats returns the counts so far.
func (r *Replicator) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stats
}

func (s *Stats) applied(lag time.Duration) {
	s.Applied++
	s.lagSum += lag
	s.LagMean = s.lagSum / time.Duration(s.Applied)
	s.LagMax = max(s.LagMax, lag)
}

// Since returns what has been counted since t was; LagMax stays that of all.
func (s Stats) Since(t Stats) Stats {
	s.Writes -= t.Writes
	s.Applied -= t.Applied
	s.Older -= t.Older
	s.Coalesced -= t.Coalesced
	s.lagSum -= t.lagSum
	s.LagMean = 0
	if s.Applied > 0 {
		s.LagMean = s.lagSum / time.Duration(s.Applied)
	}
	return s
}
