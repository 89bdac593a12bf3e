package testworld

import (
	"context"
	"fmt"

	"weir/internal/streampump"
	"weir/internal/testbootstrap"
)

// Region is one Region: its functions, and what they say to the store.
type Region struct {
	Index       int
	Name        string
	Authorizers []*testbootstrap.Function
	Reconciler  *testbootstrap.Function // nil if there is none
	Stream      *streampump.Pump        // from the config table to the reconciler

	store *counter
}

// Calls returns what the Region's functions have asked of the store so far.
func (r *Region) Calls() Calls { return r.store.calls() }

func (w *World) startRegion(index int, name, authorizer string) (*Region, error) {
	store, err := newCounter(w.Engine.Endpoint())
	if err != nil {
		return nil, err
	}
	w.onClose(store.close)
	r := &Region{Index: index, Name: name, store: store}
	for range w.o.Processes {
		f, err := testbootstrap.Launch(authorizer, w.env(name, store.endpoint)...)
		if err != nil {
			return nil, err
		}
		w.onClose(f.Stop)
		r.Authorizers = append(r.Authorizers, f)
	}
	return r, nil
}

// currentItems is the template's FilterCriteria of the reconciler.
const currentItems = `{"dynamodb":{"Keys":{"sk":{"S":["CURRENT"]}}}}`

func (w *World) startReconcilers(ctx context.Context) error {
	bootstrap, err := w.build("reconciler")
	if err != nil {
		return err
	}
	for _, r := range w.Regions {
		f, err := testbootstrap.Launch(bootstrap, append(w.env(r.Name, r.store.endpoint), "AWS_LAMBDA_FUNCTION_TIMEOUT=300")...)
		if err != nil {
			return fmt.Errorf("start the reconciler of %s: %w", r.Name, err)
		}
		w.onClose(f.Stop)
		r.Reconciler = f
		r.Stream, err = streampump.New(ctx, streampump.Options{
			Endpoint: w.Engine.Endpoint(), Region: r.Name, Table: ConfigTable,
			Filters: []string{currentItems}, Partial: true, Bisect: true, Retries: 10,
		}, func(ctx context.Context, event []byte) ([]byte, error) {
			reply, err := f.Invoke(ctx, event)
			switch {
			case err != nil:
				return nil, err
			case reply.Err != "":
				return nil, fmt.Errorf("the reconciler says %q", reply.Err)
			}
			return reply.Payload, nil
		})
		if err != nil {
			return err
		}
		w.run(ctx, "stream of "+r.Name, r.Stream.Run)
	}
	return nil
}
