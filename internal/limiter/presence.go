package limiter

import (
	"context"
	"sync"
	"time"

	"weir/pkg/bucket"
)

const (
	// PresenceKey is the bucket whose rows say when each Region was last alive.
	// Its name is no limit's: those have no tilde.
	PresenceKey = "~presence"

	// IdleKey is the bucket whose rows say, about once a minute, that a Region is
	// alive although it has no requests. The reconciler charges it, and only if its
	// Region has not said so under PresenceKey.
	IdleKey = "~idle"

	// idleFor is for how long a row of IdleKey counts.
	idleFor = 90 * int64(time.Second)

	// presenceEvery is how often a Region says so, while it has requests for
	// limits that depend on it.
	presenceEvery = int64(time.Second)
)

// presence is which Regions can be heard: those whose row of PresenceKey is
// younger than the limiter's grace, and those that have said since then, under
// IdleKey, that they are only idle. A Region that is cut off while it is busy says
// neither, and is missed within grace. One that is cut off while it is idle is not
// missed for up to idleFor; until it has requests it admits nothing.
type presence struct {
	mu    sync.Mutex
	limit bucket.Limit // wide enough for any number of processes
	at    int64        // when it was read
	alive int          // Regions heard, this one included; 0 if never read
}

func newPresence() *presence {
	l, err := bucket.NewLimit(bucket.Rate{Count: 1000, Period: time.Second}, 1000)
	if err != nil {
		panic(err) // a constant
	}
	return &presence{limit: l}
}

// heard returns how many Regions can be heard, and says that this one is alive.
// It does I/O at most once a presenceEvery.
func (l *Limiter) heard(ctx context.Context, now int64) int {
	p := l.presence
	p.mu.Lock()
	alive, old := p.alive, p.alive == 0 || now-p.at >= presenceEvery
	if old {
		p.at = now // others use what is known meanwhile
	}
	p.mu.Unlock()
	if !old {
		return alive
	}
	rows, err := l.store.Rows(ctx, PresenceKey)
	if err != nil {
		return max(alive, 1)
	}
	alive = 1
	said := int64(0)
	for _, row := range rows {
		switch {
		case row.Region == l.region:
			said = row.At
		case now-row.At <= l.grace:
			alive++
		}
	}
	if alive < l.regions {
		alive += l.idle(ctx, now, rows)
	}
	if now-said >= presenceEvery {
		inc, _ := p.limit.Charge(1, 0)
		// A failure is another process's success, or is seen on the request itself.
		_, _ = l.store.Charge(ctx, PresenceKey, bucket.Charge{Limit: p.limit, Now: now, Tokens: 1, Inc: inc})
	}
	p.mu.Lock()
	p.alive = alive
	p.mu.Unlock()
	return alive
}

// idle returns how many Regions are only idle, of those that are silent by their
// rows of PresenceKey.
func (l *Limiter) idle(ctx context.Context, now int64, presence []bucket.Row) int {
	rows, err := l.store.Rows(ctx, IdleKey)
	if err != nil {
		return 0
	}
	n := 0
	for _, row := range rows {
		last := int64(0) // word under PresenceKey
		for _, p := range presence {
			if p.Region == row.Region {
				last = p.At
			}
		}
		if row.Region != l.region && now-last > l.grace && row.At > last && now-row.At <= idleFor {
			n++
		}
	}
	return n
}

// portion is the part of a limit that this Region may admit: heard of all.
type portion struct{ heard, all int64 }

// portion returns the part of c that this Region may admit now: all of it unless
// c.Share is set and some Regions cannot be heard. The Regions that can be heard
// share the rest by merging as ever.
func (l *Limiter) portion(ctx context.Context, now int64, c *Check) portion {
	if !c.Share || !l.merges(c) {
		return portion{1, 1}
	}
	n := int64(l.regions)
	return portion{min(int64(l.heard(ctx, now)), n), n}
}

// tokens returns the part of n tokens.
func (p portion) tokens(n int64) int64 { return n * p.heard / p.all }

// time returns what the part costs: the whole's increment for a part of it.
func (p portion) time(inc int64) int64 {
	if p.heard == p.all {
		return inc
	}
	q, r := inc/p.heard, inc%p.heard
	return q*p.all + (r*p.all+p.heard-1)/p.heard
}
