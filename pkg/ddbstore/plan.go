package ddbstore

import (
	"context"
	"fmt"
)

// Plan is a plan as it is stored. Its body is text that this package does not
// look into.
type Plan struct {
	Name    string
	Body    string
	Version int64
	Change  Change // that led to this version
}

const attrBody = "body"

func planKey(name string) string { return "PLAN#" + name }

// Plan returns the current version of a plan. It costs half a read unit per 4 KB
// of body.
func (c *Config) Plan(ctx context.Context, name string) (Plan, error) {
	it, err := c.get(ctx, planKey(name))
	if err != nil {
		return Plan{}, fmt.Errorf("read plan %q: %w", name, err)
	}
	d := decoder{it: it}
	p := Plan{Name: name, Body: d.text(attrBody)}
	p.Version, p.Change = d.change()
	if d.err != nil {
		return Plan{}, fmt.Errorf("read plan %q: %w", name, d.err)
	}
	return p, nil
}

// PutPlan makes p the version after p.Version and returns it.
func (c *Config) PutPlan(ctx context.Context, p Plan, ch Change) (Plan, error) {
	if p.Name == "" {
		return Plan{}, fmt.Errorf("write plan: it needs a name")
	}
	version, err := c.put(ctx, planKey(p.Name), item{attrBody: text(p.Body)}, p.Version, ch)
	if err != nil {
		return Plan{}, fmt.Errorf("write plan %q: %w", p.Name, err)
	}
	p.Version, p.Change = version, ch
	return p, nil
}
