package main

import (
	"context"
	"fmt"
	"time"

	"weir/internal/directory"
	"weir/internal/testworld"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// storeTimeout is longer than a deployment's: the machine is busy with all
// three Regions, and a request that waits in vain would be let through.
const storeTimeout = 5 * time.Second

var regionNames = []string{"eu-west-1", "us-east-1", "ap-northeast-1"}

type options struct {
	rate      int64 // of the limit, requests/s; its burst is one second's worth
	processes int   // in each Region
	lag       time.Duration
	seed      uint64
}

func defaults() options {
	return options{rate: 30, processes: 2, lag: time.Second, seed: 1}
}

// lab is three Regions, running.
type lab struct {
	o       options
	limit   bucket.Limit
	world   *testworld.World
	regions []*region
}

// start builds everything up. The caller closes it.
func start(ctx context.Context, o options) (*lab, error) {
	limit, err := bucket.NewLimit(bucket.Rate{Count: o.rate, Period: time.Second}, o.rate)
	if err != nil {
		return nil, err
	}
	w, err := testworld.Start(ctx, testworld.Options{
		Regions: regionNames, Processes: o.processes, Lag: o.lag, Seed: o.seed,
		Env: []string{"WEIR_STORE_TIMEOUT=" + storeTimeout.String()},
	})
	if err != nil {
		return nil, err
	}
	l := &lab{o: o, limit: limit, world: w}
	for _, r := range w.Regions {
		l.regions = append(l.regions, &region{Region: r, queue: make(chan *request, 10_000)})
	}
	if err := l.configure(ctx); err != nil {
		l.close()
		return nil, fmt.Errorf("configure: %w", err)
	}
	return l, nil
}

func (l *lab) close() { l.world.Close() }

// configure writes one plan, one tenant who has it, and the key in event.json,
// and waits until they are everywhere.
func (l *lab) configure(ctx context.Context) error {
	c, ch := l.world.Home(), ddbstore.Change{Author: "lab", At: time.Now().UnixNano()}
	body := fmt.Sprintf(`{"limits": [{"name": "api", "rate": "%d/s"}]}`, l.o.rate)
	if _, err := c.PutPlan(ctx, ddbstore.Plan{Name: "lab", Body: body}, ch); err != nil {
		return err
	}
	if _, err := c.PutTenant(ctx, ddbstore.Tenant{ID: "acme", Plan: "lab", Status: ddbstore.Active}, ch); err != nil {
		return err
	}
	if _, err := c.PutCredential(ctx, ddbstore.Credential{Hash: ddbstore.Hash(directory.HashOf("lab-key-1")), Tenant: "acme"}, ch); err != nil {
		return err
	}
	return l.world.Config.Drain(ctx)
}
