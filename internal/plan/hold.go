package plan

import (
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// MaxHold is the longest that a request may be told to wait for its token. The
// function's own time is a bound besides.
const MaxHold = 5 * time.Second

// parseHold parses n, which may be nil, as how long a request may be held.
func (d *decoder) parseHold(n *yaml.Node, what string, unset time.Duration) time.Duration {
	if n == nil {
		return unset
	}
	what = "hold of " + what
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!int" {
		d.errorf(n, "%s is a bare number: say of what, such as 250ms or 0s", what)
		return unset
	}
	s, ok := d.text(n, what)
	if !ok {
		return unset
	}
	hold, ok := parseTime(s)
	if !ok || hold > MaxHold {
		d.errorf(n, "%s is %s: want a whole number of milliseconds or seconds, up to %v, such as 250ms", what, quote(s), MaxHold)
		return unset
	}
	return hold
}

// parseTime parses whole milliseconds or seconds, such as 250ms or 2s.
func parseTime(s string) (time.Duration, bool) {
	unit := time.Millisecond
	number, ok := strings.CutSuffix(s, "ms")
	if !ok {
		unit = time.Second
		number, ok = strings.CutSuffix(s, "s")
	}
	n, digits := parseDigits(number)
	if !ok || !digits || n > int64(time.Hour/unit) {
		return 0, false
	}
	return time.Duration(n) * unit, true
}

// formatTime is the inverse of parseTime. What is no whole millisecond it writes
// in a way that parseTime refuses.
func formatTime(d time.Duration) string {
	switch {
	case d%time.Second == 0:
		return strconv.FormatInt(int64(d/time.Second), 10) + "s"
	case d%time.Millisecond == 0:
		return strconv.FormatInt(int64(d/time.Millisecond), 10) + "ms"
	}
	return d.String()
}
