package bucket

// Under another limit, what was spent before is worth another time: with a tenth
// of the burst a tenth of a bucket is a tenth of the tokens. That a token comes to
// be seen after the change must not make it dearer than one that was seen in time.
// So the past is read as if it had been under the new limit: each token at the
// price that makes it as large a part of the bucket as it was, or as many tokens,
// and as long ago as makes the bucket refill as far as it did.

// price returns the time, under limit l that followed by carry, of n tokens spent
// under p. It is not below 0.
func (p *Prior) price(n int64, carry Carry, l Limit) int64 {
	switch {
	case carry == Reset:
		return 0
	case carry != Proportional || p.Burst <= 0:
		return l.Time(n)
	}
	return mul(n, int64(l.rate.Period)).scale(mul(l.burst, 1), mul(l.rate.Count, p.Burst))
}

// date returns when, under limit l that followed by carry, what happened at t
// under p would have happened, for the bucket to have refilled as far until p.At.
// It is rounded up.
func (p *Prior) date(t int64, carry Carry, l Limit) int64 {
	if t >= p.At || p.Burst <= 0 || p.Depth <= 0 {
		return t
	}
	ago := mul(ahead(p.At, t), l.full)
	if carry == Proportional {
		d, _ := ago.div(p.Depth)
		return p.At - d
	}
	d, _ := ago.ratio(mul(p.Burst, 1), mul(p.Depth, l.burst))
	return p.At - d
}

// carry returns what becomes of a time that is a row's TAT or was one, if the limit
// from changes at p.At to l. One of the past is as long ago as date has it.
func (p *Prior) carry(t int64, carry Carry, from, l Limit) int64 {
	switch {
	case t > p.At:
		return carry.TAT(t, p.At, from, l)
	case t <= 0 || !replayable(carry, from, l):
		return t
	}
	return max(1, p.date(t, carry, l))
}

// replayable reports whether, as far as TATs go, the past under from can be read as
// one under l: not if tokens come or go by the change alone.
func replayable(carry Carry, from, l Limit) bool {
	return (carry == Proportional || carry == Additive) && !from.rateless() && !l.rateless()
}
