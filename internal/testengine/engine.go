// Package testengine runs MiniStack, a local AWS, for tests: DynamoDB with
// streams, and the other services that a test of a whole stack needs.
//
// MiniStack is atomic (one event loop), keeps the tables of different Regions
// apart by the Region a request was signed for, and forgets everything when it
// ends. It does not replicate between Regions.
package testengine

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"weir/internal/testtool"
)

var ministack = testtool.Tool{Name: "MiniStack", Variable: "WEIR_MINISTACK", Path: "venv/bin/ministack"}

// Engine is a running MiniStack.
type Engine struct {
	endpoint string
	process  *testtool.Process
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
// The caller closes it; it also ends when the calling process does. Without
// MiniStack on the machine the error is testtool.ErrMissing.
func Launch(ctx context.Context) (*Engine, error) {
	bin, err := ministack.Find()
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
func (e *Engine) Log() string { return e.process.Log() }

// Close ends the engine and waits until it is gone.
func (e *Engine) Close() {
	e.process.Stop()
}

func launch(ctx context.Context, bin string) (*Engine, error) {
	addr, err := testtool.FreeAddr()
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "weir-engine-")
	if err != nil {
		return nil, err
	}
	e := &Engine{endpoint: "http://" + addr}
	cmd := exec.Command("/bin/sh", "-c", supervise, "sh", dir, bin)
	cmd.SysProcAttr = ownGroup()
	// Set to nothing, a profile would be one that is missing.
	environ := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AWS_PROFILE=") })
	cmd.Env = append(environ,
		"GATEWAY_PORT="+port, "BIND_HOST=127.0.0.1", "LOG_LEVEL=WARNING", "TMPDIR="+dir,
		"AWS_ENDPOINT_URL="+e.endpoint, // for the functions that it runs
		// Its functions and SDK calls must not find real credentials.
		"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_SESSION_TOKEN=")
	if e.process, err = testtool.Start(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", bin, err)
	}
	if err := e.process.Await(ctx, 25*time.Millisecond, e.healthy); err != nil {
		return nil, fmt.Errorf("start %s: %w", bin, err)
	}
	return e, nil
}

// healthy reports whether the engine answers.
func (e *Engine) healthy(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.endpoint+"/_ministack/health", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}
