package directory

import "context"

// Kind is of what a Change is.
type Kind string

// The kinds that a Cached keeps; of others it needs to know nothing.
const (
	PlanChanged       Kind = "plan"       // ID is its name
	TenantChanged     Kind = "tenant"     // ID is its id
	CredentialChanged Kind = "credential" // ID is its Hash in hex
)

// Change is an entry of a Feed: something is as it is since Stamp.
type Change struct {
	Kind  Kind
	ID    string
	Stamp int64 // grows over all changes; about ns since the Unix epoch
}

// Feed tells what has changed in a Source. It is safe for concurrent use.
type Feed interface {
	// Changes returns what was changed under stamps above since, newest first, at
	// most so many; more says that there are others, older ones. An entry may come
	// into sight later than newer ones, and sooner than the Source shows what it
	// tells of.
	Changes(ctx context.Context, since int64, most int) (newest []Change, more bool, err error)
}

// What is asked of a Feed.
const (
	window      = int64(120e9) // how far to look back for entries that came into sight late
	mostChanges = 100
)

// ledger is what has been read of a feed. The zero value is that of somebody who
// has read nothing.
type ledger struct {
	newest   int64 // stamp of the newest entry, 0 before the first
	newestAt int64 // when that was seen first
	complete int64 // of entries up to this stamp that were in sight at the last look, all were read or made up for
	settled  int64 // when all that was hidden at the last flood is sure to be in sight
}

// settle is for how long after a flood of changes everything is read anew, since
// what replicated late might not be among those that are named.
const settle = int64(3e9)

// since returns from which stamp on to read at now. It looks back from the newest
// entry rather than from now, as who made it may have another time; and only as
// long as anything older may still be on its way.
func (l *ledger) since(now int64) int64 {
	switch age := now - l.newestAt; {
	case l.newest == 0:
		return 0
	case age > window:
		return l.newest
	}
	return l.newest - window
}

// read enters what a look at now has brought, and reports whether there may be
// changes that it does not name.
func (l *ledger) read(now int64, changes []Change, more bool) (unnamed bool) {
	newest, oldest := l.newest, int64(0)
	for i, ch := range changes {
		newest = max(newest, ch.Stamp)
		if i == 0 || ch.Stamp < oldest {
			oldest = ch.Stamp
		}
	}
	first := l.newest == 0
	switch {
	case !more:
	case first && oldest < now-window: // what is not named is old
	case oldest > l.complete:
		l.settled = now + settle
	}
	if newest > l.newest {
		l.newest, l.newestAt = newest, now
	}
	l.complete = l.newest
	return more && now <= l.settled && l.settled-now <= settle
}
