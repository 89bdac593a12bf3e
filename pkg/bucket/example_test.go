package bucket_test

import (
	"fmt"
	"time"

	"weir/pkg/bucket"
)

// Two requests a second, three at once. Five come together, then one every
// 250 ms: every second one is refused, until the client pauses.
func Example() {
	l, err := bucket.NewLimit(bucket.Rate{Count: 2, Period: time.Second}, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
	var b bucket.Bucket // full

	fmt.Println("  at   allowed  left  wait   full in")
	for _, at := range []int64{0, 0, 0, 0, 0, 250, 500, 750, 1000, 1250, 3000} {
		var d bucket.Decision
		b, d = b.Take(l, start+at*int64(time.Millisecond), 1)
		fmt.Printf("%4d   %-7v  %d     %-6v %v\n", at, d.Allowed, d.Remaining, d.Wait, d.Full)
	}
	// Output:
	//   at   allowed  left  wait   full in
	//    0   true     2     0s     500ms
	//    0   true     1     0s     1s
	//    0   true     0     0s     1.5s
	//    0   false    0     500ms  1.5s
	//    0   false    0     500ms  1.5s
	//  250   false    0     250ms  1.25s
	//  500   true     0     0s     1.5s
	//  750   false    0     250ms  1.25s
	// 1000   true     0     0s     1.5s
	// 1250   false    0     250ms  1.25s
	// 3000   true     2     0s     500ms
}

// A burst that takes more than a century to refill is a mistake; the error says
// what would fit.
func ExampleNewLimit() {
	_, err := bucket.NewLimit(bucket.Rate{Count: 1, Period: 24 * time.Hour}, 50_000)
	fmt.Println(err)
	// Output:
	// bucket: impossible burst: 50000 tokens at 1 per 24h0m0s refill in over 100 years: at most 36500
}

// A process that charges a store row carries the remainder, so that three times
// a third of a second is a second.
func ExampleLimit_Charge() {
	l, _ := bucket.NewLimit(bucket.Rate{Count: 3, Period: time.Second}, 3)
	var inc, paid int64
	for range 3 {
		inc, paid = l.Charge(1, paid)
		fmt.Println(inc, paid)
	}
	// Output:
	// 333333334 2
	// 333333333 1
	// 333333333 0
}

// Two Regions share ten tokens, one a second. Ireland takes four; a second later
// Ohio sees that and takes three, with the four folded into its row; then Ohio's
// row has everything.
func ExampleMerge() {
	l, _ := bucket.NewLimit(bucket.Rate{Count: 1, Period: time.Second}, 10)
	second := int64(time.Second)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()

	charge := func(row bucket.Row, found bool, n int64, fold *bucket.Fold) bucket.Row {
		row, status := bucket.Charge{Limit: l, Now: now, Tokens: n, Inc: l.Time(n), Fold: fold}.Apply(row, found)
		if status != bucket.Charged {
			fmt.Println("not charged:", status)
		}
		return row
	}
	ireland := charge(bucket.Row{Region: "eu-west-1"}, false, 4, nil)
	ohio := bucket.Row{Region: "us-east-2"}

	now += second
	g := bucket.Merge(l, ohio, []bucket.Row{ireland}, now, bucket.DefaultGrace)
	fmt.Println("Ohio sees", l.Remaining(g.TAT, now), "left,", g.Unseen, "spent elsewhere; its own row says", l.Remaining(ohio.TAT, now))

	ohio = charge(ohio, false, 3, g.Fold)
	g = bucket.Merge(l, ohio, []bucket.Row{ireland}, now, bucket.DefaultGrace)
	fmt.Println("Ohio sees", l.Remaining(g.TAT, now), "left,", g.Unseen, "spent elsewhere; its own row says", l.Remaining(ohio.TAT, now))

	g = bucket.Merge(l, ireland, []bucket.Row{ohio}, now, bucket.DefaultGrace)
	fmt.Println("Ireland sees", l.Remaining(g.TAT, now), "left,", g.Unseen, "spent elsewhere")
	// Output:
	// Ohio sees 7 left, 4 spent elsewhere; its own row says 10
	// Ohio sees 4 left, 0 spent elsewhere; its own row says 4
	// Ireland sees 4 left, 3 spent elsewhere
}
