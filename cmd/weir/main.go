// Command weir is Weir's tool for development and operation.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"weir/internal/operator"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The second signal ends the process at once, whatever it is waiting for.
	context.AfterFunc(ctx, stop)

	if err := newRoot().ExecuteContext(ctx); err != nil {
		// Whoever gives a key where something else belongs need not find it in a log.
		fmt.Fprintln(os.Stderr, "weir:", operator.WithoutKeys(err.Error()))
		os.Exit(exitCode(err))
	}
}
