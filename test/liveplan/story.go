package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"weir/internal/testworld"
	"weir/pkg/bucket"
)

// pause is between two requests of the flood to one authorizer: in all Regions
// together that is more than any version of the plan allows.
const pause = 30 * time.Millisecond

// A change has settled settles after every authorizer has honoured it; what is
// admitted is then counted for counted.
const (
	settles = 3 * time.Second
	counted = 3 * time.Second
)

// change is one change of the plan.
type change struct {
	to    limits
	carry bucket.Carry
}

// changes are made one after the other, and again from the first. Each raises or
// lowers both limits; the last leaves the plan as it was.
var changes = []change{
	{limits{60, 8000}, bucket.Proportional},
	{limits{20, 4000}, bucket.Proportional},
	{limits{50, 6000}, bucket.Additive},
	{limits{25, 5000}, bucket.AsIs},
	{limits{70, 9000}, bucket.AsIs},
	{limits{30, 4000}, bucket.Proportional},
}

// tell makes the changes and measures, and says on w how it goes.
func (s *stage) tell(ctx context.Context, w io.Writer) (*result, error) {
	r := &result{o: s.o}
	should, err := s.spend(ctx)
	if err != nil {
		return nil, err
	}
	all := s.probers(flood)
	r.probers = all
	stop := probe(ctx, all, pause)
	defer stop()
	if _, err := awaitAll(ctx, all, time.Now().UnixNano(), quotes(firstLimits.perSecond)); err != nil {
		return nil, fmt.Errorf("the first version of the plan: %w", err)
	}
	was := firstLimits
	for i := range s.o.changes {
		c := changes[i%len(changes)]
		d, err := s.change(ctx, w, r, was, c, should)
		if err != nil {
			return nil, fmt.Errorf("change %d: %w", i+1, err)
		}
		was, should = c.to, d
	}
	stop()
	if r.revoked, err = s.loses(ctx, leaver, "unauthorized", "key", "revoke", leaver, "--all", "--yes"); err != nil {
		return nil, fmt.Errorf("revoke a key: %w", err)
	}
	if r.suspended, err = s.loses(ctx, debtor, "tenant_suspended", "tenant", "suspend", debtor, "--reason", "liveplan", "--yes"); err != nil {
		return nil, fmt.Errorf("suspend a tenant: %w", err)
	}
	lag := s.world.Config.Stats()
	r.lag, r.lagMax = lag.LagMean, lag.LagMax
	return r, nil
}

// change makes one change, waits until it has settled, and returns the level that
// the bystander should have.
func (s *stage) change(ctx context.Context, w io.Writer, r *result, was limits, c change, should level) (level, error) {
	if err := s.apply(ctx, c.to, c.carry.String()); err != nil {
		return level{}, err
	}
	p, err := s.world.Home().Consistent().Plan(ctx, planName)
	if err != nil {
		return level{}, err
	}
	took, err := awaitAll(ctx, r.probers, p.Stamp, quotes(c.to.perSecond))
	if err != nil {
		return level{}, err
	}
	m := made{at: p.Stamp, was: was, change: c, took: took}
	to, err := bucket.NewLimit(bucket.Rate{Count: c.to.perHour, Period: time.Hour}, c.to.perHour)
	if err != nil {
		return level{}, err
	}
	should = should.change(p.Stamp, c.carry, to)
	if m.off, err = s.awaitLevel(ctx, should); err != nil {
		return level{}, err
	}
	if err := testworld.Sleep(ctx, settles); err != nil {
		return level{}, err
	}
	m.from = time.Now().UnixNano()
	if err := testworld.Sleep(ctx, counted); err != nil {
		return level{}, err
	}
	m.to = time.Now().UnixNano()
	r.made = append(r.made, m)
	fmt.Fprintln(w, m.text(r))
	return should, nil
}

// quotes is true for a reply that quotes the limit and was decided by it.
func quotes(limit int64) func(reply) bool {
	return func(r reply) bool { return r.limit == limit && (r.code == "ok" || r.code == "rate_limited") }
}

// loses runs a command that takes something away from a tenant, and returns how
// long after it was begun the last authorizer answers with code. Before, every
// authorizer has served the tenant.
func (s *stage) loses(ctx context.Context, tenant, code string, command ...string) (time.Duration, error) {
	all := s.probers(tenant)
	stop := probe(ctx, all, 10*pause)
	defer stop()
	if _, err := awaitAll(ctx, all, 0, func(r reply) bool { return r.allowed }); err != nil {
		return 0, err
	}
	at := time.Now().UnixNano()
	if err := s.run(ctx, command...); err != nil {
		return 0, err
	}
	took, err := awaitAll(ctx, all, at, func(r reply) bool { return r.code == code })
	if err != nil {
		return 0, err
	}
	return longest(took), nil
}
