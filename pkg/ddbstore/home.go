package ddbstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ErrHome: the configuration is written in another Region. It is a *HomeError,
// which says where.
var ErrHome = errors.New("the configuration is written in another Region")

// HomeError refuses a change that was to be made outside the home Region.
type HomeError struct {
	Home   string // where the configuration is written
	Region string // where the change was to be made; "" if the writer did not say
}

func (e *HomeError) Error() string {
	if e.Region == "" {
		return fmt.Sprintf("the configuration is written in %s, and this writer does not say that it is there: name its Region", e.Home)
	}
	return fmt.Sprintf("the configuration is written in %s, not in %s: make the change there, or move the home first", e.Home, e.Region)
}

// Is makes it an ErrHome.
func (e *HomeError) Is(target error) bool { return target == ErrHome }

const attrHome = "home"

// Home returns the Region in which the configuration is written, "" if none is
// set: the first writer that says where it is will set it. It costs half a read
// unit.
func (c *Config) Home(ctx context.Context) (string, error) {
	it, err := c.get(ctx, metaKey, homeKey)
	if errors.Is(err, ErrNotFound) {
		return "", nil
	}
	d := decoder{it: it}
	home := d.text(attrHome)
	if err = errors.Join(err, d.err); err != nil {
		return "", fmt.Errorf("read home Region: %w", err)
	}
	return home, nil
}

// MoveHome makes a Region the home. In the present home it hands over: nothing is
// written any more here at once, nor there before replication has brought the
// news. In the Region that is to be the home it takes over, for when the present
// home is lost: should that be alive and only cut off, it goes on writing until
// it hears of this, and of what both write the later stays; so stop its writers
// first. From anywhere else it is a *HomeError. Before the first change in the
// new home, allow replication some seconds: what has not arrived there yet would
// be overwritten unseen.
//
// If to is the home already, nothing is done. It is a change like others: it has
// a stamp, and an entry in the feed, of KindHome. The errors are those of Write.
func (c *Config) MoveHome(ctx context.Context, to string, ch Change) error {
	if err := errors.Join(checkID("a Region", to), ch.check()); err != nil {
		return fmt.Errorf("move home: %w", err)
	}
	is, err := c.Consistent().Home(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("move home: %w", err)
	case is == to:
		return nil
	case is != "" && c.region != is && c.region != to:
		return fmt.Errorf("move home: %w", &HomeError{Home: is, Region: c.region})
	}
	t := &transaction{clock: clock{floor: ch.At}, home: home{from: is, to: to, change: ch}}
	err = c.transact(ctx, t, func(stamp int64) []action {
		return []action{c.put(changedItem(Changed{Kind: KindHome, ID: to, Stamp: stamp, Change: ch}, 0))}
	})
	if err != nil {
		return fmt.Errorf("move home to %s: %w", to, err)
	}
	return nil
}

// home is what a change demands of the home Region, or does to it. It is an item
// apart from the clock: it must not be written with every change, or one that a
// Region makes which has not heard yet that it is no longer the home would, as
// the later write, undo the move.
type home struct {
	region string // the home must be this one; "" if there must be none
	claim  bool   // there is none: region becomes it

	from, to string // it is moved
	change   Change
}

func (c *Config) homeCheck(ch Change) home { return home{region: c.region, change: ch} }

// action checks or sets the home.
func (h *home) action(c *Config, stamp int64) action {
	switch {
	case h.to != "":
		return h.move(c, stamp)
	case h.claim:
		return c.putIf(h.item(h.region, stamp), "attribute_not_exists(pk)", nil, h.refused)
	}
	check := &types.ConditionCheck{
		TableName:                           &c.table,
		Key:                                 primaryKey(metaKey, homeKey),
		ConditionExpression:                 aws.String("attribute_not_exists(pk)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if h.region != "" {
		check.ConditionExpression = aws.String("home = :me")
		check.ExpressionAttributeValues = item{":me": text(h.region)}
	}
	return action{write: types.TransactWriteItem{ConditionCheck: check}, failed: h.refused}
}

// refused looks at the home that there is instead. None is one to claim.
func (h *home) refused(found item) error {
	d := decoder{it: found}
	is := d.text(attrHome)
	h.claim = is == "" && h.region != ""
	if is == "" || is == h.region {
		return d.err
	}
	return &HomeError{Home: is, Region: h.region}
}

func (h *home) item(region string, stamp int64) item {
	it := keyed(item{attrHome: text(region), attrStamp: num(stamp)}, metaKey, homeKey)
	h.change.write(it)
	return it
}

func (h *home) move(c *Config, stamp int64) action {
	condition, values := "attribute_not_exists(pk)", item(nil)
	if h.from != "" {
		condition, values = "home = :from", item{":from": text(h.from)}
	}
	return c.putIf(h.item(h.to, stamp), condition, values, func(found item) error {
		d := decoder{it: found}
		return fmt.Errorf("%w: it was moved meanwhile, from %q to %q, by %s", ErrConflict, h.from, d.text(attrHome), d.text(attrAuthor))
	})
}
