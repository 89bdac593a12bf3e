// Package bootstrap_test tests the authorizer as it is deployed: its bootstrap,
// built with the flags of the Makefile, on AWS's emulator of the Lambda runtime,
// with memory and with MiniStack's DynamoDB behind it.
package bootstrap_test

import (
	"testing"

	"weir/internal/testbootstrap"
)

// bootstrap is the path of the authorizer's binary.
var bootstrap string

func TestMain(m *testing.M) { testbootstrap.Main(m, "authorizer", &bootstrap) }
