package ddbstore

import (
	"maps"
	"regexp"
	"slices"
	"testing"
	"time"

	"weir/pkg/bucket"
)

var placeholder = regexp.MustCompile(`[:#][a-z]+`)

// TestFormsUseTheirValues: DynamoDB refuses a request with a value or name that
// is missing or not used.
func TestFormsUseTheirValues(t *testing.T) {
	l, err := bucket.NewLimit(bucket.Rate{Count: 10, Period: time.Second}, 10)
	if err != nil {
		t.Fatal(err)
	}
	c := bucket.Charge{Limit: l, Now: 1, Tokens: 1, Inc: 1, Fold: &bucket.Fold{}}
	if len(expressions) != 24 {
		t.Errorf("%d forms, want 2 x 2 x 2 x 3", len(expressions))
	}
	for f, e := range expressions {
		used := placeholder.FindAllString(e.update+" "+e.condition, -1)
		slices.Sort(used)
		used = slices.Compact(used)
		given := append(slices.Collect(maps.Keys(f.values(c))), slices.Collect(maps.Keys(f.names(c.Now)))...)
		slices.Sort(given)
		if !slices.Equal(used, given) {
			t.Errorf("%+v uses %v, is given %v", f, used, given)
		}
	}
}
