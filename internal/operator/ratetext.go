package operator

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"weir/pkg/bucket"
)

// RateText returns a rate as a plan has it, such as 100/s.
func RateText(l bucket.Limit) string {
	r := l.Rate()
	switch {
	case l.IsUnlimited():
		return "unlimited"
	case r.Count == 0:
		return "0/s"
	}
	switch r.Period {
	case time.Second:
		return strconv.FormatInt(r.Count, 10) + "/s"
	case time.Minute:
		return strconv.FormatInt(r.Count, 10) + "/m"
	case time.Hour:
		return strconv.FormatInt(r.Count, 10) + "/h"
	case 24 * time.Hour:
		return strconv.FormatInt(r.Count, 10) + "/d"
	}
	return fmt.Sprintf("%d per %v", r.Count, r.Period)
}

// milli returns a rate in tokens per 1,000 s, rounded up; an unlimited one is more
// than all others.
func milli(l bucket.Limit) int64 {
	r := l.Rate()
	switch {
	case l.IsUnlimited():
		return math.MaxInt64
	case r.Count == 0:
		return 0
	}
	n := l.Tokens(1000 * second)
	if l.Time(n) < 1000*second {
		n++
	}
	return n
}

// SpendText returns tokens per 1,000 s in words, such as 71.5/s or 3.2/m.
func SpendText(spend int64) string {
	number := func(n float64) string {
		s := strconv.FormatFloat(n, 'f', 1, 64)
		return strings.TrimSuffix(s, ".0")
	}
	perSecond := float64(spend) / 1000
	switch {
	case spend <= 0:
		return "0/s"
	case perSecond >= 1:
		return number(perSecond) + "/s"
	case perSecond*60 >= 1:
		return number(perSecond*60) + "/m"
	}
	return number(perSecond*3600) + "/h"
}
