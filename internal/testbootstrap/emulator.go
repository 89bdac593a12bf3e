package testbootstrap

import (
	"testing"

	"weir/internal/testtool"
)

var emulator = testtool.Tool{Name: "aws-lambda-rie", Variable: "WEIR_RIE", Path: "bin/aws-lambda-rie"}

// Emulator returns the path of aws-lambda-rie. Without it the test is skipped, or
// fails if WEIR_REQUIRE_TOOLS is 1.
func Emulator(tb testing.TB) string {
	tb.Helper()
	bin, err := emulator.Find()
	testtool.Need(tb, err)
	return bin
}
