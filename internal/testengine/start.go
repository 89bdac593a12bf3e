package testengine

import (
	"context"
	"sync"
	"testing"
	"time"

	"weir/internal/testtool"
)

var shared = sync.OnceValues(func() (*Engine, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return Launch(ctx)
})

// Start returns the engine of this test process and starts it if it is the first
// to ask; it ends with the process. Tests share it, so they should not share the
// names of what they create.
//
// Without MiniStack on the machine the test is skipped, or fails if
// WEIR_REQUIRE_TOOLS is 1.
func Start(tb testing.TB) *Engine {
	tb.Helper()
	e, err := shared()
	testtool.Need(tb, err)
	return e
}
