package bucket

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
//
// Merge is shorthand for Rescale.Merge at own's version, Proportional.
func Merge(l Limit, own Row, peers []Row, now, grace int64) Global {
	return Rescale{Limit: l, Ver: own.Ver, Now: now}.Merge(own, peers, grace)
}

// Merge is the function Merge while a change of limit spreads: a row of another
// version and limit is read as it would be under c's. What c.Carry says is how to
// come there from an older version; a newer one, which c does not know, is read
// as Proportional. The Fold is for a Charge with c's Limit, Ver, Carry and Now.
func (c Rescale) Merge(own Row, peers []Row, grace int64) Global {
	l, now := c.Limit, c.Now
	if l.rateless() {
		return Global{TAT: max(now, own.TAT), Complete: true}
	}
	var buf [manyRegions]view              // more go to the heap
	views := c.gather(buf[:0], own, peers) // the first is own's
	g := Global{TAT: now}
	for k := range views {
		v := &views[k]
		g.TAT = max(g.TAT, v.TAT)
		if v.shift > g.Skew || v.shift == g.Skew && v.Region < g.SkewRegion { // whatever the order of peers
			g.Skew, g.SkewRegion = v.shift, v.Region
		}
	}
	lowest, complete := estimates(l, views, grace)
	g.Complete = complete
	g.TAT = min(max(g.TAT, lowest), now+int64(MaxDepth))
	g.Fold, g.Unseen = fold(views, g.TAT, now)
	return g
}
