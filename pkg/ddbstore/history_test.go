package ddbstore_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"weir/pkg/ddbstore"
)

func TestHistory(t *testing.T) {
	ctx := t.Context()
	c, _ := newConfig(t)
	const versions = 12 // more than a digit
	var plans []ddbstore.Plan
	var tenants []ddbstore.Tenant
	for i := range int64(versions) {
		ch := ddbstore.Change{Author: fmt.Sprint("author ", i), Reason: fmt.Sprint("reason ", i), At: t0 + i}
		written, err := c.Write(ctx, ch,
			ddbstore.Plan{Name: "pro", Body: fmt.Sprint("body ", i), Carry: "reset", Next: fmt.Sprint("next ", i), Version: i},
			ddbstore.Tenant{ID: "pro", Plan: fmt.Sprint("plan ", i), Status: ddbstore.Active, Version: i})
		if err != nil {
			t.Fatal(err)
		}
		plans, tenants = append(plans, written[0].(ddbstore.Plan)), append(tenants, written[1].(ddbstore.Tenant))
	}
	for i := range int64(versions) {
		if got, err := c.PlanAt(ctx, "pro", i+1); err != nil || got != plans[i] {
			t.Errorf("PlanAt %d = %+v, %v, want %+v", i+1, got, err, plans[i])
		}
		if got, err := c.TenantAt(ctx, "pro", i+1); err != nil || got != tenants[i] {
			t.Errorf("TenantAt %d = %+v, %v, want %+v", i+1, got, err, tenants[i])
		}
	}
	for _, most := range []int{1, 5, versions, 100} {
		ps, err1 := c.PlanHistory(ctx, "pro", most)
		ts, err2 := c.TenantHistory(ctx, "pro", most)
		if err1 != nil || err2 != nil || len(ps) != min(most, versions) || len(ts) != len(ps) {
			t.Fatalf("at most %d: %d plans, %d tenants, %v, %v", most, len(ps), len(ts), err1, err2)
		}
		for i := range ps {
			if ps[i] != plans[versions-1-i] || ts[i] != tenants[versions-1-i] {
				t.Errorf("history[%d] = %+v and %+v", i, ps[i], ts[i])
			}
		}
	}
	for _, version := range []int64{-1, 0, versions + 1} {
		if got, err := c.PlanAt(ctx, "pro", version); !errors.Is(err, ddbstore.ErrNotFound) {
			t.Errorf("PlanAt %d = %+v, %v, want ErrNotFound", version, got, err)
		}
	}
	if got, err := c.PlanHistory(ctx, "none", 1); !errors.Is(err, ddbstore.ErrNotFound) {
		t.Errorf("history of what there is not: %+v, %v, want ErrNotFound", got, err)
	}
	if got, err := c.TenantHistory(ctx, "pro", 0); err == nil {
		t.Errorf("at most 0: %+v", got)
	}

	// A rollback is a change like others, back to what was kept.
	old := plans[2]
	old.Version = versions
	back, err := c.PutPlan(ctx, old, change)
	if err != nil || back.Body != plans[2].Body || back.Next != plans[2].Next || back.Version != versions+1 || back.Stamp <= plans[versions-1].Stamp {
		t.Errorf("rolled back to %+v, %v", back, err)
	}
}

