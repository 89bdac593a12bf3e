package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary be the command: tests run it as users do, exit
// code and all.
func TestMain(m *testing.M) {
	if os.Getenv("WEIR_TEST_RUN_MAIN") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// repository is the folder with examples/ and template.yaml.
const repository = "../.."

// weirCommand returns the command, to be run in dir.
func weirCommand(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "WEIR_TEST_RUN_MAIN=1")
	return cmd
}

// run runs the command to its end in dir, in this process.
func run(t *testing.T, dir string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	t.Chdir(dir)
	var out, errOut bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&errOut)
	err = root.ExecuteContext(t.Context())
	return out.String(), errOut.String(), err
}

// runProcess is run in a process of its own, for the sake of its exit code.
func runProcess(t *testing.T, dir string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := weirCommand(t, dir, args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}

// process is a running `weir dev`.
type process struct {
	*exec.Cmd
	base   string // from the first line
	stdout *bufio.Reader
	stderr *lockedBuffer
}

// lockedBuffer can be read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// startDev starts `weir dev` and reads the first line of its output.
func startDev(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: weirCommand(t, dir, append([]string{"dev", "--addr", "127.0.0.1:0"}, args...)...), stderr: new(lockedBuffer)}
	p.Stderr = p.stderr
	pipe, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill(); _ = p.Wait() })
	p.stdout = bufio.NewReader(pipe)
	line, err := p.stdout.ReadString('\n')
	if err != nil {
		t.Fatalf("no first line: %v", err)
	}
	m := regexp.MustCompile(`^listening on (http://127\.0\.0\.1:[1-9][0-9]*)\n$`).FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("the first line is %q, want exactly: listening on http://HOST:PORT", line)
	}
	p.base = m[1]
	return p
}

// stop ends the process as a user does and returns what else it had printed.
func (p *process) stop(t *testing.T) (stdout, stderr string) {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(p.stdout)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
	return string(rest), p.stderr.String()
}

// showCounters asks for what has been counted, and waits for it.
func showCounters(t *testing.T, p *process) {
	t.Helper()
	if err := p.Process.Signal(showSignals[0]); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); !strings.Contains(p.stderr.String(), "WriteUnits"); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 5*time.Second {
			t.Fatalf("no counters on the signal:\n%s", p.stderr)
		}
	}
}

func TestDev(t *testing.T) {
	p := startDev(t, repository)
	for key, want := range map[string]int{"acme-dev-key-1": 200, "initech-dev-key-1": 429, "nobody": 401, "": 200} {
		c := client{base: p.base, key: key, http: http.DefaultClient}
		r, err := c.get(t.Context(), "/v1/things?token=secret")
		if err != nil {
			t.Fatal(err)
		}
		if r.status != want {
			t.Errorf("key %q: status %d, want %d", key, r.status, want)
		}
	}
	showCounters(t, p)
	stdout, stderr := p.stop(t)
	for _, want := range []string{
		"curl -i -H 'x-api-key: acme-dev-key-1' " + p.base,
		"curl -i -H 'x-api-key: hooli-dev-key-1' " + p.base,
		"initech is suspended",
		"examples/plans.yaml",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	requests, counted, _ := strings.Cut(stderr, "\n\n")
	if n := strings.Count(requests+"\n", "\n"); n != 4 {
		t.Errorf("%d lines for 4 requests:\n%s", n, requests)
	}
	for _, want := range []string{"Decisions ", " 4, 2 allowed, 1 refused, 1 unauthorized;", "pro/api ", "tenant_suspended", "tenant acme ", "StoreCalls buckets ", "WriteUnits "} {
		if n := strings.Count(counted, want); n != 2 { // on the signal, and at the end
			t.Errorf("%q is there %d times, want twice:\n%s", want, n, counted)
		}
	}
	for _, want := range []string{" 200 GET    /v1/things ", "acme/pro api: 99 of 100 left", " 429 ", "tenant_suspended", " 401 "} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %q in\n%s", want, stderr)
		}
	}
	for _, secret := range []string{"dev-key", "nobody", "secret"} {
		if strings.Contains(stderr, secret) {
			t.Errorf("the log has %q:\n%s", secret, stderr)
		}
	}
}

func TestDevQuietWithOwnFilesAndHeader(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "p.yaml", "plans: {p: {limits: [{name: api, rate: 1/s}]}}\ntenants: [{id: a, plan: p, keys: [k]}]\n")
	p := startDev(t, dir, "--plans", "p.yaml", "--quiet", "--key-header", "X-Team-Key", "--source-ip-header", "X-From")
	req, _ := http.NewRequest("GET", p.base, nil)
	req.Header.Set("x-team-key", "k")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 || resp.Header.Get("X-RateLimit-Limit") != "1" {
		t.Errorf("got %d %v: the built-in template is not in use", resp.StatusCode, resp.Header)
	}
	stdout, stderr := p.stop(t)
	if stderr != "" {
		t.Errorf("--quiet printed %q", stderr)
	}
	for _, want := range []string{"template.yaml (built-in copy)", "-H 'X-Team-Key: k'", "no key: 401"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
}

