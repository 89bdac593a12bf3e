package bucket

import "math"

// estimates returns the least complete estimate of the bucket's TAT, or the
// least of all if none is complete. The first view is that of the reader's Region.
func estimates(l Limit, views []view, grace int64) (lowest int64, complete bool) {
	n := len(views)
	var buf [manyRegions * manyRegions]int64
	held := buf[:] // n for every view
	if n > manyRegions {
		held = make([]int64, n*n)
	}
	own := &views[0]
	unseen, complete := own.held(views, 0, grace, held)
	if complete && !unseen {
		return own.TAT, true
	}
	own.complete = complete
	for k := 1; k < n; k++ {
		v := &views[k]
		_, v.complete = v.held(views, k, grace, held[k*n:])
		v.complete = v.complete && !v.behind(own)
		complete = complete || v.complete
	}
	var buf2 [manyRegions * datesKept]segment
	line := timeline(l, buf2[:0], views, held)
	lowest = math.MaxInt64
	for k := range views {
		if views[k].complete == complete {
			lowest = min(lowest, estimate(l, views, k, line, held[k*n:]))
		}
	}
	return lowest, complete
}

// held sets first[m], for every row m, to how many of its tokens an estimate of
// v, which is row k, does not charge: they are in its Base, or in its TAT by a
// fold, or too old. It reports whether it charges any that others have spent,
// and whether it is complete: none was too old.
func (v *view) held(views []view, k int, grace int64, first []int64) (unseen, complete bool) {
	complete = true
	for m := range views {
		w := &views[m]
		if m == k {
			first[m] = v.Base.Spent
			continue
		}
		n, old, since := w.unseen(v.Seen[w.Region])
		if old > 0 && ahead(w.Epoch.Start, since) > grace {
			n, complete = n-old, false
		}
		first[m] = w.Spent - n
		unseen = unseen || n > 0
	}
	return unseen, complete
}

// segment is spend under one date: the tokens that row number view has spent
// beyond its first from, up to upto, none of them later than at; and all of them
// under the row's Prior if late is set.
type segment struct {
	at         int64
	from, upto int64
	view       int32
	late       bool
}

// timeline appends to line, in order of dates, all spend that some estimate
// charges, dated as under l.
func timeline(l Limit, line []segment, views []view, held []int64) []segment {
	n := len(views)
	for m := range views {
		v := &views[m]
		from := v.Spent
		for k := range n {
			from = min(from, held[k*n+m])
		}
		for _, e := range v.dates() {
			if e.Spent > from {
				s := segment{at: e.Start, view: int32(m), from: from, upto: e.Spent, late: e.Spent <= v.Prior.Spent}
				if s.late {
					s.at = v.Prior.date(s.at, v.carry, l)
				}
				line, from = insertSegment(line, s), e.Spent
			}
		}
	}
	return line
}

func insertSegment(line []segment, s segment) []segment {
	line = append(line, s)
	for i := len(line) - 1; i > 0 && line[i].at < line[i-1].at; i-- {
		line[i], line[i-1] = line[i-1], line[i]
	}
	return line
}

// estimate returns the bucket's TAT as row k has it, once spend that it has not
// seen is put in at its dates. The package documentation has the formula. What
// others had spent before the limit changed, and comes to be seen after that, may
// have emptied the bucket when it changed, but not overdrawn it.
func estimate(l Limit, views []view, k int, line []segment, held []int64) int64 {
	v := &views[k]
	tat, news, changed := v.replay(l, views, k, line, held, true)
	if changed == 0 {
		return tat
	}
	news = add(news, l.Time(v.Spent-v.Prior.Spent))
	if bound := add(max(changed, v.Prior.At)+l.full, news); tat > bound {
		without, _, _ := v.replay(l, views, k, line, held, false)
		tat = max(without, bound)
	}
	return tat
}

// replay is estimate without that bound, and with or without what it is about. It
// returns also the time of all else that others have spent, and when the limit
// changed of the last who spent any of what the bound is about, 0 if nobody did.
func (v *view) replay(l Limit, views []view, k int, line []segment, held []int64, with bool) (tat, news, changed int64) {
	var own, others int64 // the time of all tokens of that date or a later one, ns
	for i := len(line) - 1; i >= 0; i-- {
		s := &line[i]
		n := s.upto - max(s.from, held[s.view])
		if n <= 0 {
			continue
		}
		inc, bounded := l.Time(n), false
		if s.late {
			w := &views[s.view]
			inc = w.Prior.price(n, w.carry, l)
			// As many tokens used may be more than there are: then it is overdrawn.
			if bounded = w.carry != Additive && s.view != int32(k); bounded {
				changed = max(changed, w.Prior.At)
			}
		}
		switch {
		case bounded && !with:
			continue
		case s.view == int32(k):
			own = add(own, inc)
		case bounded:
			others = add(others, inc)
		default:
			others, news = add(others, inc), add(news, inc)
		}
		tat = max(tat, add(max(s.at, min(add(s.at, own), v.TAT)), others))
	}
	return max(tat, add(min(add(v.Base.TAT, own), v.TAT), others)), news, changed
}
