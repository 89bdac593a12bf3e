//go:build !unix

package main

import "os"

// showSignals ask `weir dev` for its counters; there are none here.
var showSignals []os.Signal
