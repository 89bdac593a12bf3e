package bucket

// Rescale brings a row to another limit. It spends nothing: the row's At, Spent,
// Epochs and Seen stay what they are.
type Rescale struct {
	Limit Limit
	Ver   int64 // version of Limit
	Carry Carry // what becomes of the level
	Now   int64 // ns since the Unix epoch; one before the row's At counts as At
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

// on returns r under the Rescale's limit. If the limit differs, the TAT is
// computed anew and is also the Base: what others spend from then on is put on
// top of it.
func (c Rescale) on(r Row) Row {
	c.Limit = c.Limit.stated()
	if r.Limit.known() && r.Limit != c.Limit {
		r.TAT = c.Carry.TAT(r.TAT, max(c.Now, r.At), r.Limit, c.Limit)
		r.Base = Base{TAT: r.TAT, Spent: r.Spent}
	}
	r.Limit, r.Ver = c.Limit, c.Ver
	return r
}

// Expiry returns when a row that c made may be forgotten, in seconds since the
// Unix epoch, by the rule of Charge.Expiry. A store moves a row's expiry out with
// it, never in.
func (c Rescale) Expiry(r Row) int64 {
	depth := max(c.Limit.tau, ahead(r.TAT, c.Now))
	return expiry(c.Now, depth)
}
