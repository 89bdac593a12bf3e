//go:build race

package sim_test

// A run is one goroutine: the race detector has little to find and takes ten
// times as long. The full numbers run without it.
const (
	seeds       = 1
	randomSeeds = 30
)
