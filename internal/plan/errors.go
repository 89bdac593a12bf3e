package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxErrors is how many errors of one file are reported.
const maxErrors = 100

// Error is one thing wrong with a file: where it is, what it is, and what to
// write instead.
type Error struct {
	File         string
	Line, Column int // both count from 1; columns are characters
	Err          error
}

// Error returns "file:line:column: what is wrong".
func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %v", e.File, e.Line, e.Column, e.Err)
}

// Unwrap returns e.Err.
func (e *Error) Unwrap() error { return e.Err }

// ErrorList is everything wrong with a file, in its order; the error of Parse
// and ParsePlan.
type ErrorList []*Error

// Error returns the errors, one a line.
func (l ErrorList) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the errors, for errors.Is and errors.As.
func (l ErrorList) Unwrap() []error {
	errs := make([]error, len(l))
	for i, e := range l {
		errs[i] = e
	}
	return errs
}

// err returns the list in the order of the file, or nil if it is empty.
func (l ErrorList) err() error {
	if len(l) == 0 {
		return nil
	}
	slices.SortStableFunc(l, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return l
}
