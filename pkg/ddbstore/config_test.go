package ddbstore_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"weir/internal/testengine"
	"weir/pkg/ddbstore"
)

var change = ddbstore.Change{Author: "ada", Reason: "a test", At: t0}

func openConfig(t *testing.T) *ddbstore.Config {
	t.Helper()
	return ddbstore.NewConfig(client(tables(t).Endpoint()), config)
}

// newTable creates a config table that no other test uses.
func newTable(t *testing.T) string {
	t.Helper()
	name := fmt.Sprintf("weir-table-%d", keys.Add(1))
	if err := ddbstore.CreateTables(t.Context(), tables(t).Client(region), name+"-buckets", name); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestConfigRoundTrip(t *testing.T) {
	ctx, c, id := t.Context(), openConfig(t), newKey(t)

	plan, err := c.PutPlan(ctx, ddbstore.Plan{Name: id, Body: "limits: []\n# ü"}, change)
	if err != nil {
		t.Fatal(err)
	}
	if want := (ddbstore.Plan{Name: id, Body: "limits: []\n# ü", Version: 1, Stamp: plan.Stamp, Change: change}); plan != want || plan.Stamp < t0 {
		t.Errorf("PutPlan = %+v, want %+v", plan, want)
	}
	if got, err := c.Plan(ctx, id); err != nil || got != plan {
		t.Errorf("Plan = %+v, %v, want %+v", got, err, plan)
	}

	tenant, err := c.PutTenant(ctx, ddbstore.Tenant{ID: id, Plan: "pro", Status: ddbstore.Suspended, Overrides: "x"}, change)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Tenant(ctx, id); err != nil || got != tenant || got.Version != 1 || got.Status != ddbstore.Suspended || got.Plan != "pro" {
		t.Errorf("Tenant = %+v, %v, want %+v", got, err, tenant)
	}

	h := ddbstore.Hash(sha256.Sum256([]byte(id)))
	cred, err := c.PutCredential(ctx, ddbstore.Credential{Hash: h, Tenant: id, Label: "ci", Created: t0, Expires: t0 + 1, LastFour: "9f3c"}, change)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Credential(ctx, h); err != nil || got != cred || got.Version != 1 || got.Expires != t0+1 || got.LastFour != "9f3c" {
		t.Errorf("Credential = %+v, %v, want %+v", got, err, cred)
	}
}

func TestConfigNotFound(t *testing.T) {
	ctx, c := t.Context(), openConfig(t)
	if _, err := c.Plan(ctx, "none"); !errors.Is(err, ddbstore.ErrNotFound) || !strings.Contains(err.Error(), `"none"`) {
		t.Errorf("Plan: %v, want ErrNotFound with the name", err)
	}
	if _, err := c.Tenant(ctx, "none"); !errors.Is(err, ddbstore.ErrNotFound) || !strings.Contains(err.Error(), `"none"`) {
		t.Errorf("Tenant: %v, want ErrNotFound with the id", err)
	}
	if _, err := c.Credential(ctx, ddbstore.Hash{}); !errors.Is(err, ddbstore.ErrNotFound) {
		t.Errorf("Credential: %v, want ErrNotFound", err)
	}
}

func TestConfigVersions(t *testing.T) {
	ctx, c, id := t.Context(), openConfig(t), newKey(t)
	for i, step := range []struct {
		body string
		base int64
		want int64  // version, or
		err  string // part of the message of an ErrConflict
	}{
		{"one", 1, 0, "does not exist"},
		{"one", 0, 1, ""},
		{"one", 0, 0, "exists already, at version 1"}, // although nothing would change
		{"two", 1, 2, ""},
		{"two b", 1, 0, "at version 2, changed by ada"},
		{"three", 3, 0, "at version 2"},
		{"three", 2, 3, ""},
	} {
		ch := change
		ch.At += int64(i)
		p, err := c.PutPlan(ctx, ddbstore.Plan{Name: id, Body: step.body, Version: step.base}, ch)
		if step.err != "" {
			if !errors.Is(err, ddbstore.ErrConflict) || !strings.Contains(err.Error(), step.err) {
				t.Errorf("step %d: %v, want ErrConflict: %q", i, err, step.err)
			}
		} else if err != nil || p.Version != step.want {
			t.Errorf("step %d: %+v, %v, want version %d", i, p, err, step.want)
		}
	}
	if p, err := c.Plan(ctx, id); err != nil || p.Body != "three" || p.Version != 3 {
		t.Errorf("Plan = %+v, %v, want version 3", p, err)
	}
}

func TestConfigConcurrentWriters(t *testing.T) {
	id := newKey(t)
	for base := range int64(4) {
		var (
			wg   sync.WaitGroup
			won  atomic.Int64
			lost atomic.Int64
		)
		for i := range 8 {
			c, ch := openConfig(t), change
			ch.At += int64(i)
			wg.Go(func() {
				_, err := c.PutPlan(context.Background(), ddbstore.Plan{Name: id, Version: base}, ch)
				switch {
				case err == nil:
					won.Add(1)
				case errors.Is(err, ddbstore.ErrConflict):
					lost.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 || lost.Load() != 7 {
			t.Errorf("on version %d: %d won and %d lost, want 1 and 7", base, won.Load(), lost.Load())
		}
	}
}

// TestConfigLostAnswer: a change whose first answer is lost is made once and
// reported as made.
func TestConfigLostAnswer(t *testing.T) {
	p := tables(t).Proxy(t)
	c, id := ddbstore.NewConfig(client(p.Endpoint()), newTable(t)), newKey(t)
	var lost atomic.Bool
	p.Set(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if lost.CompareAndSwap(false, true) {
			testengine.LoseAnswer(w, r, next)
		}
		next.ServeHTTP(w, r)
	})
	got, err := c.PutTenant(t.Context(), ddbstore.Tenant{ID: id, Plan: "pro", Status: ddbstore.Active}, change)
	if err != nil || got.Version != 1 {
		t.Errorf("PutTenant = %+v, %v, want version 1", got, err)
	}
	if p.Calls() != 2 {
		t.Errorf("%d requests, want 2", p.Calls())
	}
	if got, err := c.Tenant(t.Context(), id); err != nil || got.Version != 1 {
		t.Errorf("Tenant = %+v, %v, want version 1", got, err)
	}
}

func TestConfigRefusesNonsense(t *testing.T) {
	c := ddbstore.NewConfig(client(nobody(t)), config) // nothing may reach the table
	h := ddbstore.Hash{1}
	for want, put := range map[string]func() error{
		"needs a name": func() error { _, err := c.PutPlan(t.Context(), ddbstore.Plan{}, change); return err },
		"needs an author": func() error {
			_, err := c.PutPlan(t.Context(), ddbstore.Plan{Name: "p"}, ddbstore.Change{})
			return err
		},
		"version -1": func() error {
			_, err := c.PutPlan(t.Context(), ddbstore.Plan{Name: "p", Version: -1}, change)
			return err
		},
		"needs an id": func() error {
			_, err := c.PutTenant(t.Context(), ddbstore.Tenant{Plan: "p", Status: ddbstore.Active}, change)
			return err
		},
		"needs a plan": func() error {
			_, err := c.PutTenant(t.Context(), ddbstore.Tenant{ID: "t", Status: ddbstore.Active}, change)
			return err
		},
		`want "active" or "suspended"`: func() error {
			_, err := c.PutTenant(t.Context(), ddbstore.Tenant{ID: "t", Plan: "p"}, change)
			return err
		},
		"needs a hash": func() error {
			_, err := c.PutCredential(t.Context(), ddbstore.Credential{Tenant: "t"}, change)
			return err
		},
		"needs a tenant": func() error {
			_, err := c.PutCredential(t.Context(), ddbstore.Credential{Hash: h}, change)
			return err
		},
		"at most four": func() error {
			_, err := c.PutCredential(t.Context(), ddbstore.Credential{Hash: h, Tenant: "t", LastFour: "too-much"}, change)
			return err
		},
	} {
		if err := put(); err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, ddbstore.ErrUnavailable) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestNoCredentialInTable looks for a key in everything that is stored for it
// (D6).
func TestNoCredentialInTable(t *testing.T) {
	const key = "wr_live_c0rrecthorsebattery-9f3c"
	c, table := newConfig(t)
	sum := sha256.Sum256([]byte(key))
	cred := write(t, c, ddbstore.Credential{Hash: sum, Tenant: "acme", LastFour: "9f3c"})
	cred.Tenant, cred.Status = "hooli", ddbstore.CredentialRevoked
	write(t, c, cred)
	stored := dump(t, table)
	if stored["CRED#"+hex.EncodeToString(sum[:])+" / CURRENT"] == "" {
		t.Fatalf("the credential is not under its hash: %v", stored)
	}
	for at, it := range stored {
		for i := 0; i+5 <= len(key); i++ {
			if strings.Contains(at+it, key[i:i+5]) {
				t.Errorf("%s contains %q of the key: %s", at, key[i:i+5], it)
			}
		}
	}
}

func TestCreateTables(t *testing.T) {
	c := tables(t).Client(region)
	if err := ddbstore.CreateTables(t.Context(), c, buckets, config); err != nil {
		t.Errorf("CreateTables again: %v, want nil", err)
	}
	desc, err := c.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: ptr(config)})
	if err != nil {
		t.Fatal(err)
	}
	if s := desc.Table.StreamSpecification; s == nil || s.StreamViewType != types.StreamViewTypeNewAndOldImages {
		t.Errorf("config stream %+v, want NEW_AND_OLD_IMAGES", s)
	}
	ttl, err := c.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: ptr(buckets)})
	if err != nil {
		t.Fatal(err)
	}
	if d := ttl.TimeToLiveDescription; d.TimeToLiveStatus != types.TimeToLiveStatusEnabled || *d.AttributeName != "ttl" {
		t.Errorf("buckets TTL %+v, want ttl enabled", d)
	}
}
