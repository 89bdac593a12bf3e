package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"time"

	"weir/internal/limiter"
	"weir/internal/telemetry"
	"weir/internal/telemetry/metric"
	"weir/internal/telemetry/watch"
)

// counters count what the functions do on AWS, under the same names.
type counters struct {
	recorder *telemetry.Recorder
	limiter  *limiter.Limiter
}

// count has a stack count what it does. The stack's store must be set.
func (s *stack) count() counters {
	r := telemetry.New(telemetry.Options{Region: s.region})
	s.store = watch.Store(r, metric.Buckets, s.store, func() int64 { return time.Now().UnixNano() })
	s.limiter = s.newLimiter()
	watch.Limiter(r, s.limiter)
	// Requests have a line each already.
	s.observer = telemetry.NewObserver(telemetry.ObserverOptions{Recorder: r, Log: slog.New(slog.DiscardHandler)})
	return counters{r, s.limiter}
}

// write writes what has been counted, and whose refusals have cost most.
func (c counters) write(w io.Writer) error {
	s := c.recorder.Snapshot(time.Now().UnixNano())
	fmt.Fprintln(w)
	if err := s.WriteText(w); err != nil {
		return err
	}
	for _, b := range c.limiter.Costliest(3) {
		fmt.Fprintf(w, "  %s: %.0f write units for refusals\n", b.Key, b.OnRefusals)
	}
	return nil
}

// writeOnSignal writes what has been counted whenever the process is asked to,
// until ctx ends.
func (c counters) writeOnSignal(ctx context.Context, w io.Writer) {
	if len(showSignals) == 0 { // Notify would take that for all
		return
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, showSignals...)
	go func() {
		defer signal.Stop(asked)
		for {
			select {
			case <-asked:
				_ = c.write(w) // standard error: there is nowhere to say that it failed
			case <-ctx.Done():
				return
			}
		}
	}()
}
