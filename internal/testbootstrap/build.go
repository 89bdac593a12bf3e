package testbootstrap

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Build builds functions/NAME for this machine, with the flags of the Makefile's
// LAMBDA_BUILD, into dir and returns the path of its bootstrap.
func Build(dir, name string) (string, error) {
	bootstrap := filepath.Join(dir, "bootstrap")
	cmd := exec.Command("go", "build", "-trimpath", "-tags", "lambda.norpc,grpcnotrace", "-ldflags", "-s -w -buildid=", "-o", bootstrap, "weir/functions/"+name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build functions/%s: %w\n%s", name, err, out)
	}
	return bootstrap, nil
}

// Main is a TestMain whose tests run a function: it builds functions/NAME for them,
// says where in *bootstrap, and removes it afterwards.
func Main(m *testing.M, name string, bootstrap *string) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "weir-"+name+"-")
		if err == nil {
			defer os.RemoveAll(dir)
			*bootstrap, err = Build(dir, name)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}
