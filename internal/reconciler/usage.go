package reconciler

import (
	"context"
	"errors"
	"maps"
	"math"
	"time"

	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// counts is what the books need of the config table.
type counts interface {
	Usage(ctx context.Context, tenant, month, region string) (ddbstore.Usage, error)
	PutUsage(ctx context.Context, u ddbstore.Usage) (ddbstore.Usage, error)
}

// counted is a row whose spend is to be booked.
type counted struct {
	key string
	row bucket.Row
}

const (
	// bookTries is how often a count is made that others get in the way of.
	bookTries = 4

	// lookBack is for how many months back an opening balance is looked for.
	lookBack = 12
)

// errClosed: the month was closed meanwhile, so it is over.
var errClosed = errors.New("month is closed")

// book adds to a tenant's usage what its rows have spent since they were last
// counted, and reports whether that is anything.
//
// What a row had spent when it was last counted stands in the item that it was
// added to, and both change together, or not at all: nothing is counted twice, and
// what was not counted is in the row still. Spend is of the month in which it is
// counted.
func (r *Reconciler) book(ctx context.Context, region, tenant string, rows []counted, table Rows) (booked bool, err error) {
	for range bookTries {
		booked, err = r.bookOnce(ctx, region, tenant, rows, table)
		if !errors.Is(err, ddbstore.ErrConflict) {
			break
		}
	}
	if errors.Is(err, errClosed) {
		return false, nil // by somebody for whom the next month has begun
	}
	return booked, err
}

func (r *Reconciler) bookOnce(ctx context.Context, region, tenant string, rows []counted, table Rows) (booked bool, err error) {
	now := r.now()
	u, err := r.usage(ctx, tenant, monthOf(now), region)
	if err != nil {
		return false, err
	}
	fresh := u.Version == 0
	if fresh {
		if u.Limits, err = r.opening(ctx, u, rows, now); err != nil {
			return false, err
		}
	}
	if u.At >= endOf(u.Month) {
		return false, errClosed
	}
	limits := make(map[string]ddbstore.Used, len(u.Limits))
	maps.Copy(limits, u.Limits)
	for _, c := range rows {
		limits[c.key] = count(limits[c.key], c.row)
	}
	if err := r.countLeft(ctx, limits, rows, table, fresh); err != nil {
		return false, err
	}
	if maps.Equal(limits, u.Limits) && (!fresh || len(limits) == 0) {
		return false, nil
	}
	for key, l := range limits {
		booked = booked || l.Tokens != u.Limits[key].Tokens
	}
	u.Limits, u.At = limits, now
	return booked, r.putUsage(ctx, u)
}

// countLeft counts the rows that were counted before and are not among rows,
// because the tenant's limits have changed. In a month's first count those that
// are gone are forgotten.
func (r *Reconciler) countLeft(ctx context.Context, limits map[string]ddbstore.Used, rows []counted, table Rows, fresh bool) error {
	here := make(map[string]bool, len(rows))
	for _, c := range rows {
		here[c.key] = true
	}
	for key, l := range limits {
		if here[key] {
			continue
		}
		var row bucket.Row
		var found bool
		err := r.pace.try(ctx, func() (err error) { row, found, err = table.Row(ctx, key); return err })
		switch {
		case err != nil:
			return err
		case found:
			limits[key] = count(l, row)
		case fresh:
			delete(limits, key)
		}
	}
	return nil
}

// count adds to l what row has spent since it was last counted. Tokens that were
// returned count back.
func count(l ddbstore.Used, row bucket.Row) ddbstore.Used {
	switch {
	case row.Born < l.Born:
		return l // what was read is older than what was counted
	case row.Born > l.Born:
		l.Spent = 0 // it expired and came back
	}
	return ddbstore.Used{Tokens: l.Tokens + row.Spent - l.Spent, Born: row.Born, Spent: row.Spent}
}

// opening returns what was counted of a tenant's rows before the month u, and
// closes the month that says so: it is not added to any more.
func (r *Reconciler) opening(ctx context.Context, u ddbstore.Usage, rows []counted, now int64) (map[string]ddbstore.Used, error) {
	born := int64(math.MaxInt64)
	for _, c := range rows {
		born = min(born, c.row.Born)
	}
	month := u.Month
	for range lookBack {
		month = monthBefore(month)
		if endOf(month) <= born {
			return nil, nil // no row is that old
		}
		last, err := r.usage(ctx, u.Tenant, month, u.Region)
		if err != nil {
			return nil, err
		}
		if last.Version == 0 {
			continue
		}
		if last.At < endOf(month) {
			last.At = now
			if err := r.putUsage(ctx, last); err != nil {
				return nil, err
			}
		}
		limits := make(map[string]ddbstore.Used, len(last.Limits))
		for key, l := range last.Limits {
			limits[key] = ddbstore.Used{Born: l.Born, Spent: l.Spent}
		}
		return limits, nil
	}
	return nil, nil
}

// usage returns a month's usage, of Version 0 if there is none.
func (r *Reconciler) usage(ctx context.Context, tenant, month, region string) (u ddbstore.Usage, err error) {
	err = r.pace.try(ctx, func() (err error) { u, err = r.config.Usage(ctx, tenant, month, region); return err })
	if errors.Is(err, ddbstore.ErrNotFound) {
		return ddbstore.Usage{Tenant: tenant, Month: month, Region: region}, nil
	}
	return u, err
}

func (r *Reconciler) putUsage(ctx context.Context, u ddbstore.Usage) error {
	return r.pace.try(ctx, func() error { _, err := r.config.PutUsage(ctx, u); return err })
}

const monthLayout = "2006-01"

// monthOf returns the month of a time, in UTC.
func monthOf(now int64) string { return time.Unix(0, now).UTC().Format(monthLayout) }

// endOf returns when a month is over, ns since the Unix epoch.
func endOf(month string) int64 { return start(month, 1) }

func monthBefore(month string) string { return monthOf(start(month, -1)) }

func start(month string, offset int) int64 {
	t, _ := time.Parse(monthLayout, month) // one of monthOf
	return t.AddDate(0, offset, 0).UnixNano()
}
