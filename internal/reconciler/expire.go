package reconciler

import (
	"context"
	"errors"
	"fmt"

	"weir/pkg/ddbstore"
)

// author signs what the reconciler changes by itself.
const author = "weir-reconciler"

// changes is what the reconciler needs of the config table to change the
// configuration, which it does in the home Region only.
type changes interface {
	Home(ctx context.Context) (string, error)
	Plans(ctx context.Context) ([]string, error)
	Plan(ctx context.Context, name string) (ddbstore.Plan, error)
	Write(ctx context.Context, ch ddbstore.Change, puts ...ddbstore.Put) ([]ddbstore.Put, error)
}

// expire closes the credentials of a tenant whose time is over, and returns how
// many. They are refused already, by their date; now everybody can see it, and
// nobody can bring one back by a clock that is slow.
func (r *Reconciler) expire(ctx context.Context, tenant string) (closed int64, err error) {
	var all []ddbstore.Credential
	err = r.pace.try(ctx, func() (err error) { all, err = r.config.CredentialsOf(ctx, tenant); return err })
	if err != nil {
		return 0, err
	}
	now := r.now()
	for _, c := range all {
		if c.Status != ddbstore.CredentialActive || c.Expires == 0 || c.Expires > now {
			continue
		}
		c.Status = ddbstore.CredentialExpired
		done, err := r.write(ctx, c, "it has expired")
		if err != nil {
			return closed, fmt.Errorf("close credential: %w", err)
		}
		if done {
			closed++
		}
	}
	return closed, nil
}

// write makes a change in the reconciler's name. It reports false, and no error,
// if somebody else was faster: the next run sees what is left to do.
func (r *Reconciler) write(ctx context.Context, put ddbstore.Put, reason string) (bool, error) {
	err := r.pace.try(ctx, func() error {
		_, err := r.config.Write(ctx, ddbstore.Change{Author: author, Reason: reason, At: r.now()}, put)
		return err
	})
	if errors.Is(err, ddbstore.ErrConflict) || errors.Is(err, ddbstore.ErrHome) {
		return false, nil
	}
	return err == nil, err
}
