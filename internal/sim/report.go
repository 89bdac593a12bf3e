package sim

import (
	"sort"
	"time"
)

// Report is what a run came to. Counts are requests unless said otherwise.
type Report struct {
	Policy   Policy `json:"policy"`
	Offered  int    `json:"offered"`
	Admitted int    `json:"admitted"`
	Ideal    int    `json:"ideal"` // admitted by one bucket that sees everything at once

	Ratio         float64 `json:"ratio"`         // Admitted / Ideal
	FalseRefusals int     `json:"falseRefusals"` // refused although Ideal admitted them
	WorstWindow   float64 `json:"worstWindow"`   // most admitted in any 10 s, over Burst + 10 s * Rate of the largest limit
	OvershootMax  int64   `json:"overshootMax"`  // most admitted in any interval above Burst + Rate * t

	StoreCalls               int     `json:"storeCalls"` // charges and queries
	StoreCallsPer1000        float64 `json:"storeCallsPer1000"`
	StoreCallsPer1000Refused float64 `json:"storeCallsPer1000Refused"` // 0 if none was refused
	WriteUnits               float64 `json:"writeUnits"`               // failed conditions included
	UnitsOnRefusals          float64 `json:"unitsOnRefusals"`          // write units that admitted nothing
	Stranded                 int64   `json:"stranded"`                 // tokens charged and never spent
	SkewSeenMs               int64   `json:"skewSeenMs"`               // largest clock difference noticed

	Regions []RegionReport `json:"regions"`
	Command string         `json:"command"` // runs it again

	times  []int64 // of every arrival, ns since the start
	ideal  []bool
	passed []bool
	where  []int32
}

// RegionReport is one Region's part of a Report.
type RegionReport struct {
	Name       string  `json:"name"`
	Offered    int     `json:"offered"`
	Admitted   int     `json:"admitted"`
	Charges    int     `json:"charges"`
	Queries    int     `json:"queries"`
	WriteUnits float64 `json:"writeUnits"`
	Spent      int64   `json:"spent"` // by the Region's row: tokens charged
}

// window is the length of WorstWindow's window.
const window = int64(10 * time.Second)

// finish computes everything that follows from the decisions.
func (r *Report) finish(stages []stage) {
	var tat int64
	var times []int64
	idealBucket := int64(0)
	paid := int64(0)
	current := 0
	for i, t := range r.times {
		now := Start + t
		for n := stageAt(stages, t); current < n; current++ {
			from, to, change := stages[current].ideal, stages[current+1].ideal, Start+stages[current+1].from
			carry := stages[current+1].carry
			idealBucket = carry.TAT(idealBucket, change, from, to)
			tat, paid = carry.TAT(tat, change, from, to), 0
		}
		l := stages[current].ideal
		took, d := l.Take(idealBucket, now, 1)
		idealBucket = took
		r.ideal[i] = d.Allowed
		if d.Allowed {
			r.Ideal++
		}
		if !r.passed[i] {
			if d.Allowed {
				r.FalseRefusals++
			}
			continue
		}
		r.Admitted++
		r.Regions[r.where[i]].Admitted++
		times = append(times, t)
		var inc int64
		inc, paid = l.Charge(1, paid)
		tat = max(tat, now) + inc
		r.OvershootMax = max(r.OvershootMax, l.Level(tat, now)-l.Burst())
	}
	r.Offered = len(r.times)
	if r.Ideal > 0 {
		r.Ratio = float64(r.Admitted) / float64(r.Ideal)
	}
	if n := most(times, window); n > 0 {
		holds := int64(0)
		for _, g := range stages {
			holds = max(holds, g.ideal.Burst()+g.ideal.Tokens(window))
		}
		r.WorstWindow = float64(n) / float64(holds)
	}
	r.Stranded -= int64(r.Admitted)
	for i := range r.Regions {
		r.StoreCalls += r.Regions[i].Charges + r.Regions[i].Queries
		r.WriteUnits += r.Regions[i].WriteUnits
	}
	if r.Offered > 0 {
		r.StoreCallsPer1000 = 1000 * float64(r.StoreCalls) / float64(r.Offered)
	}
	if refused := r.Offered - r.Admitted; refused > 0 {
		r.StoreCallsPer1000Refused = 1000 * float64(r.StoreCalls) / float64(refused)
	}
}

// most returns the largest number of times, which are in order, within any d.
func most(times []int64, d int64) int {
	best, lo := 0, 0
	for hi := range times {
		for times[hi]-times[lo] >= d {
			lo++
		}
		best = max(best, hi-lo+1)
	}
	return best
}

// Between returns what was offered, admitted and ideally admitted from one time
// to another since the start.
func (r *Report) Between(from, to time.Duration) (offered, admitted, ideal int) {
	lo := sort.Search(len(r.times), func(i int) bool { return r.times[i] >= int64(from) })
	hi := sort.Search(len(r.times), func(i int) bool { return r.times[i] >= int64(to) })
	for i := lo; i < hi; i++ {
		if r.passed[i] {
			admitted++
		}
		if r.ideal[i] {
			ideal++
		}
	}
	return hi - lo, admitted, ideal
}
