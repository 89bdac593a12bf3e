package sim

import (
	"container/heap"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"weir/internal/limiter"
	"weir/internal/memstore"
	"weir/pkg/bucket"
)

// key is the one bucket of a run.
const key = "api|tenant"

// Run runs the scenario.
func Run(s Scenario) (*Report, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	w, err := newWorld(&s)
	if err != nil {
		return nil, err
	}
	r := &Report{Policy: s.Policy, Command: s.Command(), Regions: make([]RegionReport, s.Regions)}
	arrivals := s.arrivals()
	n := len(arrivals)
	r.times, r.where = make([]int64, n), make([]int32, n)
	r.ideal, r.passed = make([]bool, n), make([]bool, n)
	for i, a := range arrivals {
		w.now = a.at
		w.deliver()
		r.times[i], r.where[i] = a.at, a.region
		r.passed[i] = w.regions[a.region].decide(a.at)
		r.Regions[a.region].Offered++
	}
	for i, reg := range w.regions {
		out := &r.Regions[i]
		out.Name, out.Charges, out.Queries, out.WriteUnits = reg.name, reg.charges, reg.queries, reg.units
		r.UnitsOnRefusals += reg.wasted
		if row, ok := reg.store.Peek(key); ok {
			out.Spent = row.Spent
			r.Stranded += row.Spent
		}
	}
	r.SkewSeenMs = w.skewSeen()
	r.finish(w.stages)
	return r, nil
}

// world is the state of a run.
type world struct {
	s       *Scenario
	stages  []stage
	rng     *rand.Rand // of lags and processes; traffic and changes have their own
	regions []*region
	links   deliveries
	now     int64 // ns since the start, by no Region's clock
	order   int64 // of deliveries at the same time
}

func newWorld(s *Scenario) (*world, error) {
	w := &world{s: s, rng: rand.New(rand.NewPCG(s.Seed, 2))}
	var err error
	if w.stages, err = s.stages(); err != nil {
		return nil, err
	}
	spread := rand.New(rand.NewPCG(s.Seed, 4))
	for i := range s.Regions {
		w.regions = append(w.regions, newRegion(w, i, spread))
	}
	if s.Policy == Prealloc {
		for _, r := range w.regions {
			for i := range r.processes {
				r.processes[i] = r.start(0)
			}
		}
	}
	return w, nil
}

func (w *world) skewSeen() int64 {
	most := int64(0)
	for _, r := range w.regions {
		for _, p := range r.processes {
			if p != nil {
				most = max(most, int64(p.limiter.SkewSeen().Milliseconds()))
			}
		}
	}
	return most
}

// region is one Region: a replica, its processes, and the counts of its calls.
type region struct {
	w         *world
	index     int
	name      string
	skew      int64
	table     *memstore.Table
	store     *memstore.Store
	shares    []float64
	processes []*process
	hears     []int64          // how long each stage takes to reach the Region, ns
	written   map[string]int64 // when each item was last written, by sort key

	charges, queries int
	units, wasted    float64
}

// process is one execution environment.
type process struct {
	limiter *limiter.Limiter
	dies    int64 // ns since the start
	block   int64 // tokens left of what was pre-allocated
}

func newRegion(w *world, i int, spread *rand.Rand) *region {
	r := &region{w: w, index: i, name: fmt.Sprintf("r%d", i+1), table: memstore.NewTable(), written: map[string]int64{}}
	row := r.name
	if w.s.Policy == LWW {
		row = "shared"
	}
	r.store = r.table.Region(row)
	if w.s.Skew != nil {
		r.skew = int64(w.s.Skew[i])
	}
	for range w.stages {
		r.hears = append(r.hears, int64(spread.Float64()*float64(w.s.Spread)))
	}
	n := max(1, w.s.Processes)
	r.shares = shares(n, w.s.Zipf)
	r.processes = make([]*process, n)
	return r
}

// decide passes one request, at ns since the start, to one of the processes.
func (r *region) decide(at int64) bool {
	i, x := 0, 0.0
	if len(r.processes) > 1 {
		for x = r.w.rng.Float64(); x > r.shares[i]; i++ {
		}
	}
	p := r.processes[i]
	if p == nil || at >= p.dies {
		p = r.start(at)
		r.processes[i] = p
	}
	if r.w.s.Policy == Prealloc {
		return r.spend(p, at)
	}
	c := [1]limiter.Check{r.check(at)}
	if r.w.s.Policy != Weir {
		c[0].Consistency = limiter.Regional
	}
	c[0].Share = r.w.s.OnPartition == "share"
	var buf [1]limiter.Result
	return p.limiter.DecideInto(context.Background(), Start+at+r.skew, c[:], buf[:0]).Allowed
}

// start starts a process, which remembers nothing.
func (r *region) start(at int64) *process {
	p := &process{dies: int64(r.w.s.For)}
	if c := r.w.s.Churn; c > 0 {
		p.dies = at + int64(float64(c)*r.w.rng.ExpFloat64())
	}
	p.limiter = limiter.New((*counted)(r), limiter.Options{
		Region: r.name, Regions: r.w.s.Regions, Serial: true, NoLease: r.w.s.Processes == 0,
		Timeout: time.Hour, Rand: r.w.rng.Float64,
		Grace: max(5*time.Second, 4*r.w.s.Lag),
	})
	if r.w.s.Policy == Prealloc {
		r.allocate(p, at)
	}
	return p
}

// counted is a region's store: it counts calls and starts replication.
type counted region

func (c *counted) Charge(ctx context.Context, key string, ch bucket.Charge) (bucket.Outcome, error) {
	r := (*region)(c)
	out, err := r.store.Charge(ctx, key, ch)
	r.charges++
	r.units += out.Units
	switch {
	case err == nil && out.Status == bucket.Charged:
		r.replicate(out.Row)
	case out.Status == bucket.Refused:
		r.wasted += out.Units
	}
	return out, err
}

func (c *counted) Rows(ctx context.Context, key string) ([]bucket.Row, error) {
	c.queries++
	return c.store.Rows(ctx, key)
}

// replicate sends a row that was just written to the other Regions.
func (r *region) replicate(row bucket.Row) {
	at := r.w.now
	r.written[row.Region] = at
	s := r.w.s
	if s.Policy == Alone || s.Policy == Share || s.Policy == Prealloc {
		return
	}
	for i, to := range r.w.regions {
		if to == r {
			continue
		}
		if s.Coalesce > 0 && r.w.links.coalesce(r.index, i, at, row) {
			continue
		}
		lag := int64(float64(s.Lag) * (0.5 + r.w.rng.Float64()))
		due := at + lag
		for _, cut := range s.Cuts {
			whole := cut.Region == 0 || cut.Region-1 == r.index || cut.Region-1 == i
			if whole && at >= int64(cut.From) && at < int64(cut.To) {
				due = max(due, int64(cut.To)+lag)
			}
		}
		r.w.order++
		heap.Push(&r.w.links, delivery{due: due, order: r.w.order, from: r.index, to: i, at: at, until: at + int64(s.Coalesce), row: row})
	}
}

// deliver applies everything that has arrived by now.
func (w *world) deliver() {
	for len(w.links) > 0 && w.links[0].due <= w.now {
		d := heap.Pop(&w.links).(delivery)
		to := w.regions[d.to]
		if old, ok := to.written[d.row.Region]; ok && old > d.at {
			continue // the last writer wins
		}
		to.written[d.row.Region] = d.at
		to.table.Put(key, d.row, 1<<62)
	}
}