func TestDevWarnsOfATemplateWithout429(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "t.yaml", "Resources: {}")
	write(t, dir, "p.yaml", "plans: {p: {limits: [{name: api, rate: 0/s}]}}\ntenants: [{id: a, plan: p, keys: [k]}]\n")
	p := startDev(t, dir, "--plans", "p.yaml", "--template", "t.yaml", "--quiet")
	r, err := client{base: p.base, key: "k", http: http.DefaultClient}.get(t.Context(), "/")
	if err != nil || r.status != 403 {
		t.Errorf("status %d, %v; want AWS's own 403", r.status, err)
	}
	if _, stderr := p.stop(t); !strings.Contains(stderr, "warning: t.yaml makes a refusal 403") {
		t.Errorf("no warning in %q", stderr)
	}
}

func TestDevBadInput(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	dir := t.TempDir()
	write(t, dir, "bad.yaml", "plans:\n  p:\n    limits:\n      - {name: api, rate: fast}\n")
	write(t, dir, "ok.yaml", "plans: {p: {limits: [{name: api, rate: 1/s}]}}\n")
	write(t, dir, "template.yaml", "Resources:\n  Api:\n    Type: AWS::Serverless::Api\n    Properties:\n      GatewayResponses:\n        ACCESS_DENIED:\n          ResponseParameters: {Headers: {Retry-After: $context.authorizer.retryAfter}}\n")
	write(t, dir, "good/ok.yaml", "plans: {p: {limits: [{name: api, rate: 1/s}]}}\n")

	tests := []struct {
		name string
		dir  string
		args []string
		want []string
	}{
		{"no plans", t.TempDir(), nil, []string{"examples/plans.yaml", "--plans FILE"}},
		{"plans that are not there", filepath.Join(dir, "good"), []string{"--plans", "gone.yaml"}, []string{"gone.yaml", "--plans FILE"}},
		{"plans that are a folder", dir, []string{"--plans", ".", "--template", filepath.Join(mustAbs(t, repository), "template.yaml")}, []string{"read plans"}},
		{"bad plans", filepath.Join(dir, "good"), []string{"--plans", "../bad.yaml"}, []string{"../bad.yaml:4:", "rate"}},
		{"bad template", dir, []string{"--plans", "ok.yaml"}, []string{"template.yaml:7", "write context.authorizer.retryAfter"}},
		{"template that is not there", dir, []string{"--plans", "ok.yaml", "--template", "gone.yaml"}, []string{"gone.yaml", "leave --template out"}},
		{"port in use", repository, []string{"--addr", busy.Addr().String()}, []string{"in use", "--addr 127.0.0.1:0"}},
		{"no port", repository, []string{"--addr", "localhost"}, []string{"HOST:PORT"}},
		{"no such port", repository, []string{"--addr", "127.0.0.1:http2"}, []string{"--addr"}},
		{"unknown flag", repository, []string{"--port", "1"}, []string{"--port", "weir dev --help"}},
		{"argument", repository, []string{"8080"}, []string{"8080", "weir dev --help"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stdout, stderr, err := run(t, tt.dir, append([]string{"dev"}, tt.args...)...)
			if err == nil {
				t.Fatal("no error")
			}
			if stdout+stderr != "" {
				t.Errorf("the error is not all that is printed:\n%s%s", stdout, stderr)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in %q", want, err)
				}
			}
		})
	}
}

func TestDemoExitsWithZero(t *testing.T) {
	// In an empty folder: the demo needs no files.
	stdout, stderr, code := runProcess(t, t.TempDir(), "demo")
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d: %s\n%s", code, stderr, stdout)
	}
	for _, want := range []string{
		"Retry-After: 1\n", `"code":"rate_limited"`, "served again", "all served", "X-RateLimit-Reason: follow",
		"401 Unauthorized", "198.51.100.8 has a bucket of its own", "tenant_suspended",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{}, {"--help"}, {"help"}} {
		stdout, _, err := run(t, t.TempDir(), args...)
		if err != nil {
			t.Errorf("weir %v: %v", args, err)
		}
		for _, want := range []string{"dev ", "demo ", "version ", "Examples:"} {
			if !strings.Contains(stdout, want) {
				t.Errorf("weir %v does not mention %q", args, want)
			}
		}
	}
	for _, name := range []string{"dev", "demo", "version"} {
		stdout, _, err := run(t, t.TempDir(), name, "--help")
		if err != nil || !strings.Contains(stdout, "Usage:") {
			t.Errorf("weir %s --help: %v\n%s", name, err, stdout)
		}
	}
}

func TestMisspeltCommand(t *testing.T) {
	_, stderr, code := runProcess(t, t.TempDir(), "dmo")
	if code != 1 || !strings.HasPrefix(stderr, "weir: ") || !strings.Contains(stderr, `"dmo"`) || !strings.Contains(stderr, "demo?") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestVersion(t *testing.T) {
	stdout, _, err := run(t, t.TempDir(), "version")
	if err != nil || !regexp.MustCompile(`^weir \S+.* go1\.\S+ \w+/\w+\n$`).MatchString(stdout) {
		t.Errorf("%q, %v", stdout, err)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mustAbs(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}
