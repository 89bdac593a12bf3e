package limiter

import (
	"context"
	"time"

	"weir/pkg/bucket"
)

const (
	// refreshEvery is how old the rows of other Regions may be before they are
	// read again, beside a charge. A second would do for the long-run rate, but
	// what arrives in lumps of a second refuses falsely near the limit.
	refreshEvery = int64(280 * time.Millisecond)

	// calmEvery is how old they may be while the bucket is fuller than half. What
	// other processes of this Region folded meanwhile comes with every charge.
	calmAsks  = 3
	calmEvery = 4 * refreshEvery

	// uselessAfter is how old they may be before a charge waits for new ones; at a
	// scarce bucket, where most tries are refused by them, that is refreshEvery.
	uselessAfter = 4 * refreshEvery
)

// peers is what a process knows of the other Regions' rows of one bucket.
type peers struct {
	rows []bucket.Row
	at   int64 // when they were read
	asks int   // charges since then
	pace pace
}

// refresh reads the rows of a bucket if those known are old. It returns a
// function that waits for the reading: it goes on beside the charge, except
// where nothing useful is known yet. A failed reading changes nothing: what is
// known stays in use, and what is not known is repaid once it is.
func (l *Limiter) refresh(ctx context.Context, now int64, e *entry, key string) (join func()) {
	age, due, useless := e.rowsAge(now)
	if age >= 0 && age < due {
		return func() {}
	}
	read := func() {
		if rows, err := l.store.Rows(ctx, key); err == nil {
			e.learn(now, l.region, rows)
		}
	}
	switch {
	case age < 0 || age > useless:
		read()
		return func() {}
	case l.serial:
		return read
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		read()
	}()
	return func() { <-done } // read is bounded by ctx
}

// rowsAge returns how old the known rows of other Regions are, -1 if there are
// none, and at what age they are due to be read again and useless.
func (e *entry) rowsAge(now int64) (age, due, useless int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.peers == nil:
		return -1, 0, 0
	case e.scarce(now):
		due, useless = refreshEvery, refreshEvery
	case 4*e.limit.Remaining(e.tat, now) >= 3*e.limit.Burst() && e.peers.asks < calmAsks:
		due, useless = calmEvery, calmEvery
	default:
		due, useless = refreshEvery, uselessAfter
	}
	e.peers.asks++
	return now - e.peers.at, due, useless
}

// learn takes over rows that were read at now.
func (e *entry) learn(now int64, region string, rows []bucket.Row) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.peers
	if p == nil {
		p = &peers{}
		e.peers = p
	}
	p.asks = 0
	p.at, p.rows = now, make([]bucket.Row, 0, len(rows))
	for _, row := range rows {
		switch {
		case row.Region != region:
			p.rows = append(p.rows, row)
			e.notice(row)
		case !e.known || newer(row, e.row):
			e.row, e.known = row, true
			e.follow(now, row)
		}
	}
	p.pace.note(now, e.row, p.rows)
}

// newer reports whether a was written after b, of the same Region.
func newer(a, b bucket.Row) bool {
	switch {
	case a.Born != b.Born:
		return a.Born > b.Born
	case a.Fold != b.Fold:
		return a.Fold > b.Fold
	case a.Ver != b.Ver:
		return a.Ver > b.Ver
	}
	return a.At > b.At
}
