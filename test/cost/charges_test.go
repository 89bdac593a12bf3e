package cost_test

import (
	"fmt"
	"testing"
	"time"

	"weir/internal/limiter"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

const (
	second = int64(time.Second)
	t0     = 4_000_000_000 * second // the year 2096
)

func tenPerSecond(t *testing.T) bucket.Limit {
	t.Helper()
	l, err := bucket.NewLimit(bucket.Rate{Count: 10, Period: time.Second}, 10)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// row is a line of the table.
type row struct {
	name            string
	regions         int
	here, elsewhere bill
	strict          bool
}

// charged is a charge to be measured: of 1 token unless it says otherwise.
type charged struct {
	name   string
	before []int64                                  // tokens charged by this process at t0
	other  int64                                    // tokens charged by another process of the Region after that
	at     int64                                    // time of the charge, after t0
	known  bool                                     // whether the process knows the row, as its own charges left it
	change func(c *bucket.Charge, fold bucket.Fold) // nil: a plain charge
	clash  int                                      // conflicts on its way
	want   bucket.Status
}

var charges = []charged{
	{name: "first of a bucket", want: bucket.Charged},
	{name: "idle: the bucket is full again", before: []int64{5}, at: 9 * second, known: true, want: bucket.Charged},
	{name: "busy", before: []int64{5}, at: 1, known: true, want: bucket.Charged},
	{name: "refused", before: []int64{10}, at: 1, known: true, want: bucket.Refused},
	{name: "by a process that does not know the row", before: []int64{5}, at: 1, want: bucket.Charged},
	{name: "a race lost: the bucket was idle and no longer is", before: []int64{5}, other: 1, at: 9 * second, known: true, want: bucket.Charged},
}

var folds = []charged{
	{name: "with a fold of other Regions' spend", before: []int64{5}, at: 1, known: true, change: func(c *bucket.Charge, f bucket.Fold) { c.Fold = &f }, want: bucket.Charged},
	{name: "with a fold that another process has made", before: []int64{5}, at: 1, known: true, change: func(c *bucket.Charge, f bucket.Fold) { f.From++; c.Fold = &f }, want: bucket.Conflict},
}

var collisions = []charged{
	{name: "one conflict with another Region", before: []int64{5}, at: 1, known: true, clash: 1, want: bucket.Charged},
}

// run prepares c, makes it on store, and returns what it cost.
func (d *deployment) run(c charged, store *ddbstore.Store) row {
	d.t.Helper()
	key, l := fmt.Sprintf("%s/%d", d.t.Name(), tables.Add(1)), tenPerSecond(d.t)
	take := func(at, n int64, known *bucket.Row) bucket.Outcome {
		return d.charge(store, key, bucket.Charge{Limit: l, Now: t0 + at, Tokens: n, Inc: l.Time(n), Ver: 1, Known: known})
	}
	var known *bucket.Row
	for _, n := range c.before {
		out := take(0, n, known)
		known = &out.Row
	}
	if c.other > 0 {
		take(c.at, c.other, known)
	}
	ch := bucket.Charge{Limit: l, Now: t0 + c.at, Tokens: 1, Inc: l.Time(1), Ver: 1}
	if c.known {
		ch.Known = known
	}
	if c.change != nil {
		seen := map[string]bucket.Seen{}
		for region := range d.others {
			seen[region] = bucket.Seen{Born: t0, Spent: 2, At: t0}
		}
		c.change(&ch, bucket.Fold{Delta: l.Time(int64(2 * len(seen))), Seen: seen})
	}
	var out bucket.Outcome
	r := row{name: c.name, regions: len(d.regions), strict: store == d.strict}
	r.here, r.elsewhere = d.measure(func() {
		d.wire.collide(c.clash)
		out = d.charge(store, key, ch)
	})
	if out.Status != c.want {
		d.t.Errorf("%s: %v, want %v", c.name, out.Status, c.want)
	}
	if out.Calls != r.here.calls() || out.Units != r.here.Write {
		d.t.Errorf("%s: the store counts %d calls and %v units, the wire %d and %v", c.name, out.Calls, out.Units, r.here.calls(), r.here.Write)
	}
	return r
}

func (d *deployment) charge(s limiter.Store, key string, c bucket.Charge) bucket.Outcome {
	d.t.Helper()
	out, err := s.Charge(d.t.Context(), key, c)
	if err != nil {
		d.t.Fatal(err)
	}
	return out
}

// readRows returns what it costs to read the rows of a bucket that all Regions
// have charged.
func (d *deployment) readRows() row {
	d.t.Helper()
	key, l := fmt.Sprintf("%s/%d", d.t.Name(), tables.Add(1)), tenPerSecond(d.t)
	c := bucket.Charge{Limit: l, Now: t0, Tokens: 1, Inc: l.Time(1)}
	d.charge(d.store, key, c)
	for _, s := range d.others {
		d.charge(s, key, c)
	}
	r := row{name: "reading the rows of all Regions", regions: len(d.regions)}
	r.here, r.elsewhere = d.measure(func() {
		rows, err := d.store.Rows(d.t.Context(), key)
		if err != nil || len(rows) != len(d.regions) {
			d.t.Errorf("Rows = %+v, %v, want one a Region", rows, err)
		}
	})
	return r
}

// chargeRows measures every charge by itself.
func chargeRows(one, three *deployment) []row {
	var rows []row
	for _, d := range []*deployment{one, three} {
		for _, c := range charges {
			rows = append(rows, d.run(c, d.store))
		}
	}
	for _, c := range folds {
		rows = append(rows, three.run(c, three.store))
	}
	rows = append(rows, three.readRows())
	for _, c := range append(charges[:len(charges):len(charges)], collisions...) {
		r := three.run(c, three.strict)
		r.name = "strict: " + r.name
		rows = append(rows, r)
	}
	return rows
}
