package directory_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"weir/internal/directory"
	"weir/internal/testengine"
	"weir/pkg/ddbstore"
)

// TestReplicasOfTables: two Regions' tables on a real engine, the nearer of which
// fails in every way it can.
func TestReplicasOfTables(t *testing.T) {
	const other = "us-east-1"
	here, nearProxy := configuredIn(t, region)
	there, farProxy := configuredIn(t, other)
	put(t, there, ddbstore.Credential{Hash: directory.HashOf("there"), Tenant: "acme"})
	before := farProxy.Calls()

	lookup := func(key string) (directory.Entry, error) {
		quiet := slog.New(slog.DiscardHandler)
		d := directory.NewCached(directory.NewReplicas(quiet,
			directory.Replica{Region: region, Source: directory.FromTable(here)},
			directory.Replica{Region: other, Source: directory.FromTable(there)},
		), directory.Options{Log: quiet}) // a new process, which knows nothing
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second) // the machine may be busy
		defer cancel()
		return d.ByCredential(ctx, t0, directory.HashOf(key))
	}
	if _, err := lookup("there"); !errors.Is(err, directory.ErrUnknown) {
		t.Errorf("this Region does not know the key: %v, want ErrUnknown", err)
	}
	if got := farProxy.Calls() - before; got != 0 {
		t.Errorf("the other Region took %d calls while this one answered", got)
	}
	for name, fault := range map[string]testengine.Fault{
		"silent":       testengine.Stall,
		"throttled":    testengine.Throttle,
		"broken":       testengine.Answer(500, `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"internal"}`),
		"not allowed":  testengine.Answer(400, `{"__type":"com.amazon.coral.service#AccessDeniedException","message":"no"}`),
		"disconnected": testengine.LoseAnswer,
	} {
		t.Run(name, func(t *testing.T) {
			nearProxy.Set(fault)
			defer nearProxy.Set(nil)
			e, err := lookup("there")
			if err != nil || e.Tenant.ID != "acme" || e.Plan.Name != "pro" || e.Stale {
				t.Errorf("got %+v, %v; want the other Region's entry", e, err)
			}
		})
	}
	nearProxy.Set(testengine.Throttle)
	farProxy.Set(testengine.LoseAnswer)
	var unreadable *directory.UnreadableError
	if _, err := lookup("there"); !errors.As(err, &unreadable) || errors.Is(err, directory.ErrUnknown) {
		t.Errorf("no Region answers: %v, want an UnreadableError", err)
	}
}
