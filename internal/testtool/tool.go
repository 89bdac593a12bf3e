// Package testtool finds the tools that tests need, and runs those that are
// servers: a test engine, an emulator of the Lambda runtime.
package testtool

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// ErrMissing: a tool is not on this machine.
var ErrMissing = errors.New("run `make tools`")

// Tool is a program that scripts/tools.sh installs.
type Tool struct {
	Name     string // for people
	Variable string // of the environment, whose value is the path if it is set
	Path     string // below .tools
}

// Find returns the path of the tool: that of its variable, or that in the .tools
// folder of this folder or one above it. An error that it is not there wraps
// ErrMissing.
func (t Tool) Find() (string, error) {
	if bin := os.Getenv(t.Variable); bin != "" {
		if _, err := os.Stat(bin); err != nil {
			return "", t.missing(fmt.Sprintf(" (%s=%s does not exist)", t.Variable, bin))
		}
		return bin, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		bin := filepath.Join(dir, ".tools", filepath.FromSlash(t.Path))
		if _, err := os.Stat(bin); err == nil {
			return bin, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", t.missing("")
		}
		dir = up
	}
}

func (t Tool) missing(why string) error {
	return fmt.Errorf("no %s: %w, or point %s at its executable%s", t.Name, ErrMissing, t.Variable, why)
}

// Need ends a test that err keeps from running: it is skipped where a tool is
// missing, unless WEIR_REQUIRE_TOOLS is 1, and fails otherwise. If err is nil, Need
// does nothing.
func Need(tb testing.TB, err error) {
	tb.Helper()
	switch {
	case err == nil:
	case errors.Is(err, ErrMissing) && os.Getenv("WEIR_REQUIRE_TOOLS") != "1":
		tb.Skip(err)
	default:
		tb.Fatal(err)
	}
}

// FreeAddr returns a loopback address that nothing listens on. Another process may
// take it before it is used.
func FreeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}
