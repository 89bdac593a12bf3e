package testworld

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"
)

// Main is the main of a program that runs a World: it ends with 1 if run fails or
// reports that something was not as it should be. run is interrupted by Ctrl-C and
// after ten minutes.
func Main(name string, run func(context.Context) (bool, error)) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	ok, err := run(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// Sleep returns early, with an error, if ctx is over.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
