package plan

import "weir/pkg/bucket"

// ParseBucket makes a limit of a rate and a burst as a plans file writes them,
// such as 100/s and 100%; an empty burst is 100%. The error names the one that is
// wrong and says what to write.
func ParseBucket(rate, burst string) (bucket.Limit, error) {
	l, _, _, err := newBucket(rate, burst)
	return l, err
}
