package ddbstore

import (
	"context"
	"fmt"
)

// Plan is a plan as it is stored. Its body, its carry and its next are text that
// this package does not look into.
type Plan struct {
	Name    string
	Body    string
	Carry   string // what becomes of buckets whose limit it changes; "" is the default
	Next    string // the rollout of its next body; "" if there is none
	Version int64  // 1, 2, 3 ...
	Stamp   int64  // see Config.Write; 0 if written before there were stamps
	Change  Change // that led to this version
}

const (
	attrBody  = "body"
	attrCarry = "carry"
	attrNext  = "next"
)

// Plan returns the current version of a plan. It costs half a read unit per 4 KB
// of body and next.
func (c *Config) Plan(ctx context.Context, name string) (Plan, error) {
	it, err := c.get(ctx, planKey(name), current)
	if err != nil {
		return Plan{}, fmt.Errorf("read plan %q: %w", name, err)
	}
	return planOf(name, it)
}

// PutPlan makes p the version after p.Version and returns it: Write of one plan.
func (c *Config) PutPlan(ctx context.Context, p Plan, ch Change) (Plan, error) {
	return putOne(ctx, c, ch, p)
}

func planOf(name string, it item) (Plan, error) {
	d := decoder{it: it}
	p := Plan{
		Name:    name,
		Body:    d.text(attrBody),
		Carry:   d.text(attrCarry),
		Next:    d.text(attrNext),
		Version: d.number(attrVersion),
		Stamp:   d.number(attrStamp),
		Change:  d.change(),
	}
	if d.err != nil {
		return Plan{}, fmt.Errorf("read plan %q: %w", name, d.err)
	}
	return p, nil
}

func (p Plan) subject() subject { return subject{KindPlan, p.Name} }
func (p Plan) base() int64      { return p.Version }
func (p Plan) check() error     { return checkID("a name", p.Name) }

func (p Plan) item() item {
	it := item{attrBody: text(p.Body)}
	optional(it, attrCarry, p.Carry)
	optional(it, attrNext, p.Next)
	return it
}

// listed: a plan is in the list of plans.
func (p Plan) listed(was item) (put []place, remove []place) {
	if !stamped(was) {
		put = append(put, place{pk: plansKey, sk: p.Name})
	}
	return put, nil
}

func (p Plan) written(version, stamp int64, ch Change) Put {
	p.Version, p.Stamp, p.Change = version, stamp, ch
	return p
}
