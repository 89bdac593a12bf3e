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
	Show    func([]Reached)
}

// Wait returns when all Regions are through, or ctx ends; then the error says who
// is not. The change itself is made, and they go on.
func (w Watch) Wait(ctx context.Context) ([]Reached, error) {
	tick := time.NewTicker(w.Every)
	defer tick.Stop()
	var all []Reached
	for {
		now, err := w.look(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			return all, err
		case err == nil:
			all = now
			if w.Show != nil {
				w.Show(all)
			}
			if !slices.ContainsFunc(all, func(r Reached) bool { return !r.Done }) {
				return all, nil
			}
		}
		select {
		case <-ctx.Done():
			return all, fmt.Errorf("the change is made, but not every Region is through with its buckets: %s: %w", behind(all), ctx.Err())
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
