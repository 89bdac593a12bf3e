package bucket

// Rescale brings a row to another limit. It spends nothing: the row's At, Spent,
// Epochs and Seen stay what they are.
type Rescale struct {
	Limit Limit
	Ver   int64 // version of Limit
	Carry Carry // what becomes of the level
	Since int64 // when Limit came into force, ns since the Unix epoch; 0 if that is not known
	Now   int64 // ns since the Unix epoch
}

// when returns the time as of which a row is carried over that was last charged at
// at. Since is right whoever does it and whenever: an idle row that is noticed
// hours after the change has been refilling under the new limit, not the old one.
// Charges after Since were still made under the old one.
func (c *Rescale) when(at int64) int64 {
	if 0 < c.Since && c.Since < c.Now {
		return max(c.Since, at)
	}
	return max(c.Now, at)
}

// Apply is the reference semantics of a Rescale on a row that exists. It reports
// false, and returns r, if there is nothing to do: the row is of a newer version,
// or of this one and of this limit. A row that does not say its limit is older
// than any, and keeps its TAT.
func (c Rescale) Apply(r Row) (Row, bool) {
	if r.Limit.known() && (r.Ver > c.Ver || r.Ver == c.Ver && r.Limit == c.Limit.stated()) {
		return r, false
	}
	return c.on(r), true
}

// on returns r under the Rescale's limit. If the limit differs, TAT is computed
// anew, and so is the Base that it grew from; where it cannot have grown to that,
// the row is as if it had just been folded.
func (c Rescale) on(r Row) Row {
	c.Limit = c.Limit.stated()
	if from := r.Limit; from.known() && from != c.Limit {
		r.Prior = Prior{Burst: from.burst, Depth: from.full, At: c.when(r.At), Spent: r.Spent}
		r.TAT = r.Prior.carry(r.TAT, c.Carry, from, c.Limit)
		if replayable(c.Carry, from, c.Limit) {
			r.Base.TAT = r.Prior.carry(r.Base.TAT, c.Carry, from, c.Limit)
		} else {
			r.Base = Base{TAT: r.TAT, Spent: r.Spent}
		}
	}
	r.Limit, r.Ver = c.Limit, c.Ver
	return r
}

// Expiry returns when a row that c made may be forgotten, in seconds since the
// Unix epoch, by the rule of Charge.Expiry. A store moves a row's expiry out with
// it, never in.
func (c Rescale) Expiry(r Row) int64 {
	return expiry(c.Now, max(c.Limit.tau, ahead(r.TAT, c.Now)))
}
