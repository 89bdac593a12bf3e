package plan

// A version is what buckets are charged under. Of one tenant's versions the larger
// is the newer, also when the tenant moves between plans, and whoever meets a
// larger one than its own knows that its configuration is old.
//
// It is the stamp of the tenant's or of the plan's last change, whichever is
// later. Stamps grow over all changes of the configuration and are even: the odd
// number after one says that the plan's scheduled change is in force on top of
// it. That it came into force is no change of the configuration and has no stamp,
// and the time it was scheduled for would not do as one: it is compared with
// the clocks of many machines, and a change made just after it, by a machine whose
// clock is slow, would have to count as the older of the two.
const scheduledInForce = 1

// StampOf returns the stamp in a version.
func StampOf(ver int64) int64 { return ver &^ scheduledInForce }

// Since returns when what has version ver came into force, in ns since the Unix
// epoch; p is a plan that Effective was given or has returned with ver. It is 0 for
// version 0.
func (p *Plan) Since(ver int64) int64 {
	since := StampOf(ver)
	if ver != since && p.Next != nil {
		since = max(since, p.Next.From)
	}
	return since
}

// Effective returns what holds for tenant t of plan p at now: the plan with its
// rollout resolved and the tenant's overrides applied, its Carry that of the newest
// of the changes that made it so; and its version. It returns p itself if that is
// what holds, and shares limits with p where they are the same. Nothing it returns
// may be changed.
//
// Requests without a credential are those of the zero Tenant.
func Effective(p *Plan, t Tenant, now int64) (eff *Plan, ver int64) {
	ver = max(p.Stamp, t.Stamp)
	limits, description, carry, changed := p.Limits, p.Description, p.Carry, p.Stamp
	if n := p.Next; n.Has(p.Name, t.ID, now) {
		limits, description, carry, changed = n.Plan.Limits, n.Plan.Description, n.Carry, max(p.Stamp, n.From)
	}
	if p.Next.InForce(now) {
		ver |= scheduledInForce
	}
	if t.Stamp > changed {
		carry = t.Carry
	}
	own := t.Overrides.on(limits)
	if carry == p.Carry && description == p.Description && sameSlice(own, p.Limits) {
		return p, ver
	}
	q := *p
	q.Limits, q.Description, q.Carry = own, description, carry
	return &q, ver
}

// sameSlice reports whether a and b are the same elements of one array.
func sameSlice(a, b []Limit) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
