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
	refreshEvery = int64(250 * time.Millisecond)

	// uselessAfter is how old they may be before a charge waits for new ones.
	uselessAfter = 4 * refreshEvery
)

// peers is what a process knows of the other Regions' rows of one bucket.
type peers struct {
	rows []bucket.Row
	at   int64 // when they were read
	pace pace
}

// refresh reads the rows of a bucket if those known are old. It returns a
// function that waits for the reading: it goes on beside the charge, except
// where nothing useful is known yet. A failed reading changes nothing: what is
// known stays in use, and what is not known is repaid once it is.
func (l *Limiter) refresh(ctx context.Context, now int64, e *entry, key string) (join func()) {
	e.mu.Lock()
	age := int64(-1)
	if e.peers != nil {
		age = now - e.peers.at
	}
	e.mu.Unlock()
	if age >= 0 && age < refreshEvery {
		return func() {}
	}
	read := func() {
		if rows, err := l.store.Rows(ctx, key); err == nil {
			e.learn(now, l.region, rows)
		}
	}
	switch {
	case age < 0 || age > uselessAfter:
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

// learn takes over rows that were read at now. The Region's own row is known
// better from charges, once there was one.
func (e *entry) learn(now int64, region string, rows []bucket.Row) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.peers
	if p == nil {
		p = &peers{}
		e.peers = p
	}
	p.at, p.rows = now, make([]bucket.Row, 0, len(rows))
	for _, row := range rows {
		switch {
		case row.Region != region:
			p.rows = append(p.rows, row)
		case !e.known:
			e.row, e.known = row, true
		}
	}
	p.pace.note(now, e.row, p.rows)
}
