package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestDemoNotices checks that the demo's first chapters fail on an API that does
// not do what they claim.
func TestDemoNotices(t *testing.T) {
	const refusal = `{"code":"rate_limited"}`
	tests := []struct {
		name   string
		answer func(n int, h http.Header) (status int, body string) // to the n-th request
		want   string
	}{
		{"no limit", func(int, http.Header) (int, string) { return 200, "" }, "requests were served in"},
		{"nothing served", func(_ int, h http.Header) (int, string) { h.Set("Retry-After", "1"); return 429, refusal }, "only 0 requests"},
		{"403", func(n int, _ http.Header) (int, string) { return after(n, 10, 403), refusal }, "is 403, want 429"},
		{"no Retry-After", func(n int, _ http.Header) (int, string) { return after(n, 10, 429), refusal }, "Retry-After is"},
		{"Retry-After 0", func(n int, h http.Header) (int, string) { h.Set("Retry-After", "0"); return after(n, 10, 429), refusal }, "Retry-After is"},
		{"a date", func(n int, h http.Header) (int, string) {
			h.Set("Retry-After", time.Now().Format(http.TimeFormat))
			return after(n, 10, 429), refusal
		}, "Retry-After is"},
		{"body is not JSON", func(n int, _ http.Header) (int, string) { return after(n, 10, 429), "no" }, "not JSON"},
		{"another code", func(n int, _ http.Header) (int, string) { return after(n, 10, 429), `{"code":"x"}` }, `code is "x"`},
		{"refused again", func(n int, h http.Header) (int, string) { h.Set("Retry-After", "1"); return after(n, 10, 429), refusal }, "after waiting"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel() // one of them waits a second
			n := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				n++
				status, body := tt.answer(n, w.Header())
				w.WriteHeader(status)
				_, _ = io.WriteString(w, body)
			}))
			defer s.Close()
			err := newStory(io.Discard, s.URL, func() int64 { return 0 }).tell(t.Context())
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want one with %q", err, tt.want)
			}
		})
	}
}

// after is 200 for the first requests and status for the others.
func after(n, first, status int) int {
	if n <= first {
		return http.StatusOK
	}
	return status
}
