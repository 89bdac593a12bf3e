package devgateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// maxHeaders is API Gateway's bound on the sum of all header values, in bytes.
const maxHeaders = 10_240

// shutdownGrace is how long requests in flight may take once serving ends.
const shutdownGrace = 5 * time.Second

// Serve serves h on ln until ctx ends, then lets requests in flight finish. It
// closes ln, and returns nil after an orderly end.
func Serve(ctx context.Context, ln net.Listener, h http.Handler) error {
	s := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       29 * time.Second,
		WriteTimeout:      35 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    maxHeaders,
	}
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(ln) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	switch err := s.Shutdown(grace); {
	case errors.Is(err, context.DeadlineExceeded): // a client dialled and sent nothing: not our failure
		return s.Close()
	case err != nil:
		return errors.Join(fmt.Errorf("shut down: %w", err), s.Close())
	}
	return nil
}
