package ddbstore_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// TestRowWithoutEpochs: a row written before rows had their last epochs and a
// base is read and charged, in every form, and gets them as it goes.
func TestRowWithoutEpochs(t *testing.T) {
	direct := tables(t).Client(region)
	s := ddbstore.New(direct, buckets, region)
	l := tenPerSecond(t)
	busy := map[string]string{"tat": fmt.Sprint(t0 + 5e8), "spent": "40", "at": fmt.Sprint(t0), "born": "7", "ver": "1",
		"es": fmt.Sprint(t0), "ep": "38", "ttl": fmt.Sprint(t0/1e9 + 1e5)}
	idle := maps.Clone(busy)
	idle["tat"] = fmt.Sprint(t0 - 1)
	folded := maps.Clone(busy)
	folded["fold"] = "3"
	seen := map[string]bucket.Seen{"us-east-1": {Born: 5, Spent: 9, At: t0}}
	for name, numbers := range map[string]map[string]string{"busy": busy, "idle": idle, "folded": folded} {
		for _, at := range []int64{1, bucket.EpochLength} { // within the epoch, and after it
			for _, fold := range []bool{false, true} {
				key := newKey(t)
				put(t, direct, key, numbers)
				rows, err := s.Rows(t.Context(), key)
				if err != nil || len(rows) != 1 {
					t.Fatalf("%s: Rows = %+v, %v", name, rows, err)
				}
				row := rows[0]
				if want := (bucket.Epoch{Start: t0, Spent: 38}); row.Epoch != want || row.Epochs != [bucket.EpochsKept]bucket.Epoch{} || row.Base != (bucket.Base{}) {
					t.Fatalf("%s: row %+v, want one epoch and nothing else of the kind", name, row)
				}
				for step := range int64(3) {
					c := take(l, t0+at+step*bucket.EpochLength, 1)
					c.Known = &row
					if fold {
						c.Fold = &bucket.Fold{From: row.Fold, Delta: l.Time(2), Seen: seen}
					}
					want, status := c.Apply(row, true)
					out, err := s.Charge(t.Context(), key, c)
					if err != nil || out.Status != status || !equalRow(out.Row, want) {
						t.Fatalf("%s, %d ns on, fold %v: %v %+v, %v\nwant %v %+v", name, at, fold, out.Status, out.Row, err, status, want)
					}
					row = out.Row
				}
			}
		}
	}
}

// TestRowFitsAUnit: a row that has all it can have, with large numbers, stays
// below the KB that a write unit is for, in five Regions by far.
func TestRowFitsAUnit(t *testing.T) {
	direct := tables(t).Client(region)
	s := ddbstore.New(direct, buckets, region)
	l, err := bucket.NewLimit(bucket.Rate{Count: 999_983, Period: time.Second}, bucket.MaxBurst)
	if err != nil {
		t.Fatal(err)
	}
	before, err := bucket.NewLimit(bucket.Rate{Count: 999_979, Period: time.Second}, bucket.MaxBurst-1)
	if err != nil {
		t.Fatal(err)
	}
	const odd = int64(123_456_789) // a number without zeros at its end takes the most
	names := []string{"ap-southeast-1", "ap-northeast-1", "eu-central-1", "us-west-2", "sa-east-1", "ca-central-1", "eu-west-3",
		"ap-south-1", "af-south-1", "us-east-2", "me-central-1", "eu-north-1", "ap-southeast-2", "us-west-1", "ap-northeast-3", "eu-south-2"}
	sizes := map[int]int{}
	for _, others := range []int{0, 2, 4, 9} {
		key := newKey(t) + "/tenant-0123456789abcdef/limit"
		for i := range int64(6) {
			c := take(l, t0+odd+i*(bucket.EpochLength+1), 999_999)
			seen := map[string]bucket.Seen{}
			for _, name := range names[:others] {
				seen[name] = bucket.Seen{Born: c.Now, Spent: 987_654_321_987, At: c.Now}
			}
			if others > 0 {
				c.Fold = &bucket.Fold{From: i, Seen: seen}
			}
			if c.Ver, c.Since = odd+i, c.Now; i == 5 { // the limit changes
				c.Limit, c.Inc = before, before.Time(c.Tokens)
			}
			out, err := s.Charge(t.Context(), key, c)
			if err != nil || out.Status != bucket.Charged {
				t.Fatalf("Charge = %+v, %v", out, err)
			}
			if out.Units != float64(out.Calls) {
				t.Errorf("%d Regions seen: %v units for %d calls", others, out.Units, out.Calls)
			}
		}
		sizes[others+1] = itemSize(t, direct, key)
	}
	t.Logf("bytes by number of Regions: %v", sizes)
	if sizes[5] > 600 || sizes[10] > 1000 {
		t.Errorf("bytes by number of Regions: %v", sizes)
	}
}

// itemSize returns the size of a row, as DynamoDB counts it.
func itemSize(t *testing.T, c *dynamodb.Client, key string) int {
	t.Helper()
	out, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: ptr(buckets), Key: map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: key},
		"sk": &types.AttributeValueMemberS{Value: region},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return ddbstore.SizeOf(out.Item)
}
