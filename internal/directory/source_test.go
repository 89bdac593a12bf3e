package directory

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"weir/internal/plan"
)

var errDown = errors.New("table unavailable")

// fakeSource is a Source and its Feed in memory. It counts its calls and can fail.
type fakeSource struct {
	mu          sync.Mutex
	credentials map[Hash]Credential
	tenants     map[string]plan.Tenant
	plans       map[string]*plan.Plan
	calls       int
	err         error                       // of every call, if set
	before      func(context.Context) error // runs within every call, if set

	changes    []Change
	hidden     map[int64]bool // stamps of changes that are not in sight yet
	looks      int
	beforeLook func(context.Context) error // runs within every look, if set
}

// Changes implements Feed.
func (s *fakeSource) Changes(ctx context.Context, since int64, most int) ([]Change, bool, error) {
	s.mu.Lock()
	s.looks++
	before, hidden := s.beforeLook, s.hidden
	err := s.err
	s.mu.Unlock()
	if before != nil {
		if err := before(ctx); err != nil {
			return nil, false, err
		}
	}
	if err != nil {
		return nil, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Change
	for _, ch := range s.changes {
		if ch.Stamp > since && !hidden[ch.Stamp] {
			found = append(found, ch)
		}
	}
	slices.SortFunc(found, func(a, b Change) int { return cmp.Compare(b.Stamp, a.Stamp) })
	n := min(len(found), most)
	return found[:n], len(found) > n, nil
}

// newFakeSource has tenant acme on plan pro, both at version 1, with key "k".
func newFakeSource() *fakeSource {
	return &fakeSource{
		credentials: map[Hash]Credential{HashOf("k"): {Tenant: "acme"}},
		tenants:     map[string]plan.Tenant{"acme": {ID: "acme", Plan: "pro", Ver: 1}},
		plans:       map[string]*plan.Plan{"pro": {Name: "pro", Ver: 1}},
	}
}

func (s *fakeSource) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// tell puts a change in the feed.
func (s *fakeSource) tell(kind Kind, id string, stamp int64) {
	s.change(func() { s.changes = append(s.changes, Change{kind, id, stamp}) })
}

// ver is the version of what a tenant has of a plan; forced is 1 if its scheduled
// change is in force.
func ver(tenant, plan, forced int64) int64 { return tenant<<32 | plan<<1 | forced }

// looked returns how many looks were taken since it was last asked.
func (s *fakeSource) looked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.looks
	s.looks = 0
	return n
}

// put makes v, a plan.Plan, a plan.Tenant or a Credential of key "k", the next
// version of it, under a stamp.
func (s *fakeSource) put(stamp int64, v any) {
	s.change(func() {
		switch v := v.(type) {
		case plan.Plan:
			v.Stamp, v.Ver = stamp, 1
			if old := s.plans[v.Name]; old != nil {
				v.Ver = old.Ver + 1
			}
			s.plans[v.Name] = &v
		case plan.Tenant:
			v.Stamp, v.Ver = stamp, s.tenants[v.ID].Ver+1
			s.tenants[v.ID] = v
		case Credential:
			v.Stamp = stamp
			s.credentials[HashOf("k")] = v
		default:
			panic("what is it?")
		}
	})
}

func (s *fakeSource) fail(err error) { s.change(func() { s.err = err }) }

// took returns how many calls were made since it was last asked.
func (s *fakeSource) took() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.calls
	s.calls = 0
	return n
}

func (s *fakeSource) Credential(ctx context.Context, h Hash) (Credential, error) {
	return find(ctx, s, s.credentials, h)
}

func (s *fakeSource) Tenant(ctx context.Context, id string) (plan.Tenant, error) {
	return find(ctx, s, s.tenants, id)
}

func (s *fakeSource) Plan(ctx context.Context, name string) (*plan.Plan, error) {
	return find(ctx, s, s.plans, name)
}

func find[K comparable, V any](ctx context.Context, s *fakeSource, m map[K]V, k K) (V, error) {
	s.mu.Lock()
	s.calls++
	before := s.before
	s.mu.Unlock()
	var none V
	if before != nil {
		if err := before(ctx); err != nil {
			return none, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return none, s.err
	}
	v, ok := m[k]
	if !ok {
		return none, ErrNotFound
	}
	return v, nil
}
