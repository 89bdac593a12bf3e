package replicator

import (
	"container/heap"
	"math"
)

// queue holds what is on its way on one link. Versions of one item leave it in
// the order they were written, one at a time: the next only after done. One that
// would overtake another takes its place.
type queue struct {
	coalesce int64
	lag      func() int64 // draws the lag of one write
	paused   bool
	items    map[string]*line
	due      lines // those with a version that is not in flight
}

// line is what waits of one item.
type line struct {
	item     string
	waiting  []delivery // in order; their due times never fall
	inFlight *delivery
}

// delivery is a version on its way.
type delivery struct {
	write
	first int64 // when the first of the writes it stands for was made
	due   int64
}

func newQueue(coalesce int64, lag func() int64) *queue {
	return &queue{coalesce: coalesce, lag: lag, items: map[string]*line{}}
}

// push adds a write. It returns how many earlier versions of the item gave way to
// it: the one it joins, or those it would have overtaken.
func (q *queue) push(w write) int {
	l := q.items[w.item]
	if l == nil {
		l = &line{item: w.item}
		q.items[w.item] = l
	}
	d := delivery{write: w, first: w.at, due: w.at + q.lag()}
	if n := len(l.waiting); n > 0 {
		last := &l.waiting[n-1]
		if q.paused || w.at < last.first+q.coalesce {
			last.write = w
			return 1
		}
	}
	merged := 0
	for n := len(l.waiting); n > 0 && l.waiting[n-1].due > d.due; n-- {
		d.first = l.waiting[n-1].first
		l.waiting = l.waiting[:n-1]
		merged++
	}
	l.waiting = append(l.waiting, d)
	switch {
	case l.inFlight != nil: // done will queue it
	case merged > 0:
		heap.Init(&q.due) // the line is in it
	case len(l.waiting) == 1:
		heap.Push(&q.due, l)
	}
	return merged
}

// next returns a delivery that is due and marks it in flight. If there is none,
// it returns when the next will be: math.MaxInt64 if only another event can tell.
func (q *queue) next(now int64) (d delivery, ok bool, at int64) {
	if q.paused || len(q.due) == 0 {
		return delivery{}, false, math.MaxInt64
	}
	l := q.due[0]
	if at := l.waiting[0].due; at > now {
		return delivery{}, false, at
	}
	heap.Pop(&q.due)
	d = l.waiting[0]
	l.waiting = l.waiting[1:]
	l.inFlight = &d
	return d, true, 0
}

// done ends the flight of an item.
func (q *queue) done(item string) {
	l := q.items[item]
	l.inFlight = nil
	if len(l.waiting) == 0 {
		delete(q.items, item)
		return
	}
	heap.Push(&q.due, l)
}

// setPaused opens or closes the link. Of what waits for it to be opened, only
// the newest version of an item is left; it returns how many gave way to one.
func (q *queue) setPaused(now int64, paused bool) int {
	merged := 0
	if q.paused != paused {
		for _, l := range q.items {
			if n := len(l.waiting); n > 1 {
				l.waiting[0].write = l.waiting[n-1].write
				l.waiting = l.waiting[:1]
				merged += n - 1
			}
			if !paused && len(l.waiting) > 0 {
				l.waiting[0].due = now + q.lag()
			}
		}
		heap.Init(&q.due)
		q.paused = paused
	}
	return merged
}

// oldest returns when the oldest write was made that has not been applied,
// math.MaxInt64 if there is none.
func (q *queue) oldest() int64 {
	at := int64(math.MaxInt64)
	for _, l := range q.items {
		if l.inFlight != nil {
			at = min(at, l.inFlight.first)
		}
		if len(l.waiting) > 0 {
			at = min(at, l.waiting[0].first)
		}
	}
	return at
}

// lines is a heap by the due time of what waits first.
type lines []*line

func (h lines) Len() int           { return len(h) }
func (h lines) Less(i, j int) bool { return h[i].waiting[0].due < h[j].waiting[0].due }
func (h lines) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *lines) Push(x any)        { *h = append(*h, x.(*line)) }
func (h *lines) Pop() any {
	old := *h
	l := old[len(old)-1]
	*h = old[:len(old)-1]
	return l
}
