package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"weir/internal/plan"
	"weir/pkg/bucket"
)

// Bucket is a limit of a tenant, and its bucket as Regions see it.
type Bucket struct {
	Limit       string            `json:"limit"`
	Matches     bool              `json:"matches"` // the request that is asked about
	Match       string            `json:"match,omitempty"`
	Rate        string            `json:"rate"`
	Burst       int64             `json:"burst"`
	Cost        int64             `json:"cost"`
	Mode        string            `json:"mode"`
	Hold        string            `json:"hold"`
	OnError     string            `json:"onError"`
	Consistency string            `json:"consistency"`
	From        map[string]string `json:"from"` // where rate, burst, mode and hold come from
	Key         string            `json:"key"`  // its template
	Bucket      string            `json:"bucket,omitempty"`
	Missing     string            `json:"missing,omitempty"` // why there is no one bucket to look at
	Views       []View            `json:"views,omitempty"`   // a Region each
}

// View is a bucket as one Region sees it.
type View struct {
	Region    string   `json:"region"`
	Rows      []RowNow `json:"rows"`
	Used      int64    `json:"used"` // tokens, all Regions' rows merged; above the burst if the bucket is overdrawn
	Remaining int64    `json:"remaining"`
	Spend     int64    `json:"spend"`  // tokens per 1,000 s at present, in all Regions
	InHand    int64    `json:"inHand"` // tokens charged so lately that processes may hold them, unused
	Unseen    int64    `json:"unseen"` // tokens spent elsewhere that this Region's row has yet to fold in
	Complete  bool     `json:"complete"`
	Skew      float64  `json:"skew,omitempty"` // seconds by which another Region's clock is ahead
	Next      Decision `json:"next"`
	Notes     []string `json:"notes,omitempty"`
}

// RowNow is a row, put into words.
type RowNow struct {
	Region  string  `json:"region"`
	Used    int64   `json:"used"`  // tokens, by this row alone and under its own limit
	Spent   int64   `json:"spent"` // tokens ever, since it was born
	Spend   int64   `json:"spend"` // tokens per 1,000 s at present
	At      Instant `json:"at"`    // of the last charge
	Born    Instant `json:"born"`
	Full    Instant `json:"tat"` // when the bucket is full, by this row alone
	Version int64   `json:"ver"`
	Limit   string  `json:"limit"` // that the level was computed under; "" if the row does not say
	Folds   int64   `json:"folds"`
}

// heldFor is how long a process may hold tokens that it has charged.
const heldFor = 5 * second

// bucket explains one limit of the effective plan eff.
func (e Explainer) bucket(ctx context.Context, l *plan.Limit, from sources, ver int64, eff *plan.Plan) (Bucket, error) {
	in := bucket.Rescale{Limit: l.Bucket, Ver: ver, Carry: eff.Carry, Since: plan.Since(from.plan, from.tenant, e.Now), Now: e.Now}
	b := Bucket{
		Limit: l.Name, Match: MatchText(l.Match), Matches: e.matches(l),
		Rate: RateText(l.Bucket), Burst: l.Bucket.Burst(), Cost: l.Cost, Mode: l.Mode.String(), Hold: l.Hold.String(),
		OnError: l.OnError.String(), Consistency: l.Consistency.String(), From: from.of(l), Key: l.Key.String(),
	}
	if b.Missing = e.missing(l); b.Missing != "" {
		return b, nil
	}
	b.Bucket = l.BucketKey(e.Subject)
	if !l.PerTenant() {
		in.Ver, in.Since = 0, 0 // tenants of several plans share it: the limits of one are not newer than another's
	}
	if l.Bucket.IsUnlimited() || l.Mode == plan.Off {
		b.Missing = "it keeps none: the limit is off, or its rate unlimited"
	}
	for _, place := range e.Places {
		v := View{Region: place.Buckets.Region, Rows: []RowNow{}, Complete: true}
		var rows []bucket.Row
		if b.Missing == "" {
			var err error
			if rows, err = place.Buckets.of(l).Rows(ctx, b.Bucket); err != nil {
				return b, fmt.Errorf("%s: %w", v.Region, err)
			}
		}
		e.view(&v, place.Buckets, l, rows, in)
		b.Views = append(b.Views, v)
	}
	return b, nil
}

