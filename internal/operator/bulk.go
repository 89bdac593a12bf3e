package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"weir/pkg/ddbstore"
)

// InterruptedError ends what was told to stop between two writes. What is done is
// done, and nothing is half done. It is a context.Canceled.
type InterruptedError struct{ Done, Of int }

func (e *InterruptedError) Error() string {
	return fmt.Sprintf("stopped after %d of %d; nothing is half done", e.Done, e.Of)
}

// Is makes it a context.Canceled.
func (e *InterruptedError) Is(target error) bool { return target == context.Canceled }

// Left is what was not written, because somebody else had changed it meanwhile.
type Left struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// Bulk writes many things, a few in each transaction.
//
// Every change of configuration takes its stamp from one clock, so writing from
// several sides at once would only make them collide: the transactions go one
// after the other, as full as they can be.
type Bulk struct {
	Config   *ddbstore.Config
	Change   ddbstore.Change
	Now      func() int64 // the writer's clock, for each transaction; nil is Change.At for all
	Progress func(done, of int)
}

// writeTimeout is for one transaction. It goes on when the command is told to
// stop, so that it is known what became of it.
const writeTimeout = 20 * time.Second

// Write writes puts, and returns them as they are then. Those that somebody else
// has changed since are left alone and returned with the reason. It ends between
// two transactions when ctx does, with an InterruptedError; on another error
// what was written before is returned beside it.
func (b Bulk) Write(ctx context.Context, puts []ddbstore.Put) (written []ddbstore.Put, left []Left, err error) {
	for rest := puts; len(rest) > 0; {
		if ctx.Err() != nil {
			return written, left, &InterruptedError{Done: len(written), Of: len(puts)}
		}
		n := min(len(rest), ddbstore.MaxWrite)
		done, skipped, err := b.batch(ctx, rest[:n])
		written, left = append(written, done...), append(left, skipped...)
		if err != nil {
			return written, left, err
		}
		rest = rest[n:]
		if b.Progress != nil {
			b.Progress(len(written)+len(left), len(puts))
		}
	}
	return written, left, nil
}

// batch writes what fits one transaction, without what others have changed.
func (b Bulk) batch(ctx context.Context, puts []ddbstore.Put) (written []ddbstore.Put, left []Left, err error) {
	for len(puts) > 0 {
		written, err = b.once(ctx, puts)
		conflict, ok := errors.AsType[*ddbstore.ConflictError](err)
		if !ok {
			return written, left, err
		}
		rest := make([]ddbstore.Put, 0, len(puts))
		for _, p := range puts {
			if idOf(p) != conflict.ID {
				rest = append(rest, p)
			}
		}
		if len(rest) == len(puts) {
			return nil, left, err
		}
		left = append(left, Left{ID: conflict.ID, Why: conflict.Error()})
		puts = rest
	}
	return nil, left, nil
}

// once is one transaction. Whoever is told to be slower, or loses the race for a
// stamp, waits and tries again: nothing was written then.
func (b Bulk) once(ctx context.Context, puts []ddbstore.Put) ([]ddbstore.Put, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	var written []ddbstore.Put
	err := patiently(ctx, func() (err error) {
		if b.Now != nil { // one that is not above the last stamp costs a transaction more
			b.Change.At = b.Now()
		}
		written, err = b.Config.Write(ctx, b.Change, puts...)
		return err
	})
	return written, err
}

// Together writes puts of one kind in one transaction: all or none. It goes on to
// its end when ctx is cancelled.
func Together[P ddbstore.Put](ctx context.Context, c *ddbstore.Config, ch ddbstore.Change, puts ...ddbstore.Put) ([]P, error) {
	written, err := Bulk{Config: c, Change: ch}.once(ctx, puts)
	if err != nil {
		return nil, err
	}
	all := make([]P, len(written))
	for i, p := range written {
		all[i] = p.(P)
	}
	return all, nil
}

// idOf returns the id of a put as a ConflictError has it.
func idOf(p ddbstore.Put) string {
	switch p := p.(type) {
	case ddbstore.Plan:
		return p.Name
	case ddbstore.Tenant:
		return p.ID
	case ddbstore.Credential:
		return fmt.Sprintf("%x", p.Hash)
	}
	return ""
}

// Pauses between the tries of patiently.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 2 * time.Second
)

// patiently calls f again for as long as DynamoDB is too busy, or others write at
// the same time, with longer and longer pauses: about six seconds in all.
func patiently(ctx context.Context, f func() error) error {
	for pause := firstPause; ; pause *= 2 {
		err := f()
		var conflict *ddbstore.ConflictError
		again := errors.Is(err, ddbstore.ErrThrottled) || errors.Is(err, ddbstore.ErrConflict) && !errors.As(err, &conflict)
		if !again || pause > lastPause {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}
