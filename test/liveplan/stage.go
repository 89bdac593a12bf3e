package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"weir/internal/directory"
	"weir/internal/testworld"
	"weir/pkg/ddbstore"
)

var regionNames = []string{"eu-west-1", "us-east-1", "ap-northeast-1"}

// Who is on the plan. The flood is on its limit all the time; the bystander has
// used part of a slow one and then rests, so that its level says what a change
// did to it. The leaver loses its key, the debtor is suspended.
const (
	flood     = "acme"
	bystander = "globex"
	leaver    = "hooli"
	debtor    = "initech"
)

// keyOf returns a tenant's API key.
func keyOf(tenant string) string { return tenant + "-live-key-1" }

type options struct {
	changes   int
	processes int // authorizers in each Region
	lag       time.Duration
	seed      uint64
}

func defaults() options {
	return options{changes: 12, processes: 2, lag: 500 * time.Millisecond, seed: 1}
}

// stage is three Regions, running, and the operator's command.
type stage struct {
	o     options
	world *testworld.World
	dir   string
	weir  string // path of the command
}

// start builds everything up. The caller closes it.
func start(ctx context.Context, o options) (_ *stage, err error) {
	s := &stage{o: o}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.dir, err = os.MkdirTemp("", "weir-liveplan-"); err != nil {
		return nil, err
	}
	s.weir = filepath.Join(s.dir, "weir")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", s.weir, "weir/cmd/weir").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build cmd/weir: %w\n%s", err, out)
	}
	s.world, err = testworld.Start(ctx, testworld.Options{
		Regions: regionNames, Processes: o.processes, Reconciler: true, Lag: o.lag, Seed: o.seed,
		// Longer than a deployment's: the machine is busy with all three Regions.
		Env: []string{"WEIR_STORE_TIMEOUT=5s"},
	})
	if err != nil {
		return nil, err
	}
	if err := s.apply(ctx, firstLimits, "proportional"); err != nil {
		return nil, err
	}
	if err := s.admit(ctx); err != nil {
		return nil, fmt.Errorf("write tenants: %w", err)
	}
	return s, s.world.Config.Drain(ctx)
}

func (s *stage) close() {
	if s.world != nil {
		s.world.Close()
	}
	os.RemoveAll(s.dir)
}

// admit writes the tenants and their keys.
func (s *stage) admit(ctx context.Context) error {
	c, ch := s.world.Home(), ddbstore.Change{Author: "liveplan", At: time.Now().UnixNano()}
	for _, id := range []string{flood, bystander, leaver, debtor} {
		if _, err := c.PutTenant(ctx, ddbstore.Tenant{ID: id, Plan: planName, Status: ddbstore.Active}, ch); err != nil {
			return err
		}
		cred := ddbstore.Credential{Hash: ddbstore.Hash(directory.HashOf(keyOf(id))), Tenant: id, LastFour: "ey-1"}
		if _, err := c.PutCredential(ctx, cred, ch); err != nil {
			return err
		}
	}
	return nil
}

const planName = "live"

// limits are those of one version of the plan. Both hold in all Regions together,
// with a burst as large as the number in the rate.
type limits struct {
	perSecond int64 // of everything but /v1/slow
	perHour   int64 // of /v1/slow
}

var firstLimits = limits{perSecond: 30, perHour: 4000}

// apply makes l the plan's limits, with the operator's command.
func (s *stage) apply(ctx context.Context, l limits, carry string) error {
	file := filepath.Join(s.dir, "plans.yaml")
	text := fmt.Sprintf(`plans:
  %s:
    limits:
      - { name: api, match: { resource: /v1/things }, rate: %d/s }
      - { name: slow, match: { resource: /v1/slow }, rate: %d/h }
`, planName, l.perSecond, l.perHour)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	return s.run(ctx, "plan", "apply", file, "--carry", carry, "--reason", "liveplan", "--yes")
}

// run runs the operator's command in the Region where configuration is written.
func (s *stage) run(ctx context.Context, args ...string) error {
	args = append(args, "--region", regionNames[0], "--endpoint", s.world.Engine.Endpoint(),
		"--config-table", testworld.ConfigTable, "--buckets-table", testworld.BucketsTable, "--author", "liveplan")
	cmd := exec.CommandContext(ctx, s.weir, args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("weir %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}
