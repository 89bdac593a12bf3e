package telemetry

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// FuzzTenants: whatever comes in whatever order, everything is counted, the index
// finds what is there, and who has a share of more than one in maxTenants is
// there.
func FuzzTenants(f *testing.F) {
	f.Add(uint64(1), uint16(5000), uint16(1000))
	f.Add(uint64(2), uint16(20_000), uint16(65))
	f.Add(uint64(3), uint16(300), uint16(3))
	f.Fuzz(func(t *testing.T, seed uint64, decisions, different uint16) {
		rng := rand.New(rand.NewPCG(seed, 0))
		x := newTenants()
		truth := make(map[string]uint64)
		for range decisions {
			n := int(rng.ExpFloat64() * float64(different) / 8)
			if rng.IntN(4) == 0 {
				n = rng.IntN(int(different) + 1)
			}
			id := fmt.Sprint("tenant-", n)
			truth[id]++
			e := x.of(id)
			if e.id != id {
				t.Fatalf("asked for %s, got %s", id, e.id)
			}
			e.rank++
			e.counts[allowed]++
		}
		total := x.others[allowed]
		for i := range x.all {
			e := &x.all[i]
			total += e.counts[allowed]
			if x.of(e.id) != e {
				t.Errorf("%s is there and not found", e.id)
			}
			if e.counts[allowed] > truth[e.id] || e.rank < truth[e.id] {
				t.Errorf("%s: counted %d, at most %d, in truth %d", e.id, e.counts[allowed], e.rank, truth[e.id])
			}
		}
		if total != uint64(decisions) {
			t.Errorf("%d counted, want %d", total, decisions)
		}
		for id, n := range truth {
			if n > uint64(decisions)/maxTenants && x.of(id).rank < n {
				t.Errorf("%s made %d of %d and is not among the busiest", id, n, decisions)
			}
		}
		for _, i := range x.index {
			if int(i) > len(x.all) {
				t.Fatalf("the index points beyond the tenants")
			}
		}
	})
}