// TestConfigFromBefore: what was written before there were stamps, history and
// lists is read as it is, and the first change adds them.
func TestConfigFromBefore(t *testing.T) {
	ctx := t.Context()
	c, table := newConfig(t)
	old := func(pk string, attributes map[string]string) {
		t.Helper()
		it := map[string]types.AttributeValue{
			"pk":      &types.AttributeValueMemberS{Value: pk},
			"sk":      &types.AttributeValueMemberS{Value: "CURRENT"},
			"ver":     &types.AttributeValueMemberN{Value: "3"},
			"author":  &types.AttributeValueMemberS{Value: "bob"},
			"reason":  &types.AttributeValueMemberS{Value: ""},
			"changed": &types.AttributeValueMemberN{Value: "7"},
		}
		for name, v := range attributes {
			it[name] = &types.AttributeValueMemberS{Value: v}
		}
		if _, err := tables(t).Client(region).PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: it}); err != nil {
			t.Fatal(err)
		}
	}
	h := ddbstore.Hash{7}
	by := ddbstore.Change{Author: "bob", At: 7}
	old("PLAN#pro", map[string]string{"body": "{}"})
	old("TENANT#acme", map[string]string{"plan": "pro", "status": "active", "overrides": ""})
	old("TENANT#hooli", map[string]string{"plan": "pro", "status": "active", "overrides": ""})
	old("CRED#07"+fmt.Sprintf("%062d", 0), map[string]string{"tenant": "acme", "label": "", "last4": "wxyz"})

	plan, tenant := ddbstore.Plan{Name: "pro", Body: "{}", Version: 3, Change: by}, ddbstore.Tenant{ID: "acme", Plan: "pro", Status: ddbstore.Active, Version: 3, Change: by}
	cred := ddbstore.Credential{Hash: h, Tenant: "acme", LastFour: "wxyz", Status: ddbstore.CredentialActive, Version: 3, Change: by}
	if got, err := c.Plan(ctx, "pro"); err != nil || got != plan {
		t.Errorf("Plan = %+v, %v, want %+v", got, err, plan)
	}
	if got, err := c.Tenant(ctx, "acme"); err != nil || got != tenant {
		t.Errorf("Tenant = %+v, %v, want %+v", got, err, tenant)
	}
	if got, err := c.Credential(ctx, h); err != nil || got != cred {
		t.Errorf("Credential = %+v, %v, want %+v", got, err, cred)
	}
	if got, err := c.PlanAt(ctx, "pro", 3); err != nil || got != plan {
		t.Errorf("PlanAt the current version = %+v, %v", got, err)
	}
	if got, err := c.PlanAt(ctx, "pro", 2); !errors.Is(err, ddbstore.ErrNotFound) {
		t.Errorf("PlanAt an older version = %+v, %v, want ErrNotFound", got, err)
	}
	if got, err := c.TenantHistory(ctx, "acme", 5); err != nil || len(got) != 1 || got[0] != tenant {
		t.Errorf("TenantHistory = %+v, %v, want the current version", got, err)
	}
	if got, err := c.Tenants(ctx, "", 5); err != nil || len(got.IDs) != 0 {
		t.Errorf("Tenants = %+v, %v, want none listed yet", got, err)
	}

	tenant.Plan = "free"
	hooli := ddbstore.Tenant{ID: "hooli", Plan: "pro", Status: ddbstore.Active, Version: 3}
	written, err := c.Write(ctx, change, plan, tenant, cred, hooli)
	if err != nil {
		t.Fatal(err)
	}
	if got := written[1].(ddbstore.Tenant); got.Version != 4 || got.Stamp < t0 {
		t.Errorf("Write = %+v, want version 4 and a stamp", got)
	}
	if got, err := c.Plans(ctx); err != nil || len(got) != 1 || got[0] != "pro" {
		t.Errorf("Plans = %q, %v", got, err)
	}
	if got, err := c.Tenants(ctx, "", 5); err != nil || len(got.IDs) != 2 || got.IDs[0] != "acme" {
		t.Errorf("Tenants = %+v, %v", got, err)
	}
	for name, id := range map[string]string{"pro": "hooli", "free": "acme"} {
		if got, err := c.TenantsOn(ctx, name, "", 5); err != nil || !slices.Equal(got.IDs, []string{id}) {
			t.Errorf("TenantsOn %s = %+v, %v, want %s", name, got, err, id)
		}
	}
	if got, err := c.CredentialsOf(ctx, "acme"); err != nil || len(got) != 1 || got[0] != written[2] {
		t.Errorf("CredentialsOf = %+v, %v", got, err)
	}
	if got, err := c.TenantHistory(ctx, "acme", 5); err != nil || len(got) != 1 || got[0] != written[1] {
		t.Errorf("TenantHistory = %+v, %v, want from the first change on", got, err)
	}
}
