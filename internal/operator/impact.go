package operator

import (
	"context"

	"weir/internal/plan"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// Rows reads the rows of a bucket: a *ddbstore.Store.
type Rows interface {
	Rows(ctx context.Context, key string) ([]bucket.Row, error)
}

// Buckets is where rows are read, and how they are put together.
type Buckets struct {
	Region string // whose replica is read
	Plain  Rows
	Strict Rows  // of strict limits; nil if their table is not known
	Grace  int64 // see bucket.Merge
}

// of returns where the rows of a limit are. Without a strict table a strict limit
// is held as a global one.
func (b Buckets) of(l *plan.Limit) Rows {
	if l.Consistency == plan.Strict && b.Strict != nil {
		return b.Strict
	}
	return b.Plain
}

// Reason says why a tenant would be over a limit.
type Reason string

// The reasons.
const (
	ByLevel Reason = "level" // it has used more than the new burst already
	ByRate  Reason = "rate"  // it spends faster than the new rate
)

// Over is a limit that a tenant would be over as soon as a change is made.
type Over struct {
	Tenant string `json:"tenant"`
	Limit  string `json:"limit"`
	Why    Reason `json:"why"`
	Mode   string `json:"mode"`   // of the limit then: in shadow nothing is refused
	Used   int64  `json:"used"`   // tokens, under the new limit
	Burst  int64  `json:"burst"`  // the new one
	Spend  int64  `json:"spend"`  // tokens per 1,000 s, at present
	Rate   string `json:"rate"`   // the new one
	Before string `json:"before"` // the rate so far
}

// over returns the limits that a tenant would be over at now, if what holds for it
// were changed from one plan to another. Limits with a bucket for every address or
// header value cannot be looked at, and those whose buckets are new are full.
func (b Buckets) over(ctx context.Context, tenant string, from, to *plan.Plan, carry bucket.Carry, now int64) ([]Over, error) {
	var all []Over
	for i := range to.Limits {
		l := &to.Limits[i]
		was := limitNamed(from, l.Name)
		if was == nil || was.Bucket == l.Bucket && was.Mode == l.Mode || l.Mode == plan.Off || l.Bucket.IsUnlimited() {
			continue
		}
		key, ok := l.TenantKey(tenant)
		if before, same := was.TenantKey(tenant); !ok || !same || key != before || isStrict(l) != isStrict(was) {
			continue
		}
		rows, err := b.of(l).Rows(ctx, key)
		if err != nil {
			return nil, err
		}
		if o, is := b.overOne(was, l, rows, carry, now); is {
			o.Tenant = tenant
			all = append(all, o)
		}
	}
	return all, nil
}

func isStrict(l *plan.Limit) bool { return l.Consistency == plan.Strict }

// overOne looks at the rows of one bucket.
func (b Buckets) overOne(was, l *plan.Limit, rows []bucket.Row, carry bucket.Carry, now int64) (Over, bool) {
	o := Over{Limit: l.Name, Mode: l.Mode.String(), Burst: l.Bucket.Burst(), Rate: RateText(l.Bucket), Before: RateText(was.Bucket)}
	slower := exceeds(milli(was.Bucket), l.Bucket)
	for _, group := range groups(l, rows) {
		used := l.Bucket.Level(b.tat(l, group, carry, now), now)
		spend := Spend(group, now)
		o.Used, o.Spend = max(o.Used, used), max(o.Spend, spend)
		switch {
		case used > l.Bucket.Burst():
			o.Why = ByLevel
		case o.Why == "" && slower && outspends(group, l.Bucket, now):
			o.Why = ByRate
		}
	}
	return o, o.Why != ""
}

// groups returns the rows that make up a bucket: all of them, or each by itself if
// Regions limit on their own.
func groups(l *plan.Limit, rows []bucket.Row) [][]bucket.Row {
	if l.Consistency != plan.Regional {
		return [][]bucket.Row{rows}
	}
	each := make([][]bucket.Row, len(rows))
	for i := range rows {
		each[i] = rows[i : i+1]
	}
	return each
}

// tat returns the TAT of a bucket once all its rows have been brought to l.
func (b Buckets) tat(l *plan.Limit, rows []bucket.Row, carry bucket.Carry, now int64) int64 {
	own, peers := split(rows, b.seat(l, rows))
	ver := own.Ver
	for _, r := range rows {
		ver = max(ver, r.Ver)
	}
	return bucket.Rescale{Limit: l.Bucket, Ver: ver + 2, Carry: carry, Now: now}.Merge(own, peers, b.Grace).TAT
}

// seat returns which row of a bucket is the reader's own.
func (b Buckets) seat(l *plan.Limit, rows []bucket.Row) string {
	switch {
	case isStrict(l) && b.Strict != nil:
		return ddbstore.StrictRow
	case l.Consistency == plan.Regional && len(rows) == 1:
		return rows[0].Region
	}
	return b.Region
}

// split returns the row of a Region and those of the others. If there is none of
// that Region, it is a new one.
func split(rows []bucket.Row, region string) (own bucket.Row, peers []bucket.Row) {
	own.Region = region
	for _, r := range rows {
		if r.Region == region {
			own = r
		} else {
			peers = append(peers, r)
		}
	}
	return own, peers
}

func limitNamed(p *plan.Plan, name string) *plan.Limit {
	if p == nil {
		return nil
	}
	for i := range p.Limits {
		if p.Limits[i].Name == name {
			return &p.Limits[i]
		}
	}
	return nil
}
