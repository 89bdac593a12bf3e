package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"weir/internal/testengine"
)

// account is the emulator's.
const account = "000000000000"

// world is the emulated AWS with the tools that work on it.
type world struct {
	*testengine.Engine
	root string // of the repository
	dir  string // for this test
	arch string // of the bootstraps: this machine's, in words of Lambda
}

// begin starts an emulator, or skips.
func begin(t *testing.T) *world {
	t.Helper()
	if os.Getenv("WEIR_E2E") != "1" {
		t.Skip("whole deployments take a minute or two: `make e2e` runs them")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{root: root, dir: t.TempDir(), arch: map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH]}
	for _, tool := range []string{"cdk", "sam"} {
		if path := filepath.Join(root, ".tools", "bin", tool); !exists(path) {
			t.Fatalf("there is no %s: run `make tools`", path)
		}
	}
	// The SDK that Lambda's own Node has, for the CDK's functions.
	t.Setenv("NODE_PATH", filepath.Join(root, ".tools", "cdk", "node_modules"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if w.Engine, err = testengine.Launch(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the emulator's last words:\n%s", w.Log())
		}
		w.Close()
	})
	return w
}

// longest is how long one command may take: the first compiles the CDK's packages.
const longest = 10 * time.Minute

// run runs a command in a folder of the repository and returns what it prints to
// standard output.
func (w *world) run(t *testing.T, folder, name string, args ...string) string {
	t.Helper()
	out, err := w.try(t, folder, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (w *world) try(t *testing.T, folder, name string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	defer cancel()
	if tool := filepath.Join(w.root, ".tools", "bin", name); exists(tool) {
		name = tool
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = filepath.Join(w.root, folder)
	environ := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AWS_") }) // nobody's real account
	cmd.Env = append(environ,
		"PATH="+filepath.Join(w.root, ".tools", "bin")+":"+os.Getenv("PATH"),
		"AWS_ENDPOINT_URL="+w.Endpoint(), "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test",
		"AWS_EC2_METADATA_DISABLED=true", "AWS_DEFAULT_REGION=eu-west-1", "AWS_REGION=eu-west-1",
		"WEIR_ENDPOINT=", "WEIR_CONFIG_TABLE=", "WEIR_BUCKETS_TABLE=", "WEIR_REGIONS=", "ARCH="+w.arch, "CI=true")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	t.Logf("%5.1fs %s %s", time.Since(began).Seconds(), filepath.Base(name), strings.Join(args, " "))
	if err != nil {
		return stdout.String(), fmt.Errorf("%s %s: %w\n%s\n%s", name, strings.Join(args, " "), err, tail(stdout.String()), tail(stderr.String()))
	}
	return stdout.String(), nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// tail returns the end of what a command has printed.
func tail(s string) string {
	const most = 4000
	if len(s) > most {
		s = "..." + s[len(s)-most:]
	}
	return s
}

// build builds a Go command of one of the modules and returns its path.
func (w *world) build(t *testing.T, module, pkg, name string) string {
	t.Helper()
	path := filepath.Join(w.dir, name)
	w.run(t, module, "go", "build", "-o", path, pkg)
	return path
}
