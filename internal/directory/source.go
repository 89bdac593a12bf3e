package directory

import (
	"context"
	"errors"

	"weir/internal/plan"
)

// Errors of a Source.
var (
	ErrNotFound = errors.New("directory: not found")

	// ErrInvalid: it is there, but this version cannot use it. The fault is that of
	// one item, not of the source.
	ErrInvalid = errors.New("directory: configuration that this version cannot use")
)

// Credential is what a Source knows of a credential.
type Credential struct {
	Tenant  string // id
	Expires int64  // ns since the Unix epoch; 0 is never
	Revoked bool   // it is nobody's any more, whatever Expires says
	Stamp   int64  // of its last change
}

func (c Credential) good(now int64) bool {
	return !c.Revoked && (c.Expires == 0 || now < c.Expires)
}

// Source is where a Cached reads: the config table. It is safe for concurrent
// use. An error other than ErrNotFound and ErrInvalid means that it could not
// tell. Nothing it returns may be changed afterwards.
type Source interface {
	Credential(ctx context.Context, h Hash) (Credential, error)
	Tenant(ctx context.Context, id string) (plan.Tenant, error) // without Keys
	Plan(ctx context.Context, name string) (*plan.Plan, error)
}
