package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"weir/pkg/ddbstore"
)

// Reached is how far a Region has got with a change of a plan.
type Reached struct {
	Region  string `json:"region"`
	Plan    string `json:"plan"`
	Begun   bool   `json:"begun"`
	Done    bool   `json:"done"`
	Seen    int64  `json:"seen"`    // tenants
	Changed int64  `json:"changed"` // rows
	Failed  int64  `json:"failed"`
}

// Watch waits until the reconcilers of Regions have brought the rows of plans to
// what they say under a stamp.
type Watch struct {
	Config  *ddbstore.Config
	Regions []string
	Plans   []string
	Stamp   int64
	Every   time.Duration // how often to look
	Most    time.Duration // how long
	Show    func([]Reached)
}

// ErrNotYet ends a wait that has lasted as long as it may.
var ErrNotYet = errors.New("not yet")

// Wait returns when all Regions are through. If that takes too long, or ctx ends,
// the error says who is not. The change itself is made, and they go on.
func (w Watch) Wait(ctx context.Context) (all []Reached, err error) {
	err = poll(ctx, w.Every, w.Most, func() (bool, error) {
		now, err := w.look(ctx)
		if err != nil {
			return false, err
		}
		all = now
		if w.Show != nil {
			w.Show(all)
		}
		return !slices.ContainsFunc(all, func(r Reached) bool { return !r.Done }), nil
	})
	if err != nil {
		err = fmt.Errorf("the change is made, but not every Region is through with its buckets: %s: %w", behind(all), err)
	}
	return all, err
}

// poll calls f, at least once, until it reports true or an error, or ctx or the
// time ends.
func poll(ctx context.Context, every, most time.Duration, f func() (bool, error)) error {
	tick, end := time.NewTicker(every), time.NewTimer(most)
	defer tick.Stop()
	defer end.Stop()
	for {
		done, err := f()
		if done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-end.C:
			return ErrNotYet
		case <-tick.C:
		}
	}
}

func (w Watch) look(ctx context.Context) ([]Reached, error) {
	var all []Reached
	for _, region := range w.Regions {
		for _, name := range w.Plans {
			j, err := w.Config.Job(ctx, region, name)
			if err != nil && !errors.Is(err, ddbstore.ErrNotFound) {
				return nil, err
			}
			r := Reached{Region: region, Plan: name}
			if err == nil && j.Stamp >= w.Stamp {
				r.Begun, r.Done = true, j.Finished != 0
				r.Seen, r.Changed, r.Failed = j.Seen, j.Changed, j.Failed
			}
			all = append(all, r)
		}
	}
	return all, nil
}

// behind says which Regions are not through.
func behind(all []Reached) string {
	var parts []string
	for _, r := range all {
		switch {
		case r.Done:
		case r.Begun:
			parts = append(parts, fmt.Sprintf("%s is at tenant %d of plan %s", r.Region, r.Seen, r.Plan))
		default:
			parts = append(parts, fmt.Sprintf("%s has not begun with plan %s (is its reconciler running?)", r.Region, r.Plan))
		}
	}
	if len(parts) == 0 {
		return "it could not be seen"
	}
	return strings.Join(parts, ", ")
}
