package ddbstore

import (
	"context"
	"fmt"
	"math"
)

// Changed is an entry of the feed: something has a new version.
type Changed struct {
	Kind    string // KindPlan ...
	ID      string // name of a plan, id of a tenant, hash of a credential in hex, home Region
	Version int64  // 0 of a home
	Stamp   int64
	Change  Change
}

const (
	attrKind = "kind"
	attrID   = "id"
)

// Changes returns what was changed under stamps above since, newest first, at
// most so many; more says that there are others, older ones. With nothing new it
// costs half a read unit, and half a one per 4 KB of entries (about 20).
//
// Entries may come into sight out of order, above all in other Regions than that
// where they were made: who follows the feed is to look back by more than
// replication takes, and to skip what it knows. Nothing is ever removed: this is
// the audit trail, too.
func (c *Config) Changes(ctx context.Context, since int64, most int) (newest []Changed, more bool, err error) {
	if err := checkMost(most); err != nil {
		return nil, false, fmt.Errorf("read changes: %w", err)
	}
	most = min(most, math.MaxInt-1)
	from := since
	if from < math.MaxInt64 {
		from++
	}
	items, _, err := c.query(ctx, span{pk: changesKey, from: stampKey(from), newest: true}, most+1)
	if err != nil {
		return nil, false, fmt.Errorf("read changes: %w", err)
	}
	for _, it := range items[:min(len(items), most)] {
		ch, err := changedOf(it)
		if err != nil {
			return nil, false, fmt.Errorf("read changes: %w", err)
		}
		newest = append(newest, ch)
	}
	return newest, len(items) > most, nil
}

// changedItem is the n-th entry under its stamp.
func changedItem(ch Changed, n int) item {
	it := keyed(item{
		attrKind:    text(ch.Kind),
		attrID:      text(ch.ID),
		attrVersion: num(ch.Version),
		attrStamp:   num(ch.Stamp),
	}, changesKey, changeKey(ch.Stamp, n))
	ch.Change.write(it)
	return it
}

func changedOf(it item) (Changed, error) {
	d := decoder{it: it}
	ch := Changed{
		Kind:    d.text(attrKind),
		ID:      d.text(attrID),
		Version: d.number(attrVersion),
		Stamp:   d.number(attrStamp),
		Change:  d.change(),
	}
	return ch, d.err
}
