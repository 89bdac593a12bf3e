package testbootstrap

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// ErrMissing: there is no aws-lambda-rie on this machine.
var ErrMissing = errors.New("testbootstrap: no aws-lambda-rie: run `make tools`, or point WEIR_RIE at its executable")

// Emulator returns the path of aws-lambda-rie. Without it the test is skipped, or
// fails if WEIR_REQUIRE_TOOLS is 1.
func Emulator(tb testing.TB) string {
	tb.Helper()
	bin, err := findEmulator()
	switch {
	case err == nil:
		return bin
	case errors.Is(err, ErrMissing) && os.Getenv("WEIR_REQUIRE_TOOLS") != "1":
		tb.Skip(err)
	default:
		tb.Fatal(err)
	}
	return ""
}

// findEmulator looks at $WEIR_RIE, then in the .tools folder of this folder or
// one above it.
func findEmulator() (string, error) {
	if bin := os.Getenv("WEIR_RIE"); bin != "" {
		if _, err := os.Stat(bin); err != nil {
			return "", fmt.Errorf("%w (WEIR_RIE=%s does not exist)", ErrMissing, bin)
		}
		return bin, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		bin := filepath.Join(dir, ".tools", "bin", "aws-lambda-rie")
		if _, err := os.Stat(bin); err == nil {
			return bin, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", ErrMissing
		}
		dir = up
	}
}
