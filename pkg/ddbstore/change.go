package ddbstore

import (
	"errors"
	"fmt"
)

// Change says who changed something, why and when.
type Change struct {
	Author string // required; at most 256 bytes
	Reason string // at most 4,096 bytes
	At     int64  // ns since the Unix epoch, by the writer's clock
}

// Attributes that every item of the configuration has.
const (
	attrVersion = "ver"
	attrStamp   = "stamp" // absent in what was written before there were stamps
	attrAuthor  = "author"
	attrReason  = "reason"
	attrChanged = "changed"
)

// maxAt is the last time a change can have, in the year 2116: stamps need room
// above it.
const maxAt = 1 << 62

// check refuses changes that nobody answers for.
func (ch Change) check() error {
	switch {
	case ch.Author == "":
		return errors.New("a change needs an author")
	case len(ch.Author) > maxAuthor:
		return fmt.Errorf("an author of %d bytes is too long: at most %d", len(ch.Author), maxAuthor)
	case len(ch.Reason) > maxReason:
		return fmt.Errorf("a reason of %d bytes is too long: at most %d", len(ch.Reason), maxReason)
	case ch.At < 0 || ch.At > maxAt:
		return fmt.Errorf("a change at %d: want ns since the Unix epoch", ch.At)
	}
	return nil
}

// write adds the change to an item.
func (ch Change) write(it item) {
	it[attrAuthor] = text(ch.Author)
	it[attrReason] = text(ch.Reason)
	it[attrChanged] = num(ch.At)
}

// change decodes what Change.write has added.
func (d *decoder) change() Change {
	return Change{Author: d.text(attrAuthor), Reason: d.text(attrReason), At: d.number(attrChanged)}
}
