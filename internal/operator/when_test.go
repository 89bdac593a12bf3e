package operator

import (
	"testing"
	"time"
)

func TestParseSpan(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"90d": 90 * day, "1d12h": 36 * time.Hour, "2h": 2 * time.Hour, "10m": 10 * time.Minute, "1.5s": 1500 * time.Millisecond,
		"36500d": maxSpan,
	} {
		if got, err := ParseSpan(s); got != want || err != nil {
			t.Errorf("ParseSpan(%q) = %v, %v; want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "d", "0", "0s", "0d", "-1d", "-1h", "1d-1h", "+1h", "1d+1h", "1", "1w", "d1", "1dd", "36501d", "99999d", "1d876000h", "9999999h", "1.5d", " 1d"} {
		if got, err := ParseSpan(s); err == nil {
			t.Errorf("ParseSpan(%q) = %v, want an error", s, got)
		}
	}
}

func TestParseWhen(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for s, want := range map[string]time.Time{
		"+2h":                       now.Add(2 * time.Hour),
		"+1d":                       now.Add(day),
		"2026-12-01T00:00:00Z":      now.Add(12 * time.Hour),
		"2026-12-01T00:00:00+01:00": now.Add(11 * time.Hour),
	} {
		if got, err := ParseWhen(s, now.UnixNano()); got != want.UnixNano() || err != nil {
			t.Errorf("ParseWhen(%q) = %v, %v; want %v", s, time.Unix(0, got).UTC(), err, want)
		}
	}
	for _, s := range []string{"", "+", "+0s", "tomorrow", "2026-12-01", "2026-12-01 00:00", "2026-12-01T00:00:00", "2026-11-30T12:00:00Z", "1999-01-01T00:00:00Z", "9999-01-01T00:00:00Z"} {
		if got, err := ParseWhen(s, now.UnixNano()); err == nil {
			t.Errorf("ParseWhen(%q) = %v, want an error", s, time.Unix(0, got).UTC())
		}
	}
}

func FuzzParseSpan(f *testing.F) {
	for _, s := range []string{"90d", "1d12h", "-1h", "1d876000h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := ParseSpan(s); err == nil && (d <= 0 || d > maxSpan) {
			t.Errorf("ParseSpan(%q) = %v", s, d)
		}
	})
}
