package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// tally counts the answers a client got.
type tally struct {
	served, refused int
	err             error // the first answer that was neither
}

func (t *tally) add(u tally) {
	t.served += u.served
	t.refused += u.refused
	t.err = errors.Join(t.err, u.err)
}

// flood sends n requests and counts what they come to.
func (c client) flood(ctx context.Context, n int) (t tally) {
	for range n {
		r, err := c.get(ctx, things)
		switch {
		case err != nil:
			t.err = err
			return t
		case r.status == http.StatusOK:
			t.served++
		default:
			if t.err = expect(r, http.StatusTooManyRequests, "rate_limited"); t.err == nil {
				_, t.err = r.retryAfter()
			}
			if t.err != nil {
				return t
			}
			t.refused++
		}
	}
	return t
}

// withinBucket checks that a bucket of plan free can have served so many in the
// time: what it held, and what came back meanwhile.
func withinBucket(served int, elapsed time.Duration) error {
	most := freeBurst + int(elapsed.Seconds()*freeRate) + 1
	if served > most {
		return fmt.Errorf("%d requests were served in %v: a bucket of %d at %d/s holds %d", served, elapsed, freeBurst, freeRate, most)
	}
	return nil
}

// expect checks a refusal: its status, and that its body is JSON with the code.
func expect(r reply, status int, code string) error {
	if r.status != status {
		return fmt.Errorf("the answer is %d, want %d: %s", r.status, status, r.body)
	}
	var body struct{ Code string }
	if err := json.Unmarshal([]byte(r.body), &body); err != nil {
		return fmt.Errorf("the body of the %d is not JSON: %w", status, err)
	}
	if body.Code != code {
		return fmt.Errorf("the body's code is %q, want %q", body.Code, code)
	}
	return nil
}

// because checks which limit a refusal names.
func (r reply) because(limit string) error {
	if got := r.header.Get("X-RateLimit-Reason"); got != limit {
		return fmt.Errorf("X-RateLimit-Reason is %q, want %s", got, limit)
	}
	return nil
}

// remaining returns the X-RateLimit-Remaining of two replies.
func remaining(a, b reply) (int, int, error) {
	x, err := strconv.Atoi(a.header.Get("X-RateLimit-Remaining"))
	y, err2 := strconv.Atoi(b.header.Get("X-RateLimit-Remaining"))
	return x, y, errors.Join(err, err2)
}
