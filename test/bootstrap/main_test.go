// Package bootstrap_test tests the authorizer as it is deployed: its bootstrap,
// built with the flags of the Makefile, on AWS's emulator of the Lambda runtime,
// with memory and with MiniStack's DynamoDB behind it.
package bootstrap_test

import (
	"fmt"
	"os"
	"testing"

	"weir/internal/testbootstrap"
)

// bootstrap is the path of the authorizer's binary.
var bootstrap string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "weir-bootstrap-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if bootstrap, err = testbootstrap.Build(dir, "authorizer"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
