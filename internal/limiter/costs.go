package limiter

import "sort"

// Costs is what a process's decisions have cost its store: write units, failed
// conditions included. What refusals cost is a figure of its own: a tenant who
// hammers a limit must not be able to run up a bill.
type Costs struct {
	Units      float64 // in all
	OnRefusals float64 // of these, for charges that admitted nothing
}

// BucketCosts is what refusals of one bucket have cost.
type BucketCosts struct {
	Key        string
	OnRefusals float64
}

// Costs returns what the process has cost since it started.
func (l *Limiter) Costs() Costs {
	return Costs{Units: float64(l.units.Load()), OnRefusals: float64(l.wasted.Load())}
}

// Costliest returns the n buckets, of those in mind, whose refusals cost most.
func (l *Limiter) Costliest(n int) []BucketCosts {
	var all []BucketCosts
	l.table.each(func(key string, e *entry) {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.wasted > 0 {
			all = append(all, BucketCosts{key, float64(e.wasted)})
		}
	})
	sort.Slice(all, func(i, j int) bool {
		if all[i].OnRefusals != all[j].OnRefusals {
			return all[i].OnRefusals > all[j].OnRefusals
		}
		return all[i].Key < all[j].Key
	})
	return all[:min(n, len(all))]
}
