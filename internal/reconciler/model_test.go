package reconciler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"weir/internal/directory"
	"weir/internal/memstore"
	"weir/internal/plan"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// replica is a Region's copy of a config table in memory: what has been replicated
// of it. Only what the model needs of Config is there.
type replica struct {
	Config // the rest is nil

	mu      sync.Mutex
	plans   map[string]*plan.Plan
	tenants map[string]plan.Tenant
	members map[string]map[string]bool // of a plan
	state   map[string]ddbstore.Job
	fail    func() error // before every call
}

func (c *replica) enter() error {
	c.mu.Lock()
	return c.fail()
}

func (c *replica) plan(name string) (*plan.Plan, error) {
	defer c.mu.Unlock()
	if err := c.enter(); err != nil {
		return nil, err
	}
	if p := c.plans[name]; p != nil {
		return p, nil
	}
	return nil, directory.ErrNotFound
}

// modelSource is the replica as a source.
type modelSource struct{ *replica }

func (s modelSource) Plan(_ context.Context, name string) (*plan.Plan, error) { return s.plan(name) }

func (s modelSource) Credential(context.Context, directory.Hash) (directory.Credential, error) {
	return directory.Credential{}, directory.ErrNotFound
}

func (s modelSource) Tenant(_ context.Context, id string) (plan.Tenant, error) {
	defer s.mu.Unlock()
	if err := s.enter(); err != nil {
		return plan.Tenant{}, err
	}
	if t, ok := s.tenants[id]; ok {
		return t, nil
	}
	return plan.Tenant{}, directory.ErrNotFound
}

func (c *replica) TenantsOn(_ context.Context, name, after string, most int) (ddbstore.Page, error) {
	defer c.mu.Unlock()
	if err := c.enter(); err != nil {
		return ddbstore.Page{}, err
	}
	return pageOf(c.members[name], after, most), nil
}

func (c *replica) Tenants(_ context.Context, after string, most int) (ddbstore.Page, error) {
	defer c.mu.Unlock()
	if err := c.enter(); err != nil {
		return ddbstore.Page{}, err
	}
	all := map[string]bool{}
	for id := range c.tenants {
		all[id] = true
	}
	return pageOf(all, after, most), nil
}

func pageOf(ids map[string]bool, after string, most int) ddbstore.Page {
	rest := slices.DeleteFunc(slices.Sorted(maps.Keys(ids)), func(id string) bool { return id <= after })
	p := ddbstore.Page{IDs: rest[:min(most, len(rest))]}
	if len(rest) > most {
		p.Next = rest[most-1]
	}
	return p
}

func (c *replica) Job(_ context.Context, _, id string) (ddbstore.Job, error) {
	defer c.mu.Unlock()
	if err := c.enter(); err != nil {
		return ddbstore.Job{}, err
	}
	if j, ok := c.state[id]; ok {
		return j, nil
	}
	return ddbstore.Job{}, ddbstore.ErrNotFound
}

func (c *replica) PutJob(_ context.Context, j ddbstore.Job) (ddbstore.Job, error) {
	defer c.mu.Unlock()
	if err := c.enter(); err != nil {
		return ddbstore.Job{}, err
	}
	if c.state[j.ID].Version != j.Version {
		return ddbstore.Job{}, ddbstore.ErrConflict
	}
	j.Version++
	c.state[j.ID] = j
	return j, nil
}

func (c *replica) Usage(context.Context, string, string, string) (ddbstore.Usage, error) {
	return ddbstore.Usage{}, ddbstore.ErrNotFound
}

func (c *replica) PutUsage(_ context.Context, u ddbstore.Usage) (ddbstore.Usage, error) {
	return u, nil
}

// write is an item on its way to the replica.
type write struct {
	item  string // of one item, writes arrive in their order
	apply func(*replica)
	news  json.RawMessage // its record; nil for a list's entry
}

// model is one random sequence of changes.
type model struct {
	rand    *rand.Rand
	replica *replica
	rows    *memstore.Store
	*Reconciler

	plans    map[string]*plan.Plan // at home
	tenants  map[string]plan.Tenant
	ids      []string
	way      []write // in the order in which they were made
	inbox    map[string]json.RawMessage
	sequence int
	clock    int64
	lagging  bool  // a list's entry may arrive after what it is about
	leftOut  int64 // tenants, of all changes
}

func (m *model) Applied(a Applied) { m.leftOut += a.Rows.Failed }
func (m *model) Batch(Batch)       {}
func (m *model) Scheduled(Report)  {}

const modelTenants = 7

var errKilled = errors.New("killed")

