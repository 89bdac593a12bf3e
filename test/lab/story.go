package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"weir/internal/replicator"
	"weir/internal/testworld"
)

// phase is a part of the story.
type phase struct {
	name    string
	what    happening
	offered float64 // as a multiple of the limit
	lasts   time.Duration
}

// happening is what a phase begins with.
type happening int

const (
	nothing happening = iota
	cold              // every authorizer starts
	cut               // the last Region is cut off from the others
	heal
	death // of the last Region
)

type story []phase

// The stories. The limit is saturated until a Region dies; then there is less
// traffic than the limit, so that nothing that moves need be refused.
var (
	longStory = story{
		{"cold starts", cold, 0, 4 * time.Second},
		{"even traffic", nothing, 3, 20 * time.Second},
		{"a Region cut off", cut, 3, 15 * time.Second},
		{"healed", heal, 3, 25 * time.Second},
		{"a pause", nothing, 0, 4 * time.Second},
		{"a Region dead", death, 0.6, 20 * time.Second},
	}
	shortStory = story{
		{"cold starts", cold, 0, 2 * time.Second},
		{"even traffic", nothing, 3, 7 * time.Second},
		{"a Region cut off", cut, 3, 6 * time.Second},
		{"healed", heal, 3, 10 * time.Second},
		{"a pause", nothing, 0, 3 * time.Second},
		{"a Region dead", death, 0.6, 7 * time.Second},
	}
)

// chapter is what became of a phase.
type chapter struct {
	phase
	from, to time.Duration // since the start of the story
	requests []*request

	charges, queries, lookups int64
	replication               replicator.Stats
}

// tell runs a story, and says on w how it goes.
func (l *lab) tell(ctx context.Context, s story, w io.Writer) (*result, error) {
	serving, stop := context.WithCancel(ctx)
	defer stop()
	epoch := time.Now()
	go l.serve(serving, epoch)

	rng := rand.New(rand.NewPCG(l.o.seed, 1))
	r := &result{o: l.o, limit: l.limit}
	for _, p := range s {
		fmt.Fprintf(w, "%-16s  %2.0f s, %2.0f requests/s\n", p.name, p.lasts.Seconds(), p.offered*float64(l.o.rate))
		c := chapter{phase: p, from: time.Since(epoch)}
		before := l.count()
		l.happen(p.what)
		requests, err := l.traffic(ctx, rng, p, epoch)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		c.requests = requests
		c.to = time.Since(epoch)
		after := l.count()
		c.charges, c.queries, c.lookups = after.charges-before.charges, after.queries-before.queries, after.lookups-before.lookups
		c.replication = after.replication.Since(before.replication)
		r.chapters = append(r.chapters, c)
	}
	drain, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := l.world.Buckets.Drain(drain); err != nil {
		return nil, err
	}
	for _, reg := range l.regions {
		rows, err := l.readRows(ctx, reg.Name)
		if err != nil {
			return nil, fmt.Errorf("read the rows of %s: %w", reg.Name, err)
		}
		r.rows = append(r.rows, rows)
	}
	r.behind = l.world.Buckets.Stats().BehindMean
	r.finish()
	var err error
	r.simulated, err = r.simulate()
	return r, err
}

// traffic offers a phase's requests.
func (l *lab) traffic(ctx context.Context, rng *rand.Rand, p phase, epoch time.Time) ([]*request, error) {
	if p.offered > 0 {
		return l.load(ctx, rng, p.offered*float64(l.o.rate), p.lasts)
	}
	var requests []*request
	if p.what == cold {
		var err error
		if requests, err = l.coldStarts(ctx, epoch); err != nil {
			return nil, err
		}
	}
	return requests, testworld.Sleep(ctx, p.lasts)
}

// happen makes something happen to the last Region.
func (l *lab) happen(what happening) {
	last := l.regions[len(l.regions)-1]
	switch what {
	case cut:
		l.world.Buckets.Pause(l.world.Buckets.Around(last.Name)...)
	case heal:
		l.world.Buckets.Resume()
	case death:
		for _, f := range last.Authorizers {
			f.Stop()
		}
		time.AfterFunc(noticed, func() { last.down.Store(true) })
	}
}

// counts are those of all Regions.
type counts struct {
	charges, queries, lookups int64
	replication               replicator.Stats
}

func (l *lab) count() counts {
	c := counts{replication: l.world.Buckets.Stats()}
	for _, r := range l.regions {
		calls := r.Calls()
		c.charges += calls.Charges
		c.queries += calls.Queries
		c.lookups += calls.Lookups
	}
	return c
}
