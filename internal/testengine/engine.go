// Package testengine runs MiniStack, a local AWS, for tests: DynamoDB with
// streams, and the other services that a test of a whole stack needs.
//
// MiniStack is atomic (one event loop), keeps the tables of different Regions
// apart by the Region a request was signed for, and forgets everything when it
// ends. It does not replicate between Regions.
package testengine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ErrMissing: there is no MiniStack on this machine.
var ErrMissing = errors.New("testengine: no MiniStack: run `make tools`, or point WEIR_MINISTACK at its executable")

// Engine is a running MiniStack.
type Engine struct {
	endpoint string
	stdin    io.Closer // its end of file ends the engine
	exited   chan struct{}
	log      *buffer
}

// supervise runs the engine and ends it, with everything it has started, once
// stdin is closed: by Close, or by the system when this process ends in whatever
// way. It is the leader of its process group. The engine's first death ends the
// supervisor too.
const supervise = `
dir=$1; shift
exec 3<&0 </dev/null
( cat <&3 >/dev/null; rm -rf "$dir"; kill -9 0 ) &
"$@" 3<&-
rm -rf "$dir"; kill -9 0`

// Launch starts an engine on a free loopback port and waits until it answers.
// The caller closes it; it also ends when the calling process does.
func Launch(ctx context.Context) (*Engine, error) {
	bin, err := find()
	if err != nil {
		return nil, err
	}
	var e *Engine
	for range 3 { // another process may take the port first
		if e, err = launch(ctx, bin); err == nil || ctx.Err() != nil {
			break
		}
	}
	return e, err
}

// Endpoint returns the URL that serves all of the engine's services.
func (e *Engine) Endpoint() string { return e.endpoint }

// Log returns the end of what the engine has printed.
func (e *Engine) Log() string { return e.log.String() }

// Close ends the engine and waits until it is gone.
func (e *Engine) Close() {
	e.stdin.Close()
	<-e.exited
}

func launch(ctx context.Context, bin string) (*Engine, error) {
	port, err := freePort()
	if err != nil {
		return nil, fmt.Errorf("find a free port: %w", err)
	}
	dir, err := os.MkdirTemp("", "weir-engine-")
	if err != nil {
		return nil, err
	}
	e := &Engine{
		endpoint: "http://127.0.0.1:" + port,
		exited:   make(chan struct{}),
		log:      &buffer{},
	}
	cmd := exec.Command("/bin/sh", "-c", supervise, "sh", dir, bin)
	cmd.SysProcAttr = ownGroup()
	// Set to nothing, a profile would be one that is missing.
	environ := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AWS_PROFILE=") })
	cmd.Env = append(environ,
		"GATEWAY_PORT="+port, "BIND_HOST=127.0.0.1", "LOG_LEVEL=WARNING", "TMPDIR="+dir,
		"AWS_ENDPOINT_URL=http://127.0.0.1:"+port, // for the functions that it runs
		// Its functions and SDK calls must not find real credentials.
		"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_SESSION_TOKEN=")
	cmd.Stdout, cmd.Stderr = e.log, e.log
	if e.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", bin, err)
	}
	go func() {
		_ = cmd.Wait() // killed, always
		close(e.exited)
	}()
	if err := e.healthy(ctx); err != nil {
		e.Close()
		return nil, fmt.Errorf("start %s: %w\n%s", bin, err, e.Log())
	}
	return e, nil
}

// healthy waits until the engine answers.
func (e *Engine) healthy(ctx context.Context) error {
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.endpoint+"/_ministack/health", nil)
		if err != nil {
			return err
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-e.exited:
			return errors.New("it ended before it answered")
		case <-ctx.Done():
			return fmt.Errorf("no answer from %s: %w", e.endpoint, ctx.Err())
		case <-tick.C:
		}
	}
}

// find returns the path of MiniStack: $WEIR_MINISTACK, or that in the .tools
// folder of this folder or one above it.
func find() (string, error) {
	if bin := os.Getenv("WEIR_MINISTACK"); bin != "" {
		if _, err := os.Stat(bin); err != nil {
			return "", fmt.Errorf("%w (WEIR_MINISTACK=%s does not exist)", ErrMissing, bin)
		}
		return bin, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		bin := filepath.Join(dir, ".tools", "venv", "bin", "ministack")
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

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), nil
}

// buffer keeps the last part of what is written to it.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.b.Len() > 64<<10 {
		b.b.Next(b.b.Len() / 2)
	}
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