func newModel(t *testing.T, seed uint64) *model {
	m := &model{
		rand:    rand.New(rand.NewPCG(seed, 1)), //nolint:gosec // a test
		replica: &replica{plans: map[string]*plan.Plan{}, tenants: map[string]plan.Tenant{}, members: map[string]map[string]bool{}, state: map[string]ddbstore.Job{}},
		rows:    memstore.New(here), plans: map[string]*plan.Plan{}, tenants: map[string]plan.Tenant{}, inbox: map[string]json.RawMessage{}, clock: t0,
	}
	m.lagging = m.rand.IntN(4) == 0
	m.replica.fail = func() error { return nil }
	m.Reconciler = New(Options{
		Region: here, Regions: []string{here}, Config: m.replica, Source: modelSource{m.replica}, Rows: m.rows, Parallel: 1, Observer: m,
		Now: func() int64 { return m.clock }, Jitter: func() float64 { return 0 },
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	m.page = 2
	for _, name := range []string{"a", "b"} {
		m.changePlan(name, 100, 100, bucket.Proportional)
	}
	for i := range modelTenants {
		id := fmt.Sprint("t", i)
		m.ids = append(m.ids, id)
		m.changeTenant(id, func(tn *plan.Tenant) { tn.Plan = "a" })
	}
	m.arrive(len(m.way))
	for _, id := range m.ids { // every other one has a row
		if m.rand.IntN(2) == 0 {
			m.use(t, id)
		}
	}
	return m
}

// stamp is the next of the home's clock.
func (m *model) stamp() int64 {
	m.clock += 2 * (1 + m.rand.Int64N(1e9))
	return m.clock
}

func (m *model) planVer(name string) int64 {
	if p := m.plans[name]; p != nil {
		return p.Ver
	}
	return 0
}

func (m *model) changePlan(name string, perSecond, burst int64, carry bucket.Carry) {
	l, err := bucket.NewLimit(bucket.Rate{Count: perSecond, Period: time.Second}, burst)
	if err != nil {
		panic(err)
	}
	p := &plan.Plan{Name: name, Ver: 1 + m.planVer(name), Stamp: m.stamp(), Carry: carry, Limits: []plan.Limit{{Name: "api", Bucket: l, Cost: 1}}}
	m.plans[name] = p
	m.send(write{item: "PLAN#" + name, apply: func(c *replica) { c.plans[name] = p }})
}

func (m *model) changeTenant(id string, change func(*plan.Tenant)) {
	tn := m.tenants[id]
	was := tn.Plan
	tn.ID, tn.Stamp = id, m.stamp()
	tn.Ver++
	change(&tn)
	m.tenants[id] = tn
	list := func(c *replica) {
		if was != tn.Plan {
			delete(c.members[was], id)
			if c.members[tn.Plan] == nil {
				c.members[tn.Plan] = map[string]bool{}
			}
			c.members[tn.Plan][id] = true
		}
	}
	if m.lagging {
		m.send(write{item: "list " + id, apply: list})
		list = func(*replica) {}
	}
	m.send(write{item: "TENANT#" + id, apply: func(c *replica) { c.tenants[id] = tn; list(c) }})
}

func (m *model) send(w write) {
	if w.item[:4] != "list" {
		m.sequence++
		w.news = rec(w.item, currentKey, fmt.Sprint(m.sequence))
	}
	m.way = append(m.way, w)
}

// arrive lets n writes arrive, of several items in any order.
func (m *model) arrive(n int) {
	for range min(n, len(m.way)) {
		pick := m.way[m.rand.IntN(len(m.way))].item
		i := slices.IndexFunc(m.way, func(w write) bool { return w.item == pick })
		w := m.way[i]
		m.way = slices.Delete(m.way, i, i+1)
		m.replica.mu.Lock()
		w.apply(m.replica)
		m.replica.mu.Unlock()
		if w.news != nil {
			r, _, _ := read(w.news)
			m.inbox[r.DynamoDB.SequenceNumber] = w.news
		}
	}
}

// deliver hands over some of the inbox, in any order and some twice. What did not
// fail leaves the inbox, most of the time.
func (m *model) deliver(t *testing.T, ctx context.Context) {
	t.Helper()
	var batch []json.RawMessage
	var sequence []string
	for _, s := range slices.Sorted(maps.Keys(m.inbox)) {
		for m.rand.IntN(3) > 0 && len(batch) < 10 {
			batch, sequence = append(batch, m.inbox[s]), append(sequence, s)
		}
	}
	if len(batch) == 0 {
		return
	}
	m.rand.Shuffle(len(batch), func(i, j int) { batch[i], batch[j] = batch[j], batch[i] })
	out, err := m.stream(ctx, batch)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sequence {
		if m.rand.IntN(10) > 0 && !slices.Contains(out.BatchItemFailures, Failure{s}) {
			delete(m.inbox, s)
		}
	}
}

// use charges a tenant's bucket as an authorizer would: under what the replica
// says.
func (m *model) use(t *testing.T, id string) {
	t.Helper()
	tn := m.replica.tenants[id]
	p := m.replica.plans[tn.Plan]
	if p == nil {
		return
	}
	eff, ver := plan.Effective(p, tn, m.clock)
	n := 1 + m.rand.Int64N(50)
	inc, _ := eff.Limits[0].Bucket.Charge(n, 0)
	_, err := m.rows.Charge(t.Context(), "api|"+id, bucket.Charge{Limit: eff.Limits[0].Bucket, Now: m.clock, Tokens: n, Inc: inc, Ver: ver, Carry: eff.Carry})
	if err != nil {
		t.Fatal(err)
	}
}

// step does something at random.
func (m *model) step(t *testing.T) {
	m.clock += m.rand.Int64N(3e8)
	carry := bucket.Carry(m.rand.IntN(4))
	rate := func() int64 { return 10 + m.rand.Int64N(500) }
	switch id := m.ids[m.rand.IntN(len(m.ids))]; m.rand.IntN(9) {
	case 0:
		m.changePlan([]string{"a", "b"}[m.rand.IntN(2)], rate(), rate(), carry)
	case 1:
		m.changeTenant(id, func(tn *plan.Tenant) { tn.Plan, tn.Carry = []string{"a", "b"}[m.rand.IntN(2)], carry })
	case 2:
		m.changeTenant(id, func(tn *plan.Tenant) { tn.Suspended = !tn.Suspended })
	case 3:
		m.changeTenant(id, func(tn *plan.Tenant) {
			tn.Overrides.Limits = map[string]plan.LimitOverride{"api": {Rate: &plan.Rate{Rate: bucket.Rate{Count: rate(), Period: time.Second}}}}
			tn.Carry = carry
		})
	case 4:
		m.use(t, id)
	case 5:
		m.arrive(1 + m.rand.IntN(4))
	case 6:
		m.deliver(t, t.Context())
	case 7: // the store fails now and then
		m.rows.Fault = func(context.Context, string) error {
			if m.rand.IntN(2) == 0 {
				return ddbstore.ErrUnavailable
			}
			return nil
		}
		m.replica.fail = func() error {
			if m.rand.IntN(4) == 0 {
				return ddbstore.ErrThrottled
			}
			return nil
		}
		m.deliver(t, t.Context())
		m.rows.Fault, m.replica.fail = nil, func() error { return nil }
	case 8: // the process is killed in the middle
		ctx, kill := context.WithCancelCause(t.Context())
		left := m.rand.IntN(30)
		m.replica.fail = func() error {
			if left--; left < 0 {
				kill(errKilled)
				return context.Cause(ctx)
			}
			return nil
		}
		m.deliver(t, ctx)
		kill(nil)
		m.replica.fail = func() error { return nil }
	}
}

// wrong returns the tenants whose rows are not what their plans say.
func (m *model) wrong(t *testing.T) (ids []string) {
	t.Helper()
	for _, id := range m.ids {
		row, found := m.rows.Peek("api|" + id)
		if !found {
			continue
		}
		tn := m.tenants[id]
		eff, ver := plan.Effective(m.plans[tn.Plan], tn, m.clock)
		l := eff.Limits[0].Bucket
		if row.Ver != ver || row.Limit != l {
			ids = append(ids, id)
		}
		if ahead := row.TAT - m.clock; ahead > int64(l.Depth()) && row.Limit == l {
			t.Errorf("%s is %v from full, and its bucket is %v deep", id, time.Duration(ahead), l.Depth())
		}
	}
	return ids
}

// TestRandomSequences: whatever happens, and in whatever order it is heard of, in
// the end every row is what the configuration says. It takes no round to get there
// unless a list of tenants was behind, or the store failed for so long that a tenant
// was left out, which is counted.
func TestRandomSequences(t *testing.T) {
	drift := 0
	for seed := range uint64(1000) {
		m := newModel(t, seed)
		spent := map[string]int64{}
		for range 30 {
			m.step(t)
		}
		m.arrive(len(m.way))
		for tries := 0; len(m.inbox) > 0; tries++ {
			if tries == 1000 {
				t.Fatalf("seed %d: %d records are never done", seed, len(m.inbox))
			}
			m.deliver(t, t.Context())
		}
		for _, id := range m.ids {
			row, _ := m.rows.Peek("api|" + id)
			spent[id] = row.Spent
		}
		wrong := m.wrong(t)
		if int64(len(wrong)) > m.leftOut && !m.lagging {
			t.Errorf("seed %d: the rows of %v are not what they should be, and %d were left out", seed, wrong, m.leftOut)
		}
		drift += len(wrong)
		m.clock += settle
		out, err := m.round(t.Context(), m.clock, false)
		if err != nil || !out.Finished || out.Tenants != modelTenants || out.Drift != int64(len(wrong)) {
			t.Errorf("seed %d: a round found %+v, %v; want %d drifted", seed, out, err, len(wrong))
		}
		if wrong := m.wrong(t); len(wrong) > 0 {
			t.Errorf("seed %d: after a round the rows of %v are not what they should be", seed, wrong)
		}
		for _, id := range m.ids {
			if row, _ := m.rows.Peek("api|" + id); row.Spent != spent[id] {
				t.Errorf("seed %d: %s has spent %d, and before the round %d", seed, id, row.Spent, spent[id])
			}
		}
		if t.Failed() {
			break
		}
	}
	t.Logf("%d rows were left to a round: lists were behind, or the store failed for too long", drift)
}
