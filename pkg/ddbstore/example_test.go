package ddbstore_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// A process charges a bucket and remembers the row, so that the next charge takes
// one round trip again.
func ExampleStore_Charge() {
	cfg, err := ddbstore.EnvConfig(os.Getenv)
	if err != nil {
		fmt.Println(err)
		return
	}
	store := ddbstore.New(ddbstore.NewClient(cfg), "weir-buckets", cfg.Region)
	limit, err := bucket.NewLimit(bucket.Rate{Count: 100, Period: time.Second}, 100)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()

	var known *bucket.Row
	for range 3 {
		c := bucket.Charge{Limit: limit, Now: time.Now().UnixNano(), Tokens: 10, Inc: limit.Time(10), Known: known}
		out, err := store.Charge(ctx, "acme/api", c)
		switch {
		case err != nil:
			fmt.Println("the store could not tell:", err)
			return
		case out.Status == bucket.Refused:
			fmt.Println("try again in", limit.Wait(out.Row.TAT, c.Now, c.Tokens))
		case out.Status == bucket.Charged:
			fmt.Println("left:", limit.Remaining(out.Row.TAT, c.Now))
		}
		known = &out.Row
	}
}
