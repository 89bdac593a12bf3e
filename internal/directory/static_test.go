package directory

import (
	"context"
	"errors"
	"os"
	"testing"

	"weir/internal/plan"
)

func example(t *testing.T) *plan.File {
	t.Helper()
	data, err := os.ReadFile("../../examples/plans.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f, err := plan.Parse("plans.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestStatic(t *testing.T) {
	f := example(t)
	s, err := NewStatic(f)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for _, tt := range []struct {
		key, tenant, plan string
		suspended         bool
	}{
		{"acme-dev-key-1", "acme", "pro", false},
		{"hooli-dev-key-1", "hooli", "free", false},
		{"initech-dev-key-1", "initech", "free", true},
	} {
		e, err := s.ByCredential(ctx, 0, HashOf(tt.key))
		if err != nil {
			t.Errorf("%s: %v", tt.key, err)
			continue
		}
		if !s.Remembers(0, HashOf(tt.key)) {
			t.Errorf("%s is not remembered", tt.key)
		}
		if e.Tenant.ID != tt.tenant || e.Plan != f.Plans[tt.plan] || e.Tenant.Suspended != tt.suspended || e.Tenant.Keys != nil {
			t.Errorf("%s gives tenant %+v, plan %+v", tt.key, e.Tenant, e.Plan)
		}
	}
	if _, err := s.ByCredential(ctx, 0, HashOf("acme-dev-key-2")); !errors.Is(err, ErrUnknown) {
		t.Errorf("unknown key: %v, want ErrUnknown", err)
	}
	if s.Remembers(0, HashOf("acme-dev-key-2")) {
		t.Error("an unknown key is remembered")
	}
	if e, err := s.Anonymous(ctx, 0); err != nil || e.Plan != f.Plans["anonymous"] || e.Tenant.ID != "" {
		t.Errorf("Anonymous = %+v, %v", e, err)
	}
}

func TestStaticWithoutAnonymous(t *testing.T) {
	f := example(t)
	f.Anonymous = ""
	s, err := NewStatic(f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Anonymous(context.Background(), 0); !errors.Is(err, ErrUnknown) {
		t.Errorf("Anonymous: %v, want ErrUnknown", err)
	}
}

func TestNewStaticRefusesContradictions(t *testing.T) {
	var missing *MissingPlanError

	f := example(t)
	f.Tenants[0].Plan = "gold"
	if _, err := NewStatic(f); !errors.As(err, &missing) || missing.Tenant != "acme" || missing.Plan != "gold" {
		t.Errorf("missing plan: %v", err)
	}

	f = example(t)
	f.Anonymous = "gold"
	if _, err := NewStatic(f); !errors.As(err, &missing) || missing.Tenant != "" || missing.Plan != "gold" {
		t.Errorf("missing anonymous plan: %v", err)
	}

	f = example(t)
	f.Tenants[1].Keys = f.Tenants[0].Keys
	if _, err := NewStatic(f); err == nil {
		t.Error("two tenants with one key: no error")
	}
}
