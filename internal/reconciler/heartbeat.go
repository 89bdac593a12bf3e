package reconciler

import (
	"context"
	"errors"
	"slices"
	"time"

	"weir/pkg/ddbstore"
)

// beats is what heartbeats need of the config table.
type beats interface {
	PutHeartbeat(ctx context.Context, h ddbstore.Heartbeat) error
	Heartbeats(ctx context.Context, regions []string) ([]ddbstore.Heartbeat, error)
	PutSeen(ctx context.Context, s ddbstore.Seen) error
	SeenBy(ctx context.Context, region string) ([]ddbstore.Seen, error)
}

const (
	// beatEvery is how often a Region's schedule writes its heartbeat.
	beatEvery = int64(time.Minute)

	// cutAfter is how old the last heartbeat of a Region that is heard can be.
	cutAfter = 3 * beatEvery
)

// hear notes how old another Region's heartbeat is now that the stream brings it.
// Only its first arrival counts: a record that comes again says nothing of how
// long replication took.
func (r *Reconciler) hear(ctx context.Context, other string) error {
	if other == r.region {
		return nil
	}
	if !slices.Contains(r.regions, other) {
		r.log.Warn("heartbeat of a Region that is not in WEIR_REGIONS", "region", other)
		return nil
	}
	var beats []ddbstore.Heartbeat
	var seen []ddbstore.Seen
	err := r.pace.try(ctx, func() (err error) { beats, err = r.config.Heartbeats(ctx, []string{other}); return err })
	if err != nil || len(beats) == 0 {
		return err
	}
	now := r.now()
	if err := r.pace.try(ctx, func() (err error) { seen, err = r.config.SeenBy(ctx, r.region); return err }); err != nil {
		return err
	}
	at := beats[0].At
	if slices.ContainsFunc(seen, func(s ddbstore.Seen) bool { return s.Other == other && s.At >= at }) {
		return nil
	}
	return r.pace.try(ctx, func() error {
		return r.config.PutSeen(ctx, ddbstore.Seen{Region: r.region, Other: other, At: at, Lag: max(0, now-at)})
	})
}

// beat writes this Region's heartbeat: what it has seen of the others, and what
// the last round found.
func (r *Reconciler) beat(ctx context.Context, now int64) (ddbstore.Heartbeat, error) {
	h := ddbstore.Heartbeat{Region: r.region, At: now}
	last, err := r.config.Heartbeats(ctx, r.regions)
	if err != nil {
		return h, err
	}
	seen, err := r.config.SeenBy(ctx, r.region)
	if err != nil {
		return h, err
	}
	for _, other := range r.regions {
		b := beatOf(last, other)
		if other == r.region {
			h.Rows, h.Drift = b.Rows, b.Drift
			continue
		}
		lag, cut := heard(now, b, seenOf(seen, other))
		if cut {
			h.Cut = append(h.Cut, other)
		}
		if b.At > 0 {
			if h.Lag == nil {
				h.Lag = make(map[string]int64)
			}
			h.Lag[other] = lag
		}
	}
	job, err := r.config.Job(ctx, r.region, roundID)
	switch {
	case err == nil && job.Finished != 0:
		h.Rows, h.Drift = job.Changed+job.Skipped, job.Changed
	case err != nil && !errors.Is(err, ddbstore.ErrNotFound):
		return h, err
	}
	return h, r.config.PutHeartbeat(ctx, h)
}

// heard returns by how much another Region's writes are late here, ns, and whether
// they come at all. As long as heartbeats come, it is what the last one took; when
// they should have come and have not, it is at least the time since.
func heard(now int64, last ddbstore.Heartbeat, seen ddbstore.Seen) (lag int64, cut bool) {
	silent := now - last.At
	lag = seen.Lag
	if silent > 2*beatEvery {
		lag = max(lag, silent-beatEvery)
	}
	return lag, silent > cutAfter
}

func beatOf(all []ddbstore.Heartbeat, region string) ddbstore.Heartbeat {
	for _, h := range all {
		if h.Region == region {
			return h
		}
	}
	return ddbstore.Heartbeat{}
}

func seenOf(all []ddbstore.Seen, other string) ddbstore.Seen {
	for _, s := range all {
		if s.Other == other {
			return s
		}
	}
	return ddbstore.Seen{}
}
