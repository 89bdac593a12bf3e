package breaker

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestLog: an outage is two lines, however long it lasts and however many probes
// fail.
func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		b := New(Options{
			Name: "buckets", Mode: "limits are not checked", Pause: time.Second,
			Log: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			}})),
		})
		do(t, b, 50, errGone)
		for range 7 {
			time.Sleep(time.Second)
			do(t, b, 50, errGone)
		}
		time.Sleep(time.Second)
		do(t, b, 50, nil)
		want := []string{
			`level=WARN msg="store does not answer" store=buckets mode="limits are not checked" error="table t: store unavailable"`,
			`level=INFO msg="store answers again" store=buckets lasted=8s`,
		}
		if got := strings.Split(strings.TrimSpace(out.String()), "\n"); !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// TestOnChange: every change is told of, in order, with what brought it about.
// Whoever is told may ask the Breaker.
func TestOnChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b *Breaker
		var got []Change
		b = quiet(Options{Name: "buckets", Failures: 1, Pause: time.Second, OnChange: func(c Change) {
			if now := b.State(); c.To == Closed && now != Closed {
				t.Errorf("told of %s, and the state is %s", c.To, now)
			}
			got = append(got, c)
		}})
		do(t, b, 1, errGone)
		time.Sleep(time.Second)
		do(t, b, 1, context.DeadlineExceeded)
		time.Sleep(time.Second)
		do(t, b, 1, nil)
		want := []Change{
			{Name: "buckets", From: Closed, To: Open, Cause: errGone},
			{Name: "buckets", From: Open, To: HalfOpen},
			{Name: "buckets", From: HalfOpen, To: Open, Cause: context.DeadlineExceeded},
			{Name: "buckets", From: Open, To: HalfOpen},
			{Name: "buckets", From: HalfOpen, To: Closed, Lasted: 2 * time.Second},
		}
		same := func(a, b Change) bool {
			return errors.Is(a.Cause, b.Cause) && a.Name == b.Name && a.From == b.From && a.To == b.To && a.Lasted == b.Lasted
		}
		if !slices.EqualFunc(got, want, same) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	})
}
