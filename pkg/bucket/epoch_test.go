package bucket

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Whatever the pauses between charges, a row has all epochs of its last three
// seconds, and none that never was.
func TestRowKeepsEpochs(t *testing.T) {
	l := must(t, MaxPerSecond, time.Second, MaxBurst)
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		row, found, now := Row{}, false, t0+rnd.Int64N(10*sec)
		var all []Epoch
		for range 200 {
			var s Status
			if row, s = (Charge{Limit: l, Now: now, Tokens: 1, Inc: l.Time(1)}).Apply(row, found); s != Charged {
				t.Fatal(s)
			}
			if found = true; len(all) == 0 || all[len(all)-1] != row.Epoch {
				all = append(all, row.Epoch)
			}
			for _, e := range all {
				if e.Start > row.Epoch.Start-(EpochsKept-1)*EpochLength && !slices.Contains(row.Epochs[:], e) {
					t.Fatalf("seed %d: %+v is not among %+v", seed, e, row.Epochs)
				}
			}
			for _, e := range row.Epochs {
				if e != (Epoch{}) && !slices.Contains(all, e) {
					t.Fatalf("seed %d: %+v never was", seed, e)
				}
			}
			now += []int64{1, rnd.Int64N(sec / 2), EpochLength, EpochLength + 1, rnd.Int64N(3 * sec)}[rnd.IntN(5)]
		}
	}
}
