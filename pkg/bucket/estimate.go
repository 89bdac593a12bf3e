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
	var line [manyRegions * (EpochsKept + 2)]segment
	segments := timeline(line[:0], views, held)
	lowest = math.MaxInt64
	for k := range views {
		if views[k].complete == complete {
			lowest = min(lowest, views[k].estimate(l, k, segments, held[k*n:]))
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
// beyond its first from, up to upto, none of them later than at.
type segment struct {
	at         int64
	view       int
	from, upto int64
}

// timeline appends to line, in order of dates, all spend that some estimate
// charges.
func timeline(line []segment, views []view, held []int64) []segment {
	n := len(views)
	for m := range views {
		v := &views[m]
		from := v.Spent
		for k := range n {
			from = min(from, held[k*n+m])
		}
		for _, e := range v.dates() {
			if e.Spent > from {
				line = insertSegment(line, segment{at: e.Start, view: m, from: from, upto: e.Spent})
				from = e.Spent
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

// estimate returns the bucket's TAT as v, which is row k, has it, once spend that
// it has not seen is put in at its dates. The package documentation has the
// formula.
func (v *view) estimate(l Limit, k int, line []segment, held []int64) (tat int64) {
	var own, others int64 // the time of all tokens of that date or a later one, ns
	for i := len(line) - 1; i >= 0; i-- {
		s := &line[i]
		n := s.upto - max(s.from, held[s.view])
		switch {
		case n <= 0:
			continue
		case s.view == k:
			own = add(own, l.Time(n))
		default:
			others = add(others, l.Time(n))
		}
		tat = max(tat, add(max(s.at, min(add(s.at, own), v.TAT)), others))
	}
	return max(tat, add(min(add(v.Base.TAT, own), v.TAT), others))
}
