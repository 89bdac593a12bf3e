//go:build !race

package sim_test

const (
	seeds       = 3
	randomSeeds = 1000
)
