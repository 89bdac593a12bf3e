package bucket

// manyRegions is how many rows Merge handles without allocating.
const manyRegions = 10

// view is a row as it is read in one Region: if its clock is ahead, all of its
// times are moved back by shift, so that At is now.
type view struct {
	Row      // but for Born, which is the row's identity, and Epochs: see epoch
	shift    int64
	carry    Carry // by which the reader's limit follows the row's Prior
	complete bool  // its estimate contains every spend that is visible
}

// view returns r as c reads it.
func (c *Rescale) view(r Row, own bool) view {
	now := c.Now
	v := view{Row: r}
	v.Spent = max(0, v.Spent)
	v.TAT = max(0, v.TAT)
	if v.At > now && !own {
		v.shift = v.At - now
		v.TAT -= v.shift
		v.At = now
	}
	v.Epoch = v.epoch(r.Epoch)
	v.Base.TAT = max(0, r.Base.TAT) - v.shift
	if r.Base.TAT <= 0 && r.Fold != 0 { // folded before rows had a Base: nothing better is known
		v.Base = Base{TAT: v.TAT, Spent: v.Spent}
	}
	if v.Prior = (Prior{}); r.Prior.Spent > 0 {
		v.Prior = Prior{Burst: max(0, r.Prior.Burst), Depth: max(0, r.Prior.Depth),
			At: max(0, min(now, r.Prior.At-v.shift)), Spent: min(v.Spent, r.Prior.Spent)}
	}
	to := Rescale{Limit: c.Limit, Ver: v.Ver, Carry: c.Carry, Since: c.Since, Now: now}
	if v.Ver > c.Ver { // c does not know how, or when
		to.Carry, to.Since = Proportional, 0
	}
	if v.carry = to.Carry; r.Limit.known() && r.Limit != c.Limit && (r.Ver != 0 || c.Ver != 0) {
		v.Row = to.on(v.Row)
	}
	return v
}

// datesKept is how many dates a row has: its epochs, the current one, when its
// limit changed, and its At.
const datesKept = EpochsKept + 3

// dates returns when the row's tokens were spent, at the latest: by each Start
// those up to Spent. Both are in order; the last pair is At and all tokens.
func (v *view) dates() [datesKept]Epoch {
	// The current epoch is among the last ones too, except in an older row.
	all := Epoch{Start: v.At, Spent: v.Spent}
	d := [...]Epoch{EpochsKept: v.Epoch, all, all}
	if v.Prior.Spent > 0 {
		d[EpochsKept+1] = Epoch{Start: min(v.At, v.Prior.At), Spent: v.Prior.Spent}
	}
	for i, e := range v.Epochs {
		d[i] = v.epoch(e)
	}
	for i := range d {
		for ; i > 0 && d[i].Start < d[i-1].Start; i-- {
			d[i], d[i-1] = d[i-1], d[i]
		}
	}
	for i := len(d) - 2; i >= 0; i-- { // what was handed back and spent again was spent later
		d[i].Spent = min(d[i].Spent, d[i+1].Spent)
	}
	return d
}

// epoch returns an epoch of the row as it is read here.
func (v *view) epoch(e Epoch) Epoch {
	return Epoch{Start: min(v.At, max(0, e.Start)-v.shift), Spent: min(v.Spent, max(0, e.Spent))}
}

// unseen returns how many tokens of v are not contained in a TAT whose record of v
// is s, and how many of them are older than v's epoch. since is a time before all
// of them.
func (v *view) unseen(s Seen) (n, old, since int64) {
	if s.Born > v.Born { // v is a replica's leftover of an earlier life
		return 0, 0, 0
	}
	if s.Born < v.Born { // v expired and came back, or was never seen
		s = Seen{At: v.Born - v.shift}
	}
	n = v.Spent - max(0, s.Spent)
	if n <= 0 { // nothing new, or tokens were handed back
		return 0, 0, 0
	}
	return n, min(n, max(0, v.Epoch.Spent-max(0, s.Spent))), s.At
}

// gather appends the views to buf: one a Region, the first that of own.
func (c *Rescale) gather(buf []view, own Row, peers []Row) []view {
	buf = append(buf, c.view(own, true))
	for i := range peers {
		v := c.view(peers[i], peers[i].Region == own.Region)
		if k := find(buf, v.Region); k < 0 {
			buf = append(buf, v)
		} else if v.newer(&buf[k]) {
			buf[k] = v
		}
	}
	return buf
}

// find returns the index of a Region's view, or -1.
func find(views []view, region string) int {
	for i := range views {
		if views[i].Region == region {
			return i
		}
	}
	return -1
}

// newer reports whether v is a later state of w's row. Fold and Ver only grow; At
// may step back a little where processes' clocks differ, and Spent where tokens
// are handed back.
func (v *view) newer(w *view) bool {
	a := [...]int64{v.Born, v.Fold, v.Ver, v.At + v.shift, v.Spent, v.TAT}
	b := [...]int64{w.Born, w.Fold, w.Ver, w.At + w.shift, w.Spent, w.TAT}
	for i := range a {
		if a[i] != b[i] {
			return a[i] > b[i]
		}
	}
	return false
}

// behind reports whether v's clock must be behind that of own's Region: v has
// recorded tokens of own as seen before own had spent them.
func (v *view) behind(own *view) bool {
	s, spent := v.Seen[own.Region], int64(0)
	if s.Born != own.Born {
		return false
	}
	for _, e := range own.Epochs {
		if e.Spent < s.Spent {
			spent = max(spent, e.Start)
		}
	}
	return s.At < spent
}
