package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"weir/internal/authorizer"
	"weir/internal/devgateway"
	"weir/internal/directory"
	"weir/internal/limiter"
	"weir/internal/plan"
)

// stack is everything between a client and the store, in one process.
type stack struct {
	plans     *plan.File
	directory directory.Directory
	store     limiter.Store
	limiter   *limiter.Limiter // made of store if nil
	region    string           // of the rows that store writes
	template  *devgateway.Template
	keyHeader string
	log       *slog.Logger
	observer  authorizer.Observer // nil for none

	sourceIPHeader string // see devgateway.Options
	record         func(devgateway.Record)
	now            func() int64 // nil: the system's clock
}

// handler puts the parts together.
func (s stack) handler() (http.Handler, error) {
	if s.limiter == nil {
		s.limiter = s.newLimiter()
	}
	h := authorizer.New(s.directory, s.limiter, authorizer.Options{
		KeyHeader:      s.keyHeader,
		Strict:         true, // there is one Region
		BadCredentials: &s.plans.BadCredentials,
		Log:            s.log,
		Now:            s.now,
		Observer:       s.observer,
	})
	g, err := devgateway.New(devgateway.Options{
		Authorizer: func(ctx context.Context, event json.RawMessage) (any, error) {
			return h.Handle(ctx, event)
		},
		Template:       s.template,
		Resources:      resources(s.plans),
		SourceIPHeader: s.sourceIPHeader,
		Log:            s.record,
	})
	if err != nil {
		return nil, fmt.Errorf("a plan matches a resource that no API can have: %w", err)
	}
	return g, nil
}

func (s stack) newLimiter() *limiter.Limiter {
	return limiter.New(s.store, limiter.Options{Region: s.region, Processes: 1})
}

// resources returns the resource templates that the plans' limits match: the API
// must have them for the limits to apply.
func resources(f *plan.File) []string {
	var all []string
	for _, p := range f.Plans {
		for _, l := range p.Limits {
			if strings.HasPrefix(l.Match.Resource, "/") { // not "", "*" or "$connect"
				all = append(all, l.Match.Resource)
			}
		}
	}
	return all
}
