package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// sourceIPHeader tells the demo's gateway whose address to believe: all requests
// come from one machine.
const sourceIPHeader = "X-Demo-Source-Ip"

// client is one client of the demo's API.
type client struct {
	base string
	key  string // API key, "" for none
	ip   string // address to appear from, "" for the real one
	http *http.Client
}

// reply is an answer as the client sees it.
type reply struct {
	status int
	header http.Header
	body   string
}

// maxReply bounds the bodies that are read, in bytes.
const maxReply = 64 << 10

func (c client) get(ctx context.Context, path string) (reply, error) {
	return c.send(ctx, http.MethodGet, path)
}

func (c client) send(ctx context.Context, method, path string) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, nil)
	if err != nil {
		return reply{}, err
	}
	if c.key != "" {
		req.Header.Set("x-api-key", c.key)
	}
	if c.ip != "" {
		req.Header.Set(sourceIPHeader, c.ip)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return reply{}, fmt.Errorf("send request: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err != nil {
		return reply{}, fmt.Errorf("read answer: %w", err)
	}
	return reply{status: resp.StatusCode, header: resp.Header, body: string(body)}, nil
}

// retryAfter returns the Retry-After of a reply.
func (r reply) retryAfter() (time.Duration, error) {
	text := r.header.Get("Retry-After")
	s, err := strconv.Atoi(text)
	if err != nil || s < 1 {
		return 0, fmt.Errorf("Retry-After is %q, want a whole number of seconds, at least 1", text)
	}
	return time.Duration(s) * time.Second, nil
}
