package operator

import (
	"math/bits"

	"weir/pkg/bucket"
)

const second = int64(1_000_000_000)

// spendWindow is over how long present spending is counted, at least, so that
// charges for seconds in advance even out.
const spendWindow = 3 * second

// quietAfter is how long a row must have opened no epoch to count as not in use:
// of another Region's row the last second or so is on its way.
const quietAfter = 5 * second

// Spend returns at what rate tokens are spent at present, in tokens per 1,000 s
// over all Regions, as the epochs of the rows tell: over the last three to four
// seconds of a busy bucket, over longer for one that is charged seldom.
func Spend(rows []bucket.Row, now int64) int64 {
	var sum int64
	for i := range rows {
		sum += spendOf(&rows[i], now)
	}
	return sum
}

// fastLimit is the depth of a bucket, ns, up to which a few seconds of spending
// tell a rate from a burst.
const fastLimit = 10 * second

// outspends reports whether a bucket is being charged faster than l refills. Of a
// bucket that takes long to refill a few seconds say nothing: it must have been
// charged more, in the time that takes or longer, than a full one would have given.
func outspends(rows []bucket.Row, l bucket.Limit, now int64) bool {
	if !exceeds(Spend(rows, now), l) {
		return false
	}
	if int64(l.Depth()) <= fastLimit {
		return true
	}
	var lately, ever int64
	depth, burst := int64(l.Depth()), l.Burst()/int64(len(rows))
	for i := range rows {
		r := &rows[i]
		tokens, span := recent(r, now)
		lately += perThousandSeconds(tokens-burst, max(span, depth))
		ever += perThousandSeconds(r.Spent-burst, max(now-r.Born, depth))
	}
	return exceeds(max(lately, ever), l)
}

func spendOf(r *bucket.Row, now int64) int64 {
	tokens, span := recent(r, now)
	return perThousandSeconds(tokens, max(span, spendWindow)) // a new row's first burst is no rate
}

// recent returns how many tokens a row was charged lately, and in what time.
func recent(r *bucket.Row, now int64) (tokens, span int64) {
	// From the beginning of one epoch to that of the current one: so no charge is
	// counted whose time is not.
	to := r.Epoch
	from := bucket.Epoch{Start: r.Born} // nothing spent
	for _, e := range r.Epochs {
		if e.Start > from.Start && e.Start <= to.Start-spendWindow {
			from = e
		}
	}
	span = to.Start - from.Start
	if quiet := now - to.Start; quiet > max(span, quietAfter) || span < second {
		to.Spent, span = r.Spent, now-from.Start // until now
	}
	return to.Spent - from.Spent, span
}

func perThousandSeconds(tokens, span int64) int64 {
	if tokens <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(tokens), uint64(1000*second))
	if hi >= uint64(span) {
		return maxSpend
	}
	q, _ := bits.Div64(hi, lo, uint64(span))
	return int64(min(q, maxSpend))
}

// maxSpend is what a row is taken to spend at most; rows may hold anything.
const maxSpend = 1 << 56

// exceeds reports whether spending of so many tokens per 1,000 s is more than l's
// rate.
func exceeds(spend int64, l bucket.Limit) bool {
	if l.IsUnlimited() || spend <= 0 {
		return false
	}
	r := l.Rate()
	if r.Count == 0 {
		return true
	}
	// spend/1000s > count/period
	ah, al := bits.Mul64(uint64(spend), uint64(r.Period))
	bh, bl := bits.Mul64(uint64(r.Count), uint64(1000*second))
	return ah > bh || ah == bh && al > bl
}
