package ddbstore

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// MaxWrite is how many puts one Write takes: DynamoDB takes a hundred items in a
// transaction, and a tenant that changes its plan is up to six.
const MaxWrite = 16

// copies of an item that one put writes, at most: the current version, that of
// the history, and a list's.
const copies = 3

// Put is a Plan, a Tenant or a Credential to be written. Its Version is that
// which the change is based on, 0 to create; its Stamp and Change do not matter.
type Put interface {
	subject() subject
	base() int64
	check() error

	// item returns the attributes, without key, version, stamp and change.
	item() item

	// listed says which lists it must be added to and removed from, given the
	// item that it replaces, nil if there is none.
	listed(was item) (put, remove []place)

	// written returns what there is once it has been written.
	written(version, stamp int64, ch Change) Put
}

// place is where a list has an entry.
type place struct {
	pk, sk string
	copied bool // the entry has all attributes of what is listed
}

// Write makes each put the version after the one it is based on, all of them or
// none, and returns them as they are then. They share one stamp.
//
// A stamp is ns since the Unix epoch: ch.At, or if that is not above the last
// stamp of the table the next one above, and even. So stamps order all changes
// of the configuration, whatever the clocks of their writers say; they never go
// back. A writer whose clock is ahead by a year takes the stamps of all that
// come after it there: they still order the changes, but are no times.
//
// The errors: a *ConflictError (ErrConflict) if something is not at the version
// that its put is based on, which is never tried again; a *HomeError (ErrHome)
// if the configuration is written in another Region; ErrConflict alone if so
// many others write that this one does not get its turn; ErrThrottled,
// ErrUnavailable or the error of the context. After the last two it may have
// been written: read before trying again. Anything else refuses what cannot be
// written, and says why.
//
// An answer that was lost is asked for again, once, and does not make two
// changes. See the package comment for what it costs and may call.
func (c *Config) Write(ctx context.Context, ch Change, puts ...Put) ([]Put, error) {
	drafts, err := drafts(ch, puts)
	if err != nil {
		return nil, fmt.Errorf("write: %w", err)
	}
	floor := ch.At
	for i := range drafts {
		if err := c.replace(ctx, &drafts[i]); err != nil {
			return nil, fmt.Errorf("write: %w", err)
		}
		d := decoder{it: drafts[i].was}
		floor = max(floor, d.number(attrStamp)+1)
	}
	t := &transaction{clock: clock{floor: floor}, home: c.homeCheck(ch)}
	err = c.transact(ctx, t, func(stamp int64) (actions []action) {
		for n, d := range drafts {
			actions = append(actions, c.write(d, ch, stamp, n)...)
		}
		return actions
	})
	if err != nil {
		return nil, fmt.Errorf("write: %w", err)
	}
	written := make([]Put, len(drafts))
	for i, d := range drafts {
		written[i] = d.put.written(d.put.base()+1, t.stamp, ch)
	}
	return written, nil
}

// putOne is Write of one.
func putOne[P Put](ctx context.Context, c *Config, ch Change, p P) (P, error) {
	var none P
	written, err := c.Write(ctx, ch, p)
	if err != nil {
		return none, err
	}
	return written[0].(P), nil
}

// draft is a put that is about to be made.
type draft struct {
	put  Put
	item item // of the new version, without key and stamp
	was  item // that it replaces; nil if there is none
}

// drafts refuses what cannot be written, before anything is called.
func drafts(ch Change, puts []Put) ([]draft, error) {
	if len(puts) == 0 || len(puts) > MaxWrite {
		return nil, fmt.Errorf("%d changes together: want 1 to %d: write more one after the other", len(puts), MaxWrite)
	}
	var (
		drafts []draft
		seen   = make(map[subject]bool)
		size   int
	)
	for _, p := range puts {
		s := p.subject()
		d, err := newDraft(p, ch)
		if err == nil && seen[s] {
			err = errors.New("it is there twice: a change has one version of each")
		}
		if err != nil {
			return nil, fmt.Errorf("%v: %w", s, err)
		}
		seen[s] = true
		size += copies * sizeOf(d.item)
		drafts = append(drafts, d)
	}
	if size > maxTransaction {
		return nil, fmt.Errorf("%d changes together: they come to %d bytes and DynamoDB takes %d at once: write some of them later", len(puts), size, maxTransaction)
	}
	return drafts, nil
}

func newDraft(p Put, ch Change) (draft, error) {
	if err := errors.Join(p.check(), ch.check()); err != nil {
		return draft{}, err
	}
	if p.base() < 0 {
		return draft{}, fmt.Errorf("version %d: want 0 to create, or the version the change is based on", p.base())
	}
	it := p.item()
	it[attrVersion] = num(p.base() + 1)
	ch.write(it)
	if size := sizeOf(it) + maxKey; size > maxItem {
		return draft{}, fmt.Errorf("its %d bytes are too many: DynamoDB takes %d an item, its keys included", size, maxItem)
	}
	return draft{put: p, item: it}, nil
}

// replace reads what the draft is to replace. Lists are to be changed by what was
// in it, and who is late should hear so from a read, which costs less.
func (c *Config) replace(ctx context.Context, d *draft) error {
	base, s := d.put.base(), d.put.subject()
	if base == 0 {
		return nil // the transaction finds out
	}
	was, err := c.Consistent().get(ctx, s.key(), current)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("%v: %w", s, err)
	}
	now := decoder{it: was}
	if now.number(attrVersion) == base {
		d.was = was
		return nil
	}
	// Away from home, what is missing may just not have arrived.
	home, err := c.Consistent().Home(ctx)
	switch {
	case err != nil:
		return err
	case home != "" && home != c.region:
		return &HomeError{Home: home, Region: c.region}
	}
	return conflict(s, base, was)
}

// write returns the items of a draft under a stamp: the current version, which
// must replace what was read, the same for the history, an entry in the feed,
// and what has to change in lists.
func (c *Config) write(d draft, ch Change, stamp int64, n int) []action {
	s, base := d.put.subject(), d.put.base()
	d.item[attrStamp] = num(stamp)
	put, remove := d.put.listed(d.was)

	condition, values := "attribute_not_exists(pk)", item(nil)
	if base > 0 {
		condition, values = "ver = :base", item{":base": num(base)}
	}
	actions := []action{
		c.putIf(keyed(d.item, s.key(), current), condition, values, func(found item) error { return conflict(s, base, found) }),
		c.put(keyed(d.item, s.key(), versionKey(base+1))),
		c.put(changedItem(Changed{Kind: s.kind, ID: s.id, Version: base + 1, Stamp: stamp, Change: ch}, n)),
	}
	for _, p := range put {
		entry := item{}
		if p.copied {
			entry = d.item
		}
		actions = append(actions, c.put(keyed(entry, p.pk, p.sk)))
	}
	for _, p := range remove {
		actions = append(actions, action{write: types.TransactWriteItem{
			Delete: &types.Delete{TableName: &c.table, Key: primaryKey(p.pk, p.sk)},
		}})
	}
	return actions
}

// keyed returns the item at a key.
func keyed(it item, pk, sk string) item {
	at := primaryKey(pk, sk)
	maps.Copy(at, it)
	return at
}

// stamped reports whether an item is of the kind that is listed and has a
// history, and not from before that.
func stamped(it item) bool { return it[attrStamp] != nil }

// optional adds a text, unless there is none.
func optional(it item, name, value string) {
	if value != "" {
		it[name] = text(value)
	}
}
