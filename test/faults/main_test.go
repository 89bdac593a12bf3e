// Package faults_test breaks DynamoDB under the authorizer as it is deployed, in
// the ways in which it breaks, and looks at what a client gets: the bootstrap on
// AWS's emulator of the Lambda runtime, MiniStack's DynamoDB, and a proxy between
// them that misbehaves.
//
// Whatever breaks, no answer is an error, none takes longer than the deadline for
// store work, limits follow their failure policy, and everything is as before two
// seconds after the store is. The figures are printed with -v. Times are compared
// with those of calls that need no store, made in the same run, since the machine
// may be busy:
//
//	go test -v ./test/faults
//	go test -v ./test/faults -run Fault/gone -outage 30s
package faults_test

import (
	"flag"
	"testing"
	"time"

	"weir/internal/testbootstrap"
)

// outage is how long the store is gone in the test of that name.
var outage = flag.Duration("outage", 6*time.Second, "how long the store is gone")

// bootstrap is the path of the authorizer's binary.
var bootstrap string

func TestMain(m *testing.M) {
	flag.Parse()
	testbootstrap.Main(m, "authorizer", &bootstrap)
}
