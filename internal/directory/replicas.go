package directory

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"time"

	"weir/internal/breaker"
	"weir/internal/plan"
	"weir/pkg/ddbstore"
)

// Replica is one Region's replica of the config table.
type Replica struct {
	Region string
	Source Source
	Feed   Feed // nil for none
}

// Replicas is a Source and a Feed that reads in this Region, and in others only
// while this one fails: in the order given, each with a deadline and a breaker of
// its own. What a replica says is taken for the truth, that something does not
// exist included; it may be as old as replication lags.
type Replicas struct {
	list  []guarded
	feeds []guarded // apart from those above: that one cannot be read says nothing of the other
}

var (
	_ Source = (*Replicas)(nil)
	_ Feed   = (*Replicas)(nil)
)

type guarded struct {
	Replica
	breaker *breaker.Breaker
}

// RegionError says why the configuration could not be read in a Region.
type RegionError struct {
	Region string
	Err    error
}

func (e *RegionError) Error() string { return e.Region + ": " + e.Err.Error() }

func (e *RegionError) Unwrap() error { return e.Err }

// UnreadableError says that the configuration could not be read anywhere.
type UnreadableError struct {
	Regions []*RegionError // in the order in which they were asked
}

// Error says why, for each Region.
func (e *UnreadableError) Error() string {
	var b strings.Builder
	b.WriteString("directory: configuration not readable in any Region")
	for _, r := range e.Regions {
		fmt.Fprintf(&b, "; %v", r)
	}
	return b.String()
}

// Unwrap returns the RegionErrors.
func (e *UnreadableError) Unwrap() []error {
	all := make([]error, len(e.Regions))
	for i, r := range e.Regions {
		all[i] = r
	}
	return all
}

const (
	// haste is the time below which a lookup asks this Region alone. Such a lookup
	// refreshes what can be served as it is, and another Region is farther away
	// than that.
	haste = 100 * time.Millisecond

	// readTime is what a lookup without a deadline may take.
	readTime = time.Second

	// replicaPause is longer than a store's: there are others to ask meanwhile.
	replicaPause = time.Second
)

// NewReplicas returns a Source that reads from the first replica, and from the
// others if it cannot. Outages are reported to log, slog.Default() if nil.
func NewReplicas(log *slog.Logger, first Replica, others ...Replica) *Replicas {
	r := &Replicas{}
	for i, p := range append([]Replica{first}, others...) {
		guard := func(what, is string) guarded {
			mode := what + " " + is + " read in other Regions"
			if i > 0 {
				mode = what + " " + is + " not read there"
			}
			return guarded{p, breaker.New(breaker.Options{
				Name:     what + " in " + p.Region,
				Mode:     mode,
				Failures: 1, // there are others
				Pause:    replicaPause,
				Patience: haste,
				Log:      log,
			})}
		}
		r.list = append(r.list, guard("configuration", "is"))
		if p.Feed != nil {
			r.feeds = append(r.feeds, guard("changes of configuration", "are"))
		}
	}
	return r
}

// Credential implements Source.
func (r *Replicas) Credential(ctx context.Context, h Hash) (Credential, error) {
	return read(ctx, r.list, func(ctx context.Context, p Replica) (Credential, error) { return p.Source.Credential(ctx, h) })
}

// Tenant implements Source.
func (r *Replicas) Tenant(ctx context.Context, id string) (plan.Tenant, error) {
	return read(ctx, r.list, func(ctx context.Context, p Replica) (plan.Tenant, error) { return p.Source.Tenant(ctx, id) })
}

// Plan implements Source.
func (r *Replicas) Plan(ctx context.Context, name string) (*plan.Plan, error) {
	return read(ctx, r.list, func(ctx context.Context, p Replica) (*plan.Plan, error) { return p.Source.Plan(ctx, name) })
}

// errNoFeed is returned for the feed of Replicas that have none.
var errNoFeed = errors.New("directory: no replica has a feed")

// Changes implements Feed.
func (r *Replicas) Changes(ctx context.Context, since int64, most int) ([]Change, bool, error) {
	if len(r.feeds) == 0 {
		return nil, false, errNoFeed
	}
	type page struct {
		newest []Change
		more   bool
	}
	got, err := read(ctx, r.feeds, func(ctx context.Context, p Replica) (got page, err error) {
		got.newest, got.more, err = p.Feed.Changes(ctx, since, most)
		return got, err
	})
	return got.newest, got.more, err
}

// read asks one Region after the other. The error is that of the first to answer,
// that of ctx, or an *UnreadableError.
func read[V any](ctx context.Context, list []guarded, get func(context.Context, Replica) (V, error)) (V, error) {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, readTime)
		defer cancel()
	}
	if timeLeft(ctx) < haste {
		list = list[:1]
	}
	var none V
	var failed []*RegionError
	for i, g := range list {
		part := timeLeft(ctx) / 2 // the rest is for the others
		if i == len(list)-1 {
			part = forever
		}
		v, err := ask(ctx, g, part, get)
		switch {
		case err == nil, errors.Is(err, ErrNotFound), errors.Is(err, ErrInvalid):
			return v, err
		case ctx.Err() != nil:
			return none, fmt.Errorf("%s: %w", g.Region, ctx.Err())
		case errors.Is(err, context.DeadlineExceeded): // that of its part: the caller has time left
			err = fmt.Errorf("%w: no answer within %v", ddbstore.ErrUnavailable, part)
		}
		failed = append(failed, &RegionError{g.Region, err})
	}
	return none, &UnreadableError{failed}
}

// forever is a part of a lookup's time that ends with the lookup.
const forever = time.Duration(math.MaxInt64)

// ask asks one Region for at most part.
func ask[V any](ctx context.Context, g guarded, part time.Duration, get func(context.Context, Replica) (V, error)) (v V, err error) {
	if part != forever {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, part)
		defer cancel()
	}
	err = g.breaker.Do(ctx, func() error {
		v, err = get(ctx, g.Replica)
		return err
	})
	return v, err
}

func timeLeft(ctx context.Context) time.Duration {
	t, _ := ctx.Deadline()
	return time.Until(t)
}
