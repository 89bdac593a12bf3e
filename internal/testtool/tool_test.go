package testtool

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestFind(t *testing.T) {
	tool := Tool{Name: "spanner", Variable: "WEIR_TEST_SPANNER", Path: "bin/spanner"}
	root := t.TempDir()
	below := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(below, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(below)
	if bin, err := tool.Find(); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "no spanner: run `make tools`, or point WEIR_TEST_SPANNER at") {
		t.Errorf("nowhere: %q, %v", bin, err)
	}
	want := filepath.Join(root, ".tools", "bin", "spanner")
	if err := os.MkdirAll(filepath.Dir(want), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(want, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if bin, err := tool.Find(); err != nil || !same(t, bin, want) {
		t.Errorf("two folders up: %q, %v, want %q", bin, err, want)
	}
	t.Setenv("WEIR_TEST_SPANNER", below)
	if bin, err := tool.Find(); err != nil || bin != below {
		t.Errorf("by its variable: %q, %v", bin, err)
	}
	t.Setenv("WEIR_TEST_SPANNER", filepath.Join(below, "absent"))
	if bin, err := tool.Find(); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("by a variable that is wrong: %q, %v", bin, err)
	}
}

func same(t *testing.T, a, b string) bool {
	t.Helper()
	i, err1 := os.Stat(a)
	j, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(i, j)
}

func TestProcess(t *testing.T) {
	start := func(script string) *Process {
		t.Helper()
		p, err := Start(exec.Command("/bin/sh", "-c", script))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()

	p := start("echo ready; cat")
	if err := p.Await(ctx, time.Millisecond, func(context.Context) bool { return p.Log() == "ready\n" }); err != nil {
		t.Error(err)
	}
	p.Stop() // its input ends, and so it does

	p = start("echo no such port >&2")
	if err := p.Await(ctx, time.Millisecond, func(context.Context) bool { return false }); err == nil || !strings.Contains(err.Error(), "it ended") || !strings.Contains(err.Error(), "no such port") {
		t.Errorf("ended by itself: %v", err)
	}

	over, end := context.WithCancel(ctx)
	end()
	if err := start("cat").Await(over, time.Hour, func(context.Context) bool { return false }); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
}

func TestLogKeepsTheEnd(t *testing.T) {
	var l Log
	for range 100 {
		if _, err := l.Write(make([]byte, 10<<10)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Write([]byte("end")); err != nil {
		t.Fatal(err)
	}
	if s := l.String(); len(s) > maxLog+10<<10+3 || !strings.HasSuffix(s, "end") {
		t.Errorf("%d bytes kept", len(s))
	}
}
