package testtool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"
)

// Process is a running tool. It has to end when its standard input does: then it
// ends with the process that started it, in whatever way that ends.
type Process struct {
	stdin  io.Closer
	exited chan struct{}
	log    Log
}

// Start starts cmd, whose standard streams are the Process's.
func Start(cmd *exec.Cmd) (*Process, error) {
	p := &Process{exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.log, &p.log
	var err error
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = cmd.Wait() // ended by a signal, always
		close(p.exited)
	}()
	return p, nil
}

// Await waits until ready says so, asking every so often. It is an error if the
// process or ctx ends before; then the process is stopped.
func (p *Process) Await(ctx context.Context, every time.Duration, ready func(context.Context) bool) (err error) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for !ready(ctx) {
		select {
		case <-p.exited:
			err = errors.New("it ended before it answered")
		case <-ctx.Done():
			err = fmt.Errorf("no answer: %w", ctx.Err())
		case <-tick.C:
			continue
		}
		p.Stop()
		return fmt.Errorf("%w\n%s", err, p.Log())
	}
	return nil
}

// Log returns the end of what the process has printed.
func (p *Process) Log() string { return p.log.String() }

// Stop ends the process and waits until it is gone.
func (p *Process) Stop() {
	p.stdin.Close()
	<-p.exited
}

// Log keeps the last part of what is written to it, and can be read meanwhile.
type Log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// maxLog is how much a Log keeps, about, in bytes.
const maxLog = 256 << 10

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.b.Len() > maxLog {
		l.b.Next(l.b.Len() / 2)
	}
	return l.b.Write(p)
}

// String returns what is kept.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
