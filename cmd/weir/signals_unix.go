//go:build unix

package main

import (
	"os"
	"syscall"
)

// showSignals ask `weir dev` for its counters.
var showSignals = []os.Signal{syscall.SIGUSR1}
