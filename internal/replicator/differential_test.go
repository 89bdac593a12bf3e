package replicator

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// TestSharedRowLosesCharges is why each Region has a row of its own. Three
// Regions charge one bucket with the same code, before, during and after a cut,
// once in a row that all of them write and once in a row each. All charges
// succeed. What the converged table then says was spent is compared with what
// was charged.
func TestSharedRowLosesCharges(t *testing.T) {
	for name, c := range map[string]struct {
		row   func(region string) string
		exact bool
	}{
		"a row for all":    {func(string) string { return "shared" }, false},
		"a row per Region": {func(region string) string { return region }, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, Options{Lag: 50 * time.Millisecond, Jitter: 0.5})
			charged := w.chargeEverywhere(c.row)
			w.drain()
			w.Pause(w.Around(dublin)...)
			charged += w.chargeEverywhere(c.row)
			w.Resume()
			charged += w.chargeEverywhere(c.row)
			w.drain()
			w.drain() // what was applied while the first waited
			for _, region := range regions {
				spent := w.spent(region, c.row)
				t.Logf("%s: %d tokens charged, %d spent by the rows", region, charged, spent)
				if c.exact != (spent == charged) || spent > charged {
					t.Errorf("%s: %d tokens charged, rows say %d: want all of them counted: %v", region, charged, spent, c.exact)
				}
			}
		})
	}
}

// chargeEverywhere charges one bucket from several processes in every Region at
// once, and returns the tokens charged.
func (w *world) chargeEverywhere(row func(region string) string) int64 {
	const processes, charges, tokens = 3, 10, 2
	limit, err := bucket.NewLimit(bucket.Rate{Count: 1000, Period: time.Second}, 100_000)
	if err != nil {
		w.t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, region := range regions {
		for range processes {
			wg.Go(func() {
				store := ddbstore.New(w.client[region], w.table, row(region))
				var known *bucket.Row
				for range charges {
					out, err := store.Charge(w.t.Context(), "bucket", bucket.Charge{
						Limit: limit, Now: time.Now().UnixNano(), Tokens: tokens, Inc: limit.Time(tokens), Known: known,
					})
					if err == nil && out.Status != bucket.Charged {
						err = fmt.Errorf("status %v", out.Status)
					}
					if err != nil {
						w.t.Errorf("charge in %s: %v", region, err)
						return
					}
					known = &out.Row
				}
			})
		}
	}
	wg.Wait()
	return int64(len(regions)) * processes * charges * tokens
}

// spent returns the tokens spent according to the rows that a Region has.
func (w *world) spent(region string, row func(string) string) int64 {
	w.t.Helper()
	rows, err := ddbstore.New(w.client[region], w.table, row(region)).Rows(w.t.Context(), "bucket")
	if err != nil {
		w.t.Fatal(err)
	}
	total := int64(0)
	for _, r := range rows {
		total += r.Spent
	}
	return total
}