// view puts the rows together as the authorizer of that Region does, which holds
// the limit and version of c.
func (e Explainer) view(v *View, b Buckets, l *plan.Limit, rows []bucket.Row, c bucket.Rescale) {
	if isStrict(l) && b.Strict == nil {
		v.Notes = append(v.Notes, "the limit is strict and no strict table is named: shown is what there is in the other")
	}
	slices.SortFunc(rows, func(a, b bucket.Row) int { return strings.Compare(a.Region, b.Region) })
	now := e.Now
	for i := range rows {
		v.Rows = append(v.Rows, rowNow(&rows[i], l, now))
		v.InHand += inHand(&rows[i], now)
	}
	v.Spend = Spend(rows, now)
	seat := b.seat(l, nil)
	if l.Consistency == plan.Regional { // the others' rows are their own affair
		rows = slices.DeleteFunc(slices.Clone(rows), func(r bucket.Row) bool { return r.Region != b.Region })
	}
	own, peers := split(rows, seat)
	switch {
	case own.Ver > c.Ver && c.Ver != 0 && own.Limit != bucket.Limit{}:
		c.Limit, c.Ver = own.Limit, own.Ver
		v.Notes = append(v.Notes, fmt.Sprintf("the row is of a newer version than the configuration that was read: its limit, %s, is in force", limitText(own.Limit)))
	case own.Ver < c.Ver && own.Born != 0:
		v.Notes = append(v.Notes, fmt.Sprintf("this Region's row is of %s, the configuration %s: the reconciler, or the next charge, brings it there (%s)", VersionText(own.Ver), VersionText(c.Ver), c.Carry))
	}
	g := c.Merge(own, peers, b.Grace)
	v.Used, v.Remaining = c.Limit.Level(g.TAT, now), c.Limit.Remaining(g.TAT, now)
	if c.Limit.IsUnlimited() {
		v.Remaining = -1
	}
	v.Unseen, v.Complete = g.Unseen, g.Complete
	v.Skew = float64(g.Skew) / float64(second)
	v.Next = decide(l, c.Limit, g.TAT, now)
}

func rowNow(r *bucket.Row, l *plan.Limit, now int64) RowNow {
	in, text := r.Limit, ""
	if in == (bucket.Limit{}) {
		in = l.Bucket
	} else {
		text = limitText(in)
	}
	return RowNow{
		Region: r.Region, Used: in.Level(r.TAT, now), Spent: r.Spent, Spend: Spend([]bucket.Row{*r}, now),
		At: Instant(r.At), Born: Instant(r.Born), Full: Instant(r.TAT), Version: r.Ver, Limit: text, Folds: r.Fold,
	}
}

// inHand returns how many tokens of a row may be in processes' hands: those of the
// last epochs, of as long as a lease may last.
func inHand(r *bucket.Row, now int64) int64 {
	if now-r.At > heldFor {
		return 0
	}
	before := int64(0)
	for _, e := range append([]bucket.Epoch{r.Epoch}, r.Epochs[:]...) {
		if e.Start <= now-heldFor {
			before = max(before, e.Spent)
		}
	}
	if before == 0 && now-r.Born > heldFor { // all that it remembers is younger
		before = r.Spent
		for _, e := range r.Epochs {
			if e.Start > 0 {
				before = min(before, e.Spent)
			}
		}
	}
	return max(0, r.Spent-before)
}

// VersionText returns a version that buckets are charged under, for people.
func VersionText(ver int64) string {
	if ver == 0 {
		return "no version"
	}
	t, p := plan.Split(ver)
	return fmt.Sprintf("tenant version %d, plan version %d", t, p)
}

func limitText(l bucket.Limit) string {
	if l.IsUnlimited() {
		return "unlimited"
	}
	return fmt.Sprintf("%s burst %d", RateText(l), l.Burst())
}

// MatchText returns which requests a limit is about, "" for all.
func MatchText(m plan.Match) string {
	return strings.TrimSpace(m.Method + " " + m.Resource)
}

func (e Explainer) matches(l *plan.Limit) bool {
	if e.Request {
		return l.Match.Matches(e.Subject.Method, e.Subject.Resource)
	}
	return l.Match == (plan.Match{})
}

// missing says what must be known to name the one bucket of a limit, or "".
func (e Explainer) missing(l *plan.Limit) string {
	for part := range strings.SplitSeq(l.Key.String(), ":") {
		name, isHeader := strings.CutPrefix(part, "{header.")
		switch {
		case part == "{ip}" && !e.Subject.IP.IsValid():
			return "there is a bucket for each address: name one with --ip"
		case part == "{route}" && e.Subject.Resource == "":
			return "there is a bucket for each route: name one with --route"
		case part == "{method}" && e.Subject.Method == "":
			return "there is a bucket for each method: name one with --method"
		case isHeader && (e.Subject.Header == nil || e.Subject.Header(strings.TrimSuffix(name, "}")) == ""):
			return "there is a bucket for each value of a header: name one with --header " + strings.TrimSuffix(name, "}") + "=VALUE"
		}
	}
	return ""
}
