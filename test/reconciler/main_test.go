// Package reconciler_test tests the reconciler as it is deployed: its bootstrap,
// built with the flags of the Makefile, on AWS's emulator of the Lambda runtime,
// fed by the stream of MiniStack's config table through an event source mapping
// that is set as the template sets it.
package reconciler_test

import (
	"testing"

	"weir/internal/testbootstrap"
)

// bootstrap is the path of the reconciler's binary.
var bootstrap string

func TestMain(m *testing.M) { testbootstrap.Main(m, "reconciler", &bootstrap) }
