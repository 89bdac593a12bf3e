package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"weir"
	"weir/internal/devgateway"
	"weir/internal/directory"
	"weir/internal/limiter"
	"weir/internal/memstore"
	"weir/internal/plan"
	"weir/pkg/bucket"
)

//go:embed demo.yaml
var demoPlans []byte

// localRegion names the Region of a store that is in none.
const localRegion = "local"

// demoTimeout is for all of it; it takes a few seconds.
const demoTimeout = time.Minute

func newDemo() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show Weir limiting tenants, and check every claim on the way",
		Long: `Start a local API Gateway with Weir in this process, send real HTTP requests to it
and tell what comes back. Every line that says "ok" has been observed; if one is
not, the demo stops there and exits with 1.

It needs no network, no AWS account and no files, and takes a few seconds.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), demoTimeout)
			defer cancel()
			return runDemo(ctx, cmd.OutOrStdout())
		},
	}
}

// runDemo starts the gateway, tells the story and stops the gateway.
func runDemo(ctx context.Context, out io.Writer) error {
	store := &countingStore{Store: memstore.New(localRegion)}
	s, err := demoStack(store)
	if err != nil {
		return fmt.Errorf("start the demo: %w", err)
	}
	h, err := s.handler()
	if err != nil {
		return fmt.Errorf("start the demo: %w", err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("start the demo: %w", err)
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- devgateway.Serve(serving, ln, h) }()

	st := newStory(out, "http://"+ln.Addr().String(), store.calls.Load)
	err = st.tell(ctx)
	stop()
	return errors.Join(err, <-served)
}

func demoStack(store limiter.Store) (stack, error) {
	plans, err := plan.Parse("demo.yaml", demoPlans)
	if err != nil {
		return stack{}, err
	}
	dir, err := directory.NewStatic(plans)
	if err != nil {
		return stack{}, err
	}
	template, err := devgateway.ParseTemplate("template.yaml", weir.Template)
	if err != nil {
		return stack{}, err
	}
	return stack{
		plans:          plans,
		directory:      dir,
		store:          store,
		region:         localRegion,
		template:       template,
		sourceIPHeader: sourceIPHeader,
		log:            slog.New(slog.DiscardHandler),
	}, nil
}

// countingStore counts the operations on a store.
type countingStore struct {
	limiter.Store
	calls atomic.Int64
}

func (s *countingStore) Charge(ctx context.Context, key string, c bucket.Charge) (bucket.Outcome, error) {
	s.calls.Add(1)
	return s.Store.Charge(ctx, key, c)
}

func (s *countingStore) Rows(ctx context.Context, key string) ([]bucket.Row, error) {
	s.calls.Add(1)
	return s.Store.Rows(ctx, key)
}
