package plan

import (
	"fmt"
	"maps"
	"slices"

	"weir/pkg/bucket"
)

// LimitOverride is what a tenant has instead of a limit's own rate and burst. It
// may be stricter than the plan or more lenient.
//
// A burst that is not overridden keeps its form: a percentage is one of the new
// rate's number, a count stays. A burst that cannot be beside its rate becomes the
// nearest one that can, so that every override means something on every plan.
type LimitOverride struct {
	Rate  *Rate  // nil keeps the plan's
	Burst *Burst // nil keeps the plan's
}

func (o LimitOverride) equal(p LimitOverride) bool {
	return same(o.Rate, p.Rate) && same(o.Burst, p.Burst)
}

func same[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// apply gives l the rate and the burst of o.
func (o LimitOverride) apply(l *Limit) {
	rate, burst := o.wanted(l)
	l.Bucket, l.Percent = fit(rate, burst)
	if !l.Bucket.IsUnlimited() && !l.Bucket.IsZero() {
		l.Initial = min(l.Initial, l.Bucket.Burst())
	}
}

// wanted returns the rate and the burst that l is to have under o.
func (o LimitOverride) wanted(l *Limit) (Rate, Burst) {
	rate, burst := l.rate(), l.burst()
	if o.Rate != nil {
		rate = *o.Rate
	}
	if o.Burst != nil {
		burst = *o.Burst
	}
	return rate, burst
}

// fit returns the bucket of a possible rate and the burst nearest to b that can be
// beside it. The percentage is 0 if that is not the one of b.
func fit(r Rate, b Burst) (l bucket.Limit, percent int64) {
	if r.Unlimited {
		return bucket.Unlimited(), defaultBurst.Percent
	}
	most := int64(bucket.MaxBurst)
	if one, err := bucket.NewLimit(r.Rate, 1); err == nil && !one.IsZero() {
		most = min(most, one.Tokens(int64(bucket.MaxDepth)))
	}
	want := b.Of(r)
	burst := max(min(want, most), 0)
	if r.Count > 0 {
		burst = max(burst, 1)
	}
	l, err := bucket.NewLimit(r.Rate, burst)
	if err != nil { // of a rate that cannot be, which no parser makes
		return bucket.Limit{}, 0
	}
	if burst != want {
		return l, 0
	}
	return l, b.Percent
}

// Warnings returns what of o has no effect on a tenant of plan p, or one that is
// probably not meant; nil if there is nothing of the kind. Each is a sentence.
func (o Overrides) Warnings(p *Plan) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(o.Limits)) {
		i := slices.IndexFunc(p.Limits, func(l Limit) bool { return l.Name == name })
		if i < 0 {
			all = append(all, fmt.Sprintf("plan %s has no limit %s, so what is said of it has no effect%s", quote(p.Name), quote(name), orOneOf(name, p.limitNames())))
			continue
		}
		if w := o.Limits[name].warning(&p.Limits[i]); w != "" {
			all = append(all, w)
		}
	}
	return all
}

// warning returns what is strange about o on l, or "".
func (o LimitOverride) warning(l *Limit) string {
	rate, burst := o.wanted(l)
	own := *l
	o.apply(&own)
	b := own.Bucket
	switch {
	case b.IsUnlimited() || b.IsZero():
		return ""
	case l.Cost > b.Burst():
		return fmt.Sprintf("limit %s costs %d tokens, but the tenant's bucket holds %d: no request would ever pass; raise the burst, or write rate: 0/s to refuse all", quote(l.Name), l.Cost, b.Burst())
	case burst.Of(rate) != b.Burst():
		return fmt.Sprintf("limit %s: a burst of %d tokens cannot be beside its rate; the tenant's bucket holds %d", quote(l.Name), burst.Of(rate), b.Burst())
	}
	return ""
}

func (p *Plan) limitNames() []string {
	names := make([]string, len(p.Limits))
	for i := range p.Limits {
		names[i] = p.Limits[i].Name
	}
	return names
}
