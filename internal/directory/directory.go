// Package directory finds the tenant and the plan behind a credential.
package directory

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"weir/internal/plan"
)

// ErrUnknown is returned for a credential that no tenant has (or whose has expired or been revoked).
var ErrUnknown = errors.New("directory: unknown credential")

// MissingPlanError says that a plan in use does not exist: the configuration
// contradicts itself, and only its operator can mend it.
type MissingPlanError struct {
	Tenant string // "" for requests without a credential
	Plan   string
}

// Error says who has which plan.
func (e *MissingPlanError) Error() string {
	who := "tenant " + e.Tenant
	if e.Tenant == "" {
		who = "anonymous requests"
	}
	return fmt.Sprintf("directory: %s: no plan named %q", who, e.Plan)
}

// Hash is the SHA-256 of a credential, the only form in which one is kept.
type Hash [sha256.Size]byte

// HashOf returns the hash of a credential.
func HashOf(credential string) Hash { return sha256.Sum256([]byte(credential)) }

// Entry is a tenant and what holds for it.
type Entry struct {
	Tenant plan.Tenant // without Keys
	Plan   *plan.Plan  // as plan.Effective has it for the tenant; not to be changed
	Ver    int64       // of that: see plan.Effective
	Stale  bool        // the configuration could not be read; this is what was last known
}

// Directory is what the authorizer asks. Implementations are safe for concurrent use.
type Directory interface {
	// ByCredential returns the tenant that has the credential, or ErrUnknown.
	// Any other error means that the directory could not tell.
	ByCredential(ctx context.Context, now int64, h Hash) (Entry, error)

	// Anonymous returns the entry for requests without a credential;
	// ErrUnknown if those are refused.
	Anonymous(ctx context.Context, now int64) (Entry, error)
}
