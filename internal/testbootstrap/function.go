package testbootstrap

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"weir/internal/testtool"
)

// Function is a function on an emulator of its own. The first call starts it
// cold. It serves one call at a time, as an execution environment does; calls
// that come together wait for each other.
type Function struct {
	url     string
	most    time.Duration // that a call may take
	process *testtool.Process
	call    sync.Mutex
}

// Reply is what a call came to: a payload, or the message of the error that the
// handler returned.
type Reply struct {
	Payload json.RawMessage // nil if there was an error
	Err     string          // "" if there was none
}

// ErrNotStarted: the function ended before it could serve a call, as it does when
// its settings are wrong. Its log says why.
var ErrNotStarted = errors.New("testbootstrap: the function did not start")

// supervise runs the emulator and ends it, which ends the function, once stdin is
// closed: by Stop, or by the system when the test process ends in whatever way.
const supervise = `
exec 3<&0 </dev/null
"$@" 3<&- &
pid=$!
( cat <&3; kill $pid; sleep 3; kill -9 $pid ) >/dev/null 2>&1 &
wait $pid
kill $! 2>/dev/null`

// callTimeout bounds a call, a cold start included. The function's own timeout is
// the authorizer's; a function that env gives a longer one may take that much more.
const callTimeout = 10 * time.Second

const functionTimeout = "AWS_LAMBDA_FUNCTION_TIMEOUT=" // in seconds

// Start starts bootstrap on an emulator with the environment env ("NAME=value")
// and nothing else but credentials that are none. It is stopped when the test
// ends.
func Start(tb testing.TB, bootstrap string, env ...string) *Function {
	tb.Helper()
	rie := Emulator(tb)
	var f *Function
	var err error
	for range 3 { // another process may take a port first
		if f, err = launch(rie, bootstrap, env); err == nil {
			tb.Cleanup(f.Stop)
			return f
		}
	}
	tb.Fatal(err)
	return nil
}

func launch(rie, bootstrap string, env []string) (*Function, error) {
	api, err := testtool.FreeAddr()
	if err != nil {
		return nil, err
	}
	addr, err := testtool.FreeAddr()
	if err != nil {
		return nil, err
	}
	f := &Function{
		url:  "http://" + addr + "/2015-03-31/functions/function/invocations",
		most: callTimeout,
	}
	for _, v := range env {
		if seconds, ok := strings.CutPrefix(v, functionTimeout); ok {
			n, err := strconv.Atoi(seconds)
			if err != nil {
				return nil, fmt.Errorf("%s: want seconds", v)
			}
			f.most = callTimeout + time.Duration(n)*time.Second
		}
	}
	cmd := exec.Command("/bin/sh", "-c", supervise, "sh", rie,
		"--runtime-api-address", api, "--runtime-interface-emulator-address", addr, bootstrap)
	cmd.Env = append([]string{
		"PATH=/usr/bin:/bin", functionTimeout + "3", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=512",
		"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test",
	}, env...)
	if f.process, err = testtool.Start(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", rie, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	if err := f.process.Await(ctx, 10*time.Millisecond, listens(addr)); err != nil {
		return nil, fmt.Errorf("start %s: %w", rie, err)
	}
	return f, nil
}

// listens returns whether something accepts connections at addr.
func listens(addr string) func(context.Context) bool {
	return func(ctx context.Context) bool {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", addr)
		if err != nil {
			return false
		}
		conn.Close()
		return true
	}
}

// Invoke calls the function. An error that the handler returns is a Reply; the
// error here is ErrNotStarted or says what went wrong on the way.
func (f *Function) Invoke(ctx context.Context, payload []byte) (Reply, error) {
	f.call.Lock()
	defer f.call.Unlock()
	ctx, cancel := context.WithTimeout(ctx, f.most)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url, bytes.NewReader(payload))
	if err != nil {
		return Reply{}, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return Reply{}, fmt.Errorf("call function: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return Reply{}, fmt.Errorf("call function: %w", err)
	}
	var failure struct{ ErrorType, ErrorMessage string }
	isError := json.Unmarshal(body, &failure) == nil && failure.ErrorType != ""
	switch {
	case isError && failure.ErrorType == "Runtime.ExitError", resp.StatusCode == http.StatusBadGateway:
		return Reply{}, fmt.Errorf("%w: %s", ErrNotStarted, body)
	case isError:
		return Reply{Err: failure.ErrorMessage}, nil
	case resp.StatusCode != http.StatusOK || !json.Valid(body):
		return Reply{}, fmt.Errorf("call function: status %d: %s", resp.StatusCode, body)
	}
	return Reply{Payload: body}, nil
}

// Log returns the end of what the function and the emulator have printed.
func (f *Function) Log() string { return f.process.Log() }

// Stop ends the function and waits until it is gone.
func (f *Function) Stop() { f.process.Stop() }
