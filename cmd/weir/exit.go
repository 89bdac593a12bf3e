package main

import (
	"context"
	"errors"

	"weir/internal/operator"
	"weir/pkg/ddbstore"
)

// Exit codes.
const (
	exitOK          = 0
	exitError       = 1
	exitRefused     = 2
	exitInterrupted = 130 // as a shell reports SIGINT
)

// refusal is an error that is no failure: somebody said no, or something stands
// in the way that a person has to look at. Nothing was changed.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// interruption is what a command says that was told to stop, and how to go on. It
// is a context.Canceled.
type interruption struct{ error }

func (i interruption) Unwrap() error { return i.error }

// Is makes it a context.Canceled.
func (i interruption) Is(target error) bool { return target == context.Canceled }

// exitCode returns the code for what a command ended with.
func exitCode(err error) int {
	var no refusal
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &no), errors.Is(err, ddbstore.ErrConflict), errors.Is(err, operator.ErrRefused):
		return exitRefused
	}
	return exitError
}
