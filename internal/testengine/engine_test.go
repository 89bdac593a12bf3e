package testengine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"weir/internal/testtool"
)

func TestStartIsShared(t *testing.T) {
	e := Start(t)
	if again := Start(t); again != e {
		t.Errorf("a second engine was started: %s and %s", e.Endpoint(), again.Endpoint())
	}
	out, err := e.Client("eu-west-1").ListTables(t.Context(), &dynamodb.ListTablesInput{})
	if err != nil || len(out.TableNames) != 0 {
		t.Errorf("ListTables = %v, %v, want none", out, err)
	}
}

func TestCloseEndsTheEngine(t *testing.T) {
	Start(t) // skips without MiniStack
	e, err := Launch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e.Close()
	if resp, err := http.Get(e.Endpoint() + "/_ministack/health"); err == nil {
		resp.Body.Close()
		t.Errorf("%s still answers after Close", e.Endpoint())
	}
}

func TestLaunchSaysWhyNot(t *testing.T) {
	t.Setenv("WEIR_MINISTACK", filepath.Join(t.TempDir(), "absent"))
	if _, err := Launch(t.Context()); !errors.Is(err, testtool.ErrMissing) {
		t.Errorf("Launch without an executable: %v, want ErrMissing", err)
	}
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("WEIR_MINISTACK", broken)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := Launch(ctx); err == nil || errors.Is(err, testtool.ErrMissing) || ctx.Err() != nil {
		t.Errorf("Launch of what ends at once: %v, want an error without waiting", err)
	}
}

func TestProxy(t *testing.T) {
	p := Start(t).Proxy(t)
	get := func() (*http.Response, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.Endpoint()+"/_ministack/health", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		return resp, err
	}
	if resp, err := get(); err != nil || resp.StatusCode != 200 {
		t.Fatalf("through the proxy: %v, %v", resp, err)
	}
	p.Set(Throttle)
	if resp, err := get(); err != nil || resp.StatusCode != 400 {
		t.Errorf("throttled: %v, %v, want 400", resp, err)
	}
	before := p.Calls()
	p.Set(LoseAnswer)
	if resp, err := get(); err == nil {
		t.Errorf("lost answer: %v, want an error", resp)
	}
	if p.Calls() == before {
		t.Error("the lost request was not counted")
	}
	p.Set(Reset)
	if resp, err := get(); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("reset: %v, %v, want a reset connection", resp, err)
	}
	p.Set(EverySecond(Throttle))
	for _, want := range []int{400, 200, 400} {
		if resp, err := get(); err != nil || resp.StatusCode != want {
			t.Errorf("every second throttled: %v, %v, want %d", resp, err, want)
		}
	}
	p.Set(In("us-east-1", Throttle))
	if resp, err := get(); err != nil || resp.StatusCode != 200 {
		t.Errorf("fault of another Region: %v, %v, want 200", resp, err)
	}
	p.Set(Slow(time.Millisecond))
	if resp, err := get(); err != nil || resp.StatusCode != 200 {
		t.Errorf("slow: %v, %v, want 200", resp, err)
	}
	p.Set(nil)
	p.Down()
	if resp, err := get(); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("down: %v, %v, want a refused connection", resp, err)
	}
	p.Up(t)
	if resp, err := get(); err != nil || resp.StatusCode != 200 {
		t.Errorf("after the faults: %v, %v, want 200", resp, err)
	}
}

// TestEngineDiesWithTheTest kills a process that has started an engine.
func TestEngineDiesWithTheTest(t *testing.T) {
	if os.Getenv("WEIR_ENGINE_CHILD") == "1" {
		fmt.Println("endpoint", Start(t).Endpoint())
		select {}
	}
	Start(t) // skips without MiniStack
	child := exec.Command(os.Args[0], "-test.run=^TestEngineDiesWithTheTest$", "-test.v")
	child.Env = append(os.Environ(), "WEIR_ENGINE_CHILD=1")
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var endpoint string
	for lines := bufio.NewScanner(out); endpoint == "" && lines.Scan(); {
		endpoint, _ = strings.CutPrefix(lines.Text(), "endpoint ")
		if endpoint == lines.Text() {
			endpoint = ""
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // killed
	if endpoint == "" {
		t.Fatal("the child started no engine")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		conn, err := net.Dial("tcp", strings.TrimPrefix(endpoint, "http://"))
		if errors.Is(err, syscall.ECONNREFUSED) {
			return
		}
		if err == nil {
			conn.Close()
		}
	}
	t.Errorf("%s still listens after its test was killed", endpoint)
}
