package operator

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// maxSpan is the longest that ParseSpan takes: about a hundred years.
const maxSpan = 36500 * day

// ParseSpan parses a time span above 0: what time.ParseDuration takes, with d for
// days (24 hours) in front, such as 90d, 1d12h, 10m.
func ParseSpan(s string) (time.Duration, error) {
	var span time.Duration
	rest := s
	if days, after, ok := strings.Cut(s, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return 0, badSpan(s)
		}
		span, rest = time.Duration(n)*day, after
	}
	if rest != "" {
		d, err := time.ParseDuration(rest)
		if err != nil || d < 0 || rest[0] == '+' || d > maxSpan {
			return 0, badSpan(s)
		}
		span += d
	}
	if span <= 0 || span > maxSpan {
		return 0, badSpan(s)
	}
	return span, nil
}

func badSpan(s string) error {
	return fmt.Errorf("%q is no time span: want a number of days, hours, minutes or seconds above 0, such as 90d, 12h or 10m", s)
}

// ParseWhen parses a time to come: in RFC 3339, or + and a span from now on. It
// returns ns since the Unix epoch, as now is.
func ParseWhen(s string, now int64) (int64, error) {
	if span, ok := strings.CutPrefix(s, "+"); ok {
		d, err := ParseSpan(span)
		if err != nil {
			return 0, err
		}
		return now + int64(d), nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return 0, fmt.Errorf("%q is no time: want one with its zone, such as %s, or from now on, such as +2h",
			s, time.Unix(0, now).Add(time.Hour).Truncate(time.Minute).UTC().Format(time.RFC3339))
	}
	if t.UnixNano() <= now {
		return 0, fmt.Errorf("%s is past: want a time to come, such as +2h", s)
	}
	if t.Sub(time.Unix(0, now)) > maxSpan {
		return 0, fmt.Errorf("%s is too far away: at most a hundred years", s)
	}
	return t.UnixNano(), nil
}
