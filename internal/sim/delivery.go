package sim

import "weir/pkg/bucket"

// delivery is a row on its way to another Region.
type delivery struct {
	due      int64 // ns since the start
	order    int64 // breaks ties, so that a run is deterministic
	from, to int
	at       int64 // when it was written
	until    int64 // writes before this may still join it
	row      bucket.Row
}

// deliveries is a heap by due time.
type deliveries []delivery

func (d deliveries) Len() int      { return len(d) }
func (d deliveries) Swap(i, j int) { d[i], d[j] = d[j], d[i] }
func (d deliveries) Less(i, j int) bool {
	if d[i].due != d[j].due {
		return d[i].due < d[j].due
	}
	return d[i].order < d[j].order
}
func (d *deliveries) Push(x any) { *d = append(*d, x.(delivery)) }
func (d *deliveries) Pop() any {
	old := *d
	x := old[len(old)-1]
	*d = old[:len(old)-1]
	return x
}

// coalesce lets a row replace an earlier version of the item that was written
// shortly before and is still on its way on the same link.
func (d deliveries) coalesce(from, to int, at int64, row bucket.Row) bool {
	for i := range d {
		x := &d[i]
		if x.from == from && x.to == to && x.row.Region == row.Region && at < x.until {
			x.row, x.at = row, at
			return true
		}
	}
	return false
}
