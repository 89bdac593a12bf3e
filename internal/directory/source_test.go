package directory

import (
	"context"
	"errors"
	"sync"

	"weir/internal/plan"
)

var errDown = errors.New("table unavailable")

// fakeSource is a Source in memory that counts its calls and can fail.
type fakeSource struct {
	mu          sync.Mutex
	credentials map[Hash]Credential
	tenants     map[string]plan.Tenant
	plans       map[string]*plan.Plan
	calls       int
	err         error                       // of every call, if set
	before      func(context.Context) error // runs within every call, if set
}

// newFakeSource has tenant acme on plan pro at version 1, with key "k".
func newFakeSource() *fakeSource {
	return &fakeSource{
		credentials: map[Hash]Credential{HashOf("k"): {Tenant: "acme"}},
		tenants:     map[string]plan.Tenant{"acme": {ID: "acme", Plan: "pro"}},
		plans:       map[string]*plan.Plan{"pro": {Name: "pro", Ver: 1}},
	}
}

func (s *fakeSource) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
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
