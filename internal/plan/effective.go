package plan

// A version is what buckets are charged under. Of one tenant's versions the larger
// is the newer, and whoever meets a larger one than its own knows that its
// configuration is old.
//
// It has the tenant's own version, then the version of its plan, then whether the
// plan's scheduled change is in force: in this order, since it is the tenant's
// version that says which plan the others are of. So versions are in order also
// when a tenant moves between plans, and for somebody who has seen one of two
// changes: what he takes to hold never counts as newer than what does.
//
// Times would not do. The later of the stamps of tenant and plan is no order: who
// has seen a change of the old plan, and not yet that the tenant has left it,
// would be ahead of everybody else. And when a scheduled change comes into force
// depends on the clock that is asked.
const (
	tenantShift      = 32
	planShift        = 1
	scheduledInForce = 1
)

// versionOf returns the version of tenant t of plan p at now; 0 in development,
// where nothing has versions.
func versionOf(p *Plan, t Tenant, now int64) int64 {
	ver := t.Ver<<tenantShift | p.Ver<<planShift
	if p.Next.InForce(now) {
		ver |= scheduledInForce
	}
	return ver
}

// Split returns the version of the tenant and that of its plan in ver.
func Split(ver int64) (tenant, plan int64) {
	return ver >> tenantShift, ver & (1<<tenantShift - 1) >> planShift
}

// Since returns when what holds for t at now came into force, in ns since the Unix
// epoch; p is its plan, or what Effective made of it. It is 0 in development.
func Since(p *Plan, t Tenant, now int64) int64 {
	since := max(p.Stamp, t.Stamp)
	if p.Next.InForce(now) {
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
	ver = versionOf(p, t, now)
	limits, description, carry, changed := p.Limits, p.Description, p.Carry, p.Stamp
	if n := p.Next; n.Has(p.Name, t.ID, now) {
		limits, description, carry, changed = n.Plan.Limits, n.Plan.Description, n.Carry, max(p.Stamp, n.From)
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
