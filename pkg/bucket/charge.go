package bucket

// Charge asks for consumption to be added to one row, in one conditional write.
type Charge struct {
	Limit  Limit // not unlimited
	Now    int64 // ns since the Unix epoch; not before the At of the row as last seen
	Tokens int64 // to add to Spent, > 0; below 0 to return tokens that were charged
	Inc    int64 // to add to TAT, ns: from Limit.Charge; below 0 to return
	Keep   int64 // of the limit's depth, to leave untouched, ns; below 0 to overdraw it by as much
	Ver    int64 // version of the limit, in any order that grows; 0 if it has none
	Carry  Carry // how to bring a row of an older Ver to Limit
	Since  int64 // when Limit came into force, ns since the Unix epoch; 0 if that is not known
	Fold   *Fold // what else to add to TAT, or nil

	// Known is the row as the caller last saw it, nil if never. It only steers
	// which form of the write is tried first and whether an epoch is opened; a
	// stale one costs a round trip, never correctness.
	Known *Row
}

// Fold brings other Regions' spend into the row.
type Fold struct {
	From  int64           // the row's Fold must still be this
	Delta int64           // to add to TAT beyond Inc, ns, >= 0
	Seen  map[string]Seen // replaces the row's Seen; never written to again
}

// Status is what became of a Charge.
type Status int

const (
	Charged  Status = iota + 1 // written
	Refused                    // the bucket holds too little; nothing was written
	Conflict                   // the row's Fold is not Fold.From; nothing was written
	Outdated                   // the row's Ver is newer than the charge's, and its Limit in force; nothing was written
)

// Outcome is a Status and the row: as written if it was Charged, else as found.
type Outcome struct {
	Status Status
	Row    Row

	Calls int     // round trips to the store
	Units float64 // write units billed, failed conditions included
}

// Apply is the reference semantics of a Charge on a row: what every store must
// do atomically. found is false if the row does not exist (or has expired).
//
//	t = max(tat, now) + delta + inc      Charged if t <= now + tau - keep
//
// A row of an older version, or of another limit of the same one, first becomes
// what Rescale.Apply makes of it; a charge of an older version than the row's is
// Outdated. Only a Charged row differs from r. If a charge is made to an
// unlimited Limit all the same, it is counted and not refused.
func (c Charge) Apply(r Row, found bool) (Row, Status) {
	if !found {
		r = Row{Region: r.Region}
	}
	if found && r.Ver > c.Ver && r.Limit.known() {
		return r, Outdated
	}
	was, delta := r, int64(0)
	if found && c.Rescales(r) {
		r = Rescale{Limit: c.Limit, Ver: c.Ver, Carry: c.Carry, Since: c.Since, Now: c.Now}.on(r)
	}
	if c.Fold != nil {
		if r.Fold != c.Fold.From {
			return was, Conflict
		}
		delta = max(0, c.Fold.Delta)
	}
	base := ahead(r.TAT, c.Now) // compared by subtracting: the sums may not fit
	if room := c.Room(); !c.Limit.unlimited && (base > room || c.Inc > room-base-delta) {
		return was, Refused
	}
	if !found {
		r.Born = c.Now
	}
	if c.OpensEpoch(r, found) {
		r.Epoch = Epoch{Start: c.Now, Spent: r.Spent}
		r.Epochs[EpochSlot(c.Now)] = r.Epoch
	}
	r.TAT = add(c.Now, add(add(base, delta), c.Inc))
	r.Spent += c.Tokens
	r.At = c.Now
	r.Ver, r.Limit = c.Ver, c.Limit.stated()
	if c.Fold != nil {
		r.Fold++
		r.Seen = c.Fold.Seen
		r.Base = Base{TAT: r.TAT, Spent: r.Spent}
	}
	return r, Charged
}

// Room returns the depth that the charge may fill: tau - keep.
func (c Charge) Room() int64 { return add(c.Limit.tau, -c.Keep) }

// OpensEpoch reports whether the charge opens a new epoch on row r.
func (c Charge) OpensEpoch(r Row, found bool) bool {
	return !found || c.Now-r.Epoch.Start >= EpochLength
}

// Rescales reports whether the charge first brings row r, which exists, to its
// own version and limit. Among charges without a version nobody can say which
// limit is the newer: the row's TAT is then taken as it is.
func (c Charge) Rescales(r Row) bool {
	switch {
	case !r.Limit.known():
		return c.Ver != 0 || r.Ver != 0
	case r.Ver == c.Ver:
		return c.Ver != 0 && r.Limit != c.Limit.stated()
	}
	return r.Ver < c.Ver
}
