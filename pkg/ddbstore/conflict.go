package ddbstore

import "fmt"

// subject is one thing of the configuration.
type subject struct{ kind, id string }

// key returns the partition key.
func (s subject) key() string {
	switch s.kind {
	case KindPlan:
		return planKey(s.id)
	case KindTenant:
		return tenantKey(s.id)
	}
	return credentialPrefix + s.id
}

func (s subject) String() string {
	if s.kind == KindCredential {
		return fmt.Sprintf("credential %.8s", s.id)
	}
	return fmt.Sprintf("%s %q", s.kind, s.id)
}

// ConflictError refuses a change that is based on another version than the
// current one. Nothing was written. It is an ErrConflict.
type ConflictError struct {
	Kind, ID string // as in Changed
	Base     int64  // version that the change is based on; 0 was to create
	Version  int64  // current version; 0 if there is none
	Change   Change // that led to it
}

func (e *ConflictError) Error() string {
	s := subject{e.Kind, e.ID}
	switch {
	case e.Version == 0:
		return fmt.Sprintf("%v does not exist, and the change is based on version %d", s, e.Base)
	case e.Base == 0:
		return fmt.Sprintf("%v exists already, at version %d, changed by %s", s, e.Version, e.Change.Author)
	}
	return fmt.Sprintf("%v is at version %d, changed by %s, and the change is based on version %d", s, e.Version, e.Change.Author, e.Base)
}

// Is makes it an ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// conflict explains why a change based on version base was not made.
func conflict(s subject, base int64, found item) error {
	d := decoder{it: found}
	e := &ConflictError{Kind: s.kind, ID: s.id, Base: base, Version: d.number(attrVersion), Change: d.change()}
	if d.err != nil {
		return fmt.Errorf("%v: %w", s, d.err)
	}
	return e
}
