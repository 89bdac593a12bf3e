package plan

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"weir/pkg/bucket"
)

// unlimited is the rate that admits everything.
const unlimited = "unlimited"

const day = 24 * time.Hour

// Rate is a rate as it is written: tokens per second, minute, hour or day, or
// unlimited.
type Rate struct {
	bucket.Rate
	Unlimited bool
}

// parseRate parses a rate such as 100/s, 5k/m, 0/s or unlimited.
func parseRate(s string) (Rate, error) {
	if s == unlimited {
		return Rate{Unlimited: true}, nil
	}
	count, unit, _ := strings.Cut(s, "/")
	n, ok := parseCount(count)
	period := periodOf(unit)
	if !ok || period == 0 {
		return Rate{}, fmt.Errorf("rate %s: want a whole number per second, minute, hour or day, such as 100/s, 60/m, 5k/h or 1M/d, or unlimited%s", quote(s), meantRate(count, unit, ok))
	}
	if n == 0 {
		return Rate{}, nil // of whatever period
	}
	return Rate{Rate: bucket.Rate{Count: n, Period: period}}, nil
}

// periodOf returns the period of a rate's unit, or 0 for none of them.
func periodOf(unit string) time.Duration {
	switch unit {
	case "s":
		return time.Second
	case "m":
		return time.Minute
	case "h":
		return time.Hour
	case "d":
		return day
	}
	return 0
}

// meantRate guesses what was meant by a count and a word such as "sec".
func meantRate(count, unit string, ok bool) string {
	unit = strings.ToLower(strings.TrimSpace(unit))
	if !ok || unit == "" || periodOf(unit[:1]) == 0 || strings.HasPrefix(unit, "mo") {
		return ""
	}
	return fmt.Sprintf("; did you mean %s/%s?", count, unit[:1])
}

// formatRate is the inverse of parseRate.
func formatRate(r Rate) (string, error) {
	switch {
	case r.Unlimited:
		return unlimited, nil
	case r.Count == 0:
		return "0/s", nil
	}
	for _, unit := range []string{"s", "m", "h", "d"} {
		if periodOf(unit) == r.Period {
			return strconv.FormatInt(r.Count, 10) + "/" + unit, nil
		}
	}
	return "", fmt.Errorf("rate of %d per %v: the period is not a second, minute, hour or day", r.Count, r.Period)
}

// Burst is a burst as it is written: tokens, or a percentage of the rate's number.
type Burst struct {
	Tokens  int64
	Percent int64 // 1 to 1,000,000; 0 if it is Tokens
}

// Of returns the burst in tokens beside a rate; a percentage is rounded down, and
// saturates at math.MaxInt64.
func (b Burst) Of(r Rate) int64 {
	switch {
	case b.Percent == 0:
		return b.Tokens
	case r.Count > math.MaxInt64/b.Percent:
		return math.MaxInt64
	}
	return r.Count * b.Percent / 100
}

// parseBurst parses a burst such as 200, 5k or 100%.
func parseBurst(s string) (Burst, error) {
	if p, ok := strings.CutSuffix(s, "%"); ok {
		n, ok := parseDigits(p)
		if !ok || n > 1_000_000 {
			return Burst{}, fmt.Errorf("burst %s: want a whole percentage of the rate's number, up to 1000000%%", quote(s))
		}
		return Burst{Percent: n}, nil
	}
	n, ok := parseCount(s)
	if !ok {
		return Burst{}, fmt.Errorf("burst %s: want a number of tokens such as 200 or 5k, or a percentage of the rate's number such as 100%%", quote(s))
	}
	return Burst{Tokens: n}, nil
}

// formatBurst returns what parseBurst reads as b: an int64 or a string.
func formatBurst(b Burst) any {
	if b.Percent == 0 {
		return b.Tokens
	}
	return strconv.FormatInt(b.Percent, 10) + "%"
}

// parseCount parses a whole number with an optional suffix k (thousand) or M
// (million).
func parseCount(s string) (int64, bool) {
	unit := int64(1)
	if t, ok := strings.CutSuffix(s, "k"); ok {
		s, unit = t, 1_000
	} else if t, ok := strings.CutSuffix(s, "M"); ok {
		s, unit = t, 1_000_000
	}
	n, ok := parseDigits(s)
	return n * unit, ok
}

// parseDigits parses 1 to 12 decimal digits without leading zeros.
func parseDigits(s string) (int64, bool) {
	if s == "" || len(s) > 12 || len(s) > 1 && s[0] == '0' {
		return 0, false
	}
	var n int64
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	return n, true
}

// defaultBurst is the burst of a limit that has none written.
var defaultBurst = Burst{Percent: 100}

// newBucket makes the limit of rate and burst as they are written; burst may be
// "" for the default. It returns the form of the burst as well, which is the
// default where the rate is unlimited. atBurst says that the error is about the
// burst.
func newBucket(rate, burst string) (l bucket.Limit, b Burst, atBurst bool, err error) {
	r, err := parseRate(rate)
	if err != nil {
		return l, b, false, err
	}
	b, defaulted := defaultBurst, burst == ""
	if !defaulted {
		if b, err = parseBurst(burst); err != nil {
			return l, b, true, err
		}
	}
	if r.Unlimited {
		return bucket.Unlimited(), defaultBurst, false, nil
	}
	l, err = bucket.NewLimit(r.Rate, b.Of(r))
	switch {
	case errors.Is(err, bucket.ErrBurst) && defaulted:
		return l, b, false, fmt.Errorf("%w; the burst is 100%% of the rate's number unless you write one", err)
	case err != nil:
		return l, b, errors.Is(err, bucket.ErrBurst), err
	}
	return l, b, false, nil
}
