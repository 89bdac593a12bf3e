package bucket

import (
	"container/heap"
	"math/rand/v2"
	"testing"
	"time"
)

// world is several Regions with one process each and replication between them:
// the smallest thing that drives Merge, Fold and Charge together.
type world struct {
	t        *testing.T
	l        Limit
	grace    int64
	lag      int64      // mean, ns; each message takes 0.5 to 1.5 of it
	skew     []int64    // of each Region's clock
	cut      [2]int64   // no message sent in between arrives before cut[1]
	rows     []Row      // each Region's own
	views    [][]Row    // [reader][writer]
	buf      []Row      // for peers
	found    []bool     // has the Region a row
	paid     []int64    // remainder of each process
	queue    deliveries // in flight
	skewed   bool       // a clock is off
	forgiven bool       // a Merge was not complete
	rnd      *rand.Rand
	spent    [][]int64 // when each Region spent its tokens

	merged func(i int, peers []Row, g Global, now int64) // if set, is told of every Merge
	folds  func() bool                                   // if set, whether a charge folds
}

type delivery struct {
	at       int64
	from, to int
	row      Row
}

type deliveries []delivery

func (q deliveries) Len() int           { return len(q) }
func (q deliveries) Less(i, j int) bool { return q[i].at < q[j].at }
func (q deliveries) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *deliveries) Push(x any)        { *q = append(*q, x.(delivery)) }
func (q *deliveries) Pop() any {
	old := *q
	d := old[len(old)-1]
	*q = old[:len(old)-1]
	return d
}

func newWorld(t *testing.T, l Limit, regions int, lag time.Duration, seed uint64) *world {
	w := &world{t: t, l: l, grace: max(DefaultGrace, 4*int64(lag)), lag: int64(lag), rnd: rand.New(rand.NewPCG(seed, 7)),
		skew: make([]int64, regions), rows: make([]Row, regions), views: make([][]Row, regions),
		found: make([]bool, regions), paid: make([]int64, regions), spent: make([][]int64, regions)}
	for i := range w.rows {
		w.rows[i].Region = string(rune('a' + i))
		w.views[i] = make([]Row, regions)
	}
	return w
}

// peers returns the rows that Region i sees of the others at t.
func (w *world) peers(i int, t int64) []Row {
	for len(w.queue) > 0 && w.queue[0].at <= t {
		d := heap.Pop(&w.queue).(delivery)
		if d.row.At >= w.views[d.to][d.from].At {
			w.views[d.to][d.from] = d.row
		}
	}
	w.buf = w.buf[:0]
	for m, r := range w.views[i] {
		if m != i && r.Born != 0 {
			w.buf = append(w.buf, r)
		}
	}
	return w.buf
}

// request is one request for a token in Region i at t.
func (w *world) request(i int, t int64) bool {
	now := t + w.skew[i]
	peers := w.peers(i, t)
	g := Merge(w.l, w.rows[i], peers, now, w.grace)
	for _, r := range append(peers, w.rows[i]) { // I9
		if level := r.TAT - max(0, r.At-now); g.TAT < level || g.TAT < now {
			w.t.Fatalf("global TAT %d at %d is below the %d of Region %s", g.TAT, now, level, r.Region)
		}
	}
	if w.merged != nil {
		w.merged(i, peers, g, now)
	}
	if w.folds != nil && !w.folds() {
		if _, d := w.l.Take(g.TAT, now, 1); !d.Allowed {
			return false
		}
		g.Fold = nil
	}
	inc, rest := w.l.Charge(1, w.paid[i])
	row, s := Charge{Limit: w.l, Now: now, Tokens: 1, Inc: inc, Fold: g.Fold}.Apply(w.rows[i], w.found[i])
	if s != Charged {
		return false
	}
	w.rows[i], w.found[i], w.paid[i] = row, true, rest
	w.spent[i] = append(w.spent[i], t)
	w.checkVisible(i, peers, g, now)
	for j := range w.rows {
		if j == i {
			continue
		}
		at := t
		if w.cut[0] <= t && t < w.cut[1] {
			at = w.cut[1]
		}
		at += int64(float64(w.lag) * (0.5 + w.rnd.Float64()))
		heap.Push(&w.queue, delivery{at, i, j, row})
	}
	return true
}

// checkVisible fails if what Region i sees, now that it has admitted a token, is
// more than one bucket would have admitted since the world began (I13).
func (w *world) checkVisible(i int, peers []Row, g Global, now int64) {
	w.forgiven = w.forgiven || !g.Complete
	if w.forgiven || w.skewed {
		return
	}
	visible := w.rows[i].Spent
	for _, r := range peers {
		visible += r.Spent
	}
	if most := w.l.Burst() + w.l.Tokens(now-t0); visible > most {
		w.t.Fatalf("Region %d sees %d tokens spent %v after the start, at most %d are due", i, visible, time.Duration(now-t0), most)
	}
}

// arrival is a request.
type arrival struct {
	at     int64
	region int
}

// poisson returns arrivals at load times l's rate for d, split by weight.
func poisson(l Limit, weights []float64, load float64, d time.Duration, seed uint64) []arrival {
	rnd := rand.New(rand.NewPCG(seed, 11))
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	rate := load * l.Rate().PerSecond() / 1e9
	var as []arrival
	for t := 0.0; t < float64(d); t += rnd.ExpFloat64() / rate {
		x, region := rnd.Float64()*sum, 0
		for x > weights[region] {
			x -= weights[region]
			region++
		}
		as = append(as, arrival{t0 + int64(t), region})
	}
	return as
}

// result is what came of a play.
type result struct {
	ratio   float64 // admitted, over what one bucket for all would have admitted
	worst   float64 // the most admitted within 10 s, over B + 10R
	refused int     // though one bucket for all would have admitted
	got     []arrival
}

func (w *world) play(as []arrival) result {
	var r result
	var b Bucket
	ideal := 0
	for _, a := range as {
		next, d := b.Take(w.l, a.at, 1)
		b = next
		if d.Allowed {
			ideal++
		}
		if w.request(a.region, a.at) {
			r.got = append(r.got, a)
		} else if d.Allowed {
			r.refused++
		}
	}
	first, most := 0, 0
	for last, a := range r.got {
		for r.got[first].at < a.at-10*sec {
			first++
		}
		most = max(most, last-first+1)
	}
	r.ratio = float64(len(r.got)) / float64(ideal)
	r.worst = float64(most) / (float64(w.l.Burst()) + 10*w.l.Rate().PerSecond())
	return r
}

// within returns how many of the admitted lie between from and to after t0.
func (r result) within(from, to time.Duration) int {
	n := 0
	for _, a := range r.got {
		if t := time.Duration(a.at - t0); from <= t && t < to {
			n++
		}
	}
	return n
}
