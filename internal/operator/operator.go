// Package operator is what the operator's commands do, without the command line:
// it compares plans, tells whom a change would hit, changes plans, tenants and
// keys in the config table, and explains a tenant's buckets.
//
// Nothing here decides about requests. What a bucket holds and what the next
// request would get comes from the arithmetic that the authorizer uses.
//
// Keys are secrets: a key is returned once, by the function that makes it, and is
// in no error and no result of another.
package operator

import "errors"

// ErrRefused is wrapped by errors that are no failure: what was asked for cannot
// be done as things are, and a person has to look. Nothing was changed.
var ErrRefused = errors.New("refused")
