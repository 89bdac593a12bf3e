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

// parseRate parses a rate such as 100/s, 5k/m, 0/s or unlimited.
func parseRate(s string) (r bucket.Rate, isUnlimited bool, err error) {
	if s == unlimited {
		return bucket.Rate{}, true, nil
	}
	count, unit, _ := strings.Cut(s, "/")
	n, ok := parseCount(count)
	period := periodOf(unit)
	if !ok || period == 0 {
		return bucket.Rate{}, false, fmt.Errorf("rate %s: want a whole number per second, minute, hour or day, such as 100/s, 60/m, 5k/h or 1M/d, or unlimited%s", quote(s), meantRate(count, unit, ok))
	}
	return bucket.Rate{Count: n, Period: period}, false, nil
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
func formatRate(l bucket.Limit) (string, error) {
	r := l.Rate()
	switch {
	case l.IsUnlimited():
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

// parseBurst parses a burst: a count, or a percentage of the rate's count,
// rounded down.
func parseBurst(s string, rate bucket.Rate) (int64, error) {
	if p, ok := strings.CutSuffix(s, "%"); ok {
		n, ok := parseDigits(p)
		if !ok || n > 1_000_000 {
			return 0, fmt.Errorf("burst %s: want a whole percentage of the rate's number, up to 1000000%%", quote(s))
		}
		if rate.Count > math.MaxInt64/max(n, 1) {
			return math.MaxInt64, nil
		}
		return rate.Count * n / 100, nil
	}
	n, ok := parseCount(s)
	if !ok {
		return 0, fmt.Errorf("burst %s: want a number of tokens such as 200 or 5k, or a percentage of the rate's number such as 100%%", quote(s))
	}
	return n, nil
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

// newBucket makes the limit of rate and burst as they are written; burst may be
// "" for the default. atBurst says that the error is about the burst.
func newBucket(rate, burst string) (l bucket.Limit, atBurst bool, err error) {
	r, isUnlimited, err := parseRate(rate)
	if err != nil {
		return l, false, err
	}
	defaulted := burst == ""
	if defaulted {
		burst = "100%"
	}
	n, err := parseBurst(burst, r)
	if err != nil {
		return l, true, err
	}
	if isUnlimited {
		return bucket.Unlimited(), false, nil
	}
	l, err = bucket.NewLimit(r, n)
	switch {
	case errors.Is(err, bucket.ErrBurst) && defaulted:
		return l, false, fmt.Errorf("%w; the burst is 100%% of the rate's number unless you write one", err)
	case err != nil:
		return l, errors.Is(err, bucket.ErrBurst), err
	}
	return l, false, nil
}
