package bucket

import "math"

// DefaultGrace is the least time to pass to Merge as grace; where replication
// is slow, four times its lag is better.
const DefaultGrace = int64(5_000_000_000)

// Global is what one Region can say of a whole bucket from the rows it sees.
type Global struct {
	TAT  int64 // of the whole bucket, now to now + MaxDepth
	Fold *Fold // what this Region's next charge at the same now adds; nil if nothing

	// Complete is false if no row's view reaches back without a gap, so that
	// spend from before the gap has been forgiven.
	Complete bool

	Unseen     int64  // tokens spent elsewhere that this Region's row does not contain
	Skew       int64  // how far a row lies ahead of now at most, ns; its clock is ahead by more
	SkewRegion string // whose row that is; "" if none is ahead
}

// Merge computes the level of a bucket at now (ns since the Unix epoch, > 0)
// from own, the row of the caller's Region, and peers, the rows that it sees of
// all others. See the package documentation, Several Regions.
//
// own is the zero Row with its Region set if that Region has no row. Of two rows
// of one Region the newer counts; the order of peers does not. grace >= 0 is how
// far apart, in ns, a spend and its date may lie before it is forgiven instead
// of charged late.
//
// Rows may hold anything: Merge does not fail, and TAT stays within its range.
func Merge(l Limit, own Row, peers []Row, now, grace int64) Global {
	if l.unlimited || l.rate.Count == 0 {
		return Global{TAT: max(now, own.TAT), Complete: true}
	}
	var buf [10]view // more go to the heap
	views := gather(buf[:0], own, peers, now)
	g := Global{TAT: now}
	lowest, lowestComplete := int64(math.MaxInt64), int64(math.MaxInt64)
	for k := range views {
		t, complete := estimate(l, views, k, grace)
		lowest = min(lowest, t)
		if complete {
			g.Complete = true
			lowestComplete = min(lowestComplete, t)
		}
		g.TAT = max(g.TAT, views[k].TAT)
		if views[k].shift > g.Skew {
			g.Skew, g.SkewRegion = views[k].shift, views[k].Region
		}
	}
	if g.Complete {
		lowest = lowestComplete
	}
	g.TAT = min(max(g.TAT, lowest), now+int64(MaxDepth))
	g.Fold, g.Unseen = fold(views, own.Region, g.TAT, now)
	return g
}

// view is a row as it is read in one Region: if its clock is ahead, all of its
// times are moved back by shift, so that At is now.
type view struct {
	Row   // Born is not moved: it is the row's identity
	shift int64
}

func newView(r Row, own bool, now int64) view {
	v := view{Row: r}
	v.Spent = max(0, v.Spent)
	v.TAT = max(0, v.TAT)
	if v.At > now && !own {
		v.shift = v.At - now
		v.TAT -= v.shift
		v.At = now
	}
	v.Epoch.Start = min(v.At, max(0, v.Epoch.Start)-v.shift)
	return v
}

// unseen returns how many tokens of row m are not contained in a TAT whose
// record of m is s, and how many of them are older than m's epoch. since is a
// time before all of them.
func (m *view) unseen(s Seen) (n, old, since int64) {
	if s.Born > m.Born { // m is a replica's leftover of an earlier life
		return 0, 0, 0
	}
	if s.Born < m.Born { // m expired and came back, or was never seen
		s = Seen{At: m.Born - m.shift}
	}
	n = m.Spent - max(0, s.Spent)
	if n <= 0 { // nothing new, or tokens were handed back
		return 0, 0, 0
	}
	return n, min(n, max(0, m.Epoch.Spent-max(0, s.Spent))), s.At
}

// gather appends the views to buf: one a Region, in order of At.
func gather(buf []view, own Row, peers []Row, now int64) []view {
	buf = append(buf, newView(own, true, now))
	for i := range peers {
		v := newView(peers[i], peers[i].Region == own.Region, now)
		buf = insert(buf, v)
	}
	return buf
}

// insert adds v to views, which are in order, unless there is a newer row of its
// Region; an older one it replaces.
func insert(views []view, v view) []view {
	for i := range views {
		if views[i].Region != v.Region {
			continue
		}
		if !v.newer(&views[i]) {
			return views
		}
		views = append(views[:i], views[i+1:]...)
		break
	}
	views = append(views, v)
	for i := len(views) - 1; i > 0 && views[i].before(&views[i-1]); i-- {
		views[i], views[i-1] = views[i-1], views[i]
	}
	return views
}

// before orders views by At; names decide a tie, so that the result does not
// depend on the order of rows.
func (v *view) before(w *view) bool {
	if v.At != w.At {
		return v.At < w.At
	}
	return v.Region < w.Region
}

// newer reports whether v is a later state of w's row. Fold only grows; At may
// step back a little where processes' clocks differ, and Spent where tokens are
// handed back.
func (v *view) newer(w *view) bool {
	a := [...]int64{v.Born, v.Fold, v.At + v.shift, v.Spent, v.TAT}
	b := [...]int64{w.Born, w.Fold, w.At + w.shift, w.Spent, w.TAT}
	for i := range a {
		if a[i] != b[i] {
			return a[i] > b[i]
		}
	}
	return false
}

// estimate returns the bucket's TAT as row k has it, once what the others have
// spent and it has not seen is charged to it. It is not complete if some of
// that is too old to be charged, and left out.
func estimate(l Limit, views []view, k int, grace int64) (tat int64, complete bool) {
	tat, complete = views[k].TAT, true
	for m := range views {
		if m == k {
			continue
		}
		v := &views[m]
		n, old, since := v.unseen(views[k].Seen[v.Region])
		if n == 0 {
			continue
		}
		if old > 0 && ahead(v.Epoch.Start, since) > grace {
			complete = false
		} else if old > 0 {
			tat = add(max(tat, v.Epoch.Start), l.Time(old))
		}
		if n > old {
			tat = add(max(tat, v.At), l.Time(n-old))
		}
	}
	return tat, complete
}
