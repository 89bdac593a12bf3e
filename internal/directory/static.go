package directory

import (
	"context"
	"fmt"

	"weir/internal/plan"
)

// Static is the directory of a plans file, for development and tests. It never
// changes: for another file make another Static.
type Static struct {
	byHash    map[Hash]Entry
	anonymous *plan.Plan // nil refuses
}

var _ Directory = (*Static)(nil)

// NewStatic returns the directory of f. The error is a *MissingPlanError, or
// says that two tenants share a key; a parsed file has neither.
func NewStatic(f *plan.File) (*Static, error) {
	s := &Static{byHash: make(map[Hash]Entry)}
	if f.Anonymous != "" {
		if s.anonymous = f.Plans[f.Anonymous]; s.anonymous == nil {
			return nil, &MissingPlanError{Plan: f.Anonymous}
		}
	}
	for _, t := range f.Tenants {
		p := f.Plans[t.Plan]
		if p == nil {
			return nil, &MissingPlanError{Tenant: t.ID, Plan: t.Plan}
		}
		e := Entry{Tenant: t}
		e.Tenant.Keys = nil
		e.Plan, e.Ver = plan.Effective(p, t, 0) // a file has no rollouts, which would depend on the time
		for _, key := range t.Keys {
			h := HashOf(key)
			if other, taken := s.byHash[h]; taken {
				return nil, fmt.Errorf("directory: tenants %s and %s have the same key", other.Tenant.ID, t.ID)
			}
			s.byHash[h] = e
		}
	}
	return s, nil
}

// ByCredential implements Directory.
func (s *Static) ByCredential(_ context.Context, _ int64, h Hash) (Entry, error) {
	if e, ok := s.byHash[h]; ok {
		return e, nil
	}
	return Entry{}, ErrUnknown
}

// Anonymous implements Directory.
func (s *Static) Anonymous(context.Context, int64) (Entry, error) {
	if s.anonymous == nil {
		return Entry{}, ErrUnknown
	}
	return Entry{Plan: s.anonymous}, nil
}

// Remembers reports whether h is a credential of the file.
func (s *Static) Remembers(_ int64, h Hash) bool {
	_, ok := s.byHash[h]
	return ok
}
