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

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

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
	weir string // the operator's command
}

// begin starts an emulator, or skips.
func begin(t *testing.T) *world {
	t.Helper()
	if os.Getenv("WEIR_E2E") != "1" {
		t.Skip("a deployment takes a minute or two: `make e2e` runs them")
	}
	if runtime.GOOS != "linux" {
		t.Skip("the emulator runs functions on this machine, and they are built for Linux")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{root: root, dir: t.TempDir(), arch: map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH]}
	python := filepath.Join(root, ".tools", "venv", "bin", "python")
	for _, tool := range []string{python, w.tool("cdk"), w.tool("sam")} {
		switch _, err := os.Stat(tool); {
		case err == nil:
		case os.Getenv("WEIR_REQUIRE_TOOLS") == "1":
			t.Fatalf("there is no %s: run `make tools`", tool)
		default:
			t.Skipf("there is no %s: run `make tools`", tool)
		}
	}
	emulator := w.write(t, "emulator", fmt.Sprintf("#!/bin/sh\nexec '%s' '%s'\n", python, filepath.Join(root, "test", "e2e", "emulator.py")))
	if err := os.Chmod(emulator, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("WEIR_MINISTACK", emulator)
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
	w.expectEnforcement(t)
	w.weir = w.build(t, ".", "./cmd/weir", "weir")
	return w
}

// expectEnforcement makes sure that the roles of what is deployed are put to the
// test: the emulator does not do as it is told by just anybody.
func (w *world) expectEnforcement(t *testing.T) {
	t.Helper()
	nobody := dynamodb.New(dynamodb.Options{
		Region: regions[0], BaseEndpoint: aws.String(w.Endpoint()),
		Credentials: credentials.NewStaticCredentialsProvider("AKIAIOSFODNN7EXAMPLE", "nobody", ""),
	})
	if _, err := nobody.ListTables(t.Context(), &dynamodb.ListTablesInput{}); err == nil {
		t.Fatal("the emulator lets anybody do anything")
	}
}

// tool returns the path of an installed tool.
func (w *world) tool(name string) string { return filepath.Join(w.root, ".tools", "bin", name) }

// longest is how long one command may take: the first compiles the CDK's packages.
const longest = 5 * time.Minute

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

// try is run for a command that may fail.
func (w *world) try(t *testing.T, folder, name string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = filepath.Join(w.root, folder)
	environ := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AWS_") }) // nobody's real account
	cmd.Env = append(environ,
		"AWS_ENDPOINT_URL="+w.Endpoint(), "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test",
		"AWS_EC2_METADATA_DISABLED=true", "AWS_DEFAULT_REGION="+regions[0], "AWS_REGION="+regions[0],
		"WEIR_ENDPOINT=", "WEIR_CONFIG_TABLE=", "WEIR_BUCKETS_TABLE=", "WEIR_REGIONS=", "ARCH="+w.arch, "CI=true")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	t.Logf("%5.1fs %s", time.Since(began).Seconds(), strings.Join(append([]string{filepath.Base(name)}, args...), " "))
	if err != nil {
		return stdout.String(), fmt.Errorf("%s %s: %w\n%s\n%s", name, strings.Join(args, " "), err, tail(stdout.String()), tail(stderr.String()))
	}
	return stdout.String(), nil
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

// write writes a file for a command to read.
func (w *world) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
