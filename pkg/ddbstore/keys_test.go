package ddbstore

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestBucketKey(t *testing.T) {
	short := strings.Repeat("k", maxBucketKey)
	if got := bucketKey(short); got != short {
		t.Errorf("a key of %d bytes became %q", len(short), got)
	}
	seen := map[string]bool{}
	for _, key := range []string{
		short + "1", short + "2", strings.Repeat("ö", 200), "x" + strings.Repeat("ö", 200), strings.Repeat("k", 5000),
	} {
		got := bucketKey(key)
		if len(got) > maxBucketKey || !utf8.ValidString(got) {
			t.Errorf("bucketKey(%.10q...) is %d bytes, valid %v", key, len(got), utf8.ValidString(got))
		}
		if seen[got] {
			t.Errorf("bucketKey(%.10q...) is that of another key", key)
		}
		seen[got] = true
		if got[:20] != key[:20] {
			t.Errorf("bucketKey(%.10q...) = %q: want the key's beginning, for people", key, got)
		}
	}
}
