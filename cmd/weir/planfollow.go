package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"weir/internal/operator"
	"weir/internal/plan"
	"weir/pkg/ddbstore"
)

// follow goes through the steps of canaries that were just written, and runs the
// check after each. They are paused for everybody else, so wherever this ends,
// nothing goes on by itself.
func (s *session) follow(ctx context.Context, c *ddbstore.Config, plans []ddbstore.Plan, w way, f changing) error {
	plans = withRollout(plans)
	for len(plans) > 0 {
		share, last, err := stepOf(plans[0])
		if err != nil {
			return err
		}
		if err := pause(ctx, w.every); err != nil {
			return stoppedAt(plans, share)
		}
		err = s.runCheck(ctx, w.check, plans, share)
		switch {
		case ctx.Err() != nil:
			return stoppedAt(plans, share)
		case err != nil:
			return s.takeBack(ctx, c, plans, share, f, err)
		case last && share != plan.Everybody:
			s.printf("The check is passed at %v, the last step. It stays so: `weir plan rollout %s next` gives it to everybody.\n", share, plans[0].Name)
			return nil
		}
		if plans, err = s.stepAll(ctx, c, plans, operator.Next, f, fmt.Sprintf("check passed at %v", share)); err != nil {
			return err
		}
		for _, p := range plans {
			text := "it is the plan now, for everybody"
			if p.Next != "" {
				next, _, _ := stepOf(p)
				text = fmt.Sprintf("%v have it", next)
			}
			s.printf("check passed at %v; plan %s, version %d: %s\n", share, p.Name, p.Version, text)
		}
		plans = withRollout(plans)
	}
	return nil
}

// withRollout returns the plans that have one.
func withRollout(plans []ddbstore.Plan) []ddbstore.Plan {
	var some []ddbstore.Plan
	for _, p := range plans {
		if p.Next != "" {
			some = append(some, p)
		}
	}
	return some
}

// stepOf returns the share that a plan's canary has reached, and whether no step
// follows it.
func stepOf(s ddbstore.Plan) (plan.Share, bool, error) {
	p, err := operator.PlanOf(s)
	if err != nil {
		return 0, false, err
	}
	return p.Next.Share, len(p.Next.Steps) == 0, nil
}

// pause returns after d, or as soon as ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return ctx.Err()
	}
}

// runCheck runs the check of a step. What it prints goes to standard error.
func (s *session) runCheck(ctx context.Context, command string, plans []ddbstore.Plan, share plan.Share) error {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	ownGroup(cmd) // an interrupt at the terminal is for this command, which then ends the check
	cmd.Env = append(os.Environ(), "WEIR_PLANS="+strings.Join(planNamesOf(plans), ","), "WEIR_SHARE="+share.String())
	cmd.Stdout, cmd.Stderr = s.err, s.err
	cmd.WaitDelay = time.Second // for what it leaves behind
	return cmd.Run()
}

func planNamesOf(plans []ddbstore.Plan) []string {
	names := make([]string, len(plans))
	for i, p := range plans {
		names[i] = p.Name
	}
	return names
}

// stepAll makes all the rollouts go a step, in one transaction.
func (s *session) stepAll(ctx context.Context, c *ddbstore.Config, plans []ddbstore.Plan, step operator.Step, f changing, why string) ([]ddbstore.Plan, error) {
	puts := make([]ddbstore.Put, len(plans))
	for i, stored := range plans {
		p, err := operator.PlanOf(stored)
		if err != nil {
			return nil, err
		}
		put, err := operator.Rollout(stored, p, step, s.now())
		if err != nil {
			return nil, err
		}
		puts[i] = put
	}
	ch := ddbstore.Change{Author: plans[0].Change.Author, Reason: why, At: s.now()}
	if f.reason != "" {
		ch.Reason = f.reason + " (" + why + ")"
	}
	return operator.Together[ddbstore.Plan](ctx, c, ch, puts...)
}

// takeBack ends the rollouts because a check has failed.
func (s *session) takeBack(ctx context.Context, c *ddbstore.Config, plans []ddbstore.Plan, share plan.Share, f changing, failed error) error {
	back, err := s.stepAll(ctx, c, plans, operator.Abort, f, fmt.Sprintf("check failed at %v", share))
	if err != nil {
		return fmt.Errorf("the check failed at %v (%w), and the change could not be taken back: %w\nDo it by hand: weir plan rollout %s abort", share, failed, err, plans[0].Name)
	}
	for _, p := range back {
		s.printf("plan %s, version %d: taken back, everybody has what was before\n", p.Name, p.Version)
	}
	return refusal{fmt.Errorf("the check failed at %v (%w), so the change was taken back", share, failed)}
}

// stoppedAt says how to go on after an interruption.
func stoppedAt(plans []ddbstore.Plan, share plan.Share) error {
	text := fmt.Sprintf("stopped at %v; the rollout is paused there and stays so. To go on, take it back, or let the reconciler go on:", share)
	for _, name := range planNamesOf(plans) {
		text += fmt.Sprintf("\n  weir plan rollout %s next|abort|resume", name)
	}
	return interruption{errors.New(text)}
}
