package ddbstore_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"

	"weir/pkg/ddbstore"
)

// write writes one thing and returns it.
func write[P ddbstore.Put](t *testing.T, c *ddbstore.Config, p P) P {
	t.Helper()
	written, err := c.Write(t.Context(), change, p)
	if err != nil {
		t.Fatal(err)
	}
	return written[0].(P)
}

// everything reads a list page by page.
func everything(t *testing.T, most int, next func(after string, most int) (ddbstore.Page, error)) (ids []string) {
	t.Helper()
	for after := ""; ; {
		p, err := next(after, most)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.IDs) > most {
			t.Fatalf("a page of %d: %q", most, p.IDs)
		}
		ids = append(ids, p.IDs...)
		if p.Next == "" {
			return ids
		}
		after = p.Next
	}
}

func TestLists(t *testing.T) {
	ctx := t.Context()
	c := ddbstore.NewConfig(client(tables(t).Endpoint()), newTable(t)).Consistent()
	ids := []string{"#", "T#a", "a", "a#1", "b", "ü", "日本語"} // in the order of their bytes
	for _, id := range []string{"b", "ü", "#", "a#1", "日本語", "a", "T#a"} {
		write(t, c, ddbstore.Plan{Name: id, Body: "{}"})
		write(t, c, ddbstore.Tenant{ID: id, Plan: "a#1", Status: ddbstore.Active})
	}
	if got, err := c.Plans(ctx); err != nil || !slices.Equal(got, ids) {
		t.Errorf("Plans = %q, %v, want %q", got, err, ids)
	}
	for most := 1; most <= len(ids)+1; most++ {
		if got := everything(t, most, func(after string, most int) (ddbstore.Page, error) { return c.Tenants(ctx, after, most) }); !slices.Equal(got, ids) {
			t.Errorf("Tenants by %d: %q, want %q", most, got, ids)
		}
		got := everything(t, most, func(after string, most int) (ddbstore.Page, error) { return c.TenantsOn(ctx, "a#1", after, most) })
		if !slices.Equal(got, ids) {
			t.Errorf("TenantsOn by %d: %q, want %q", most, got, ids)
		}
	}
	if got, err := c.TenantsOn(ctx, "a", "", 10); err != nil || len(got.IDs) > 0 || got.Next != "" {
		t.Errorf("TenantsOn of a plan that nobody is on: %+v, %v", got, err)
	}
	if got, err := c.Tenants(ctx, "zzz", 10); err != nil || !slices.Equal(got.IDs, ids[5:]) {
		t.Errorf("Tenants after an id that there is not: %+v, %v", got, err)
	}
	for _, most := range []int{0, -1} {
		if got, err := c.Tenants(ctx, "", most); err == nil {
			t.Errorf("Tenants, at most %d: %+v", most, got)
		}
	}
}

// TestMembers moves a tenant between plans: it is on one plan at a time.
func TestMembers(t *testing.T) {
	ctx := t.Context()
	c := ddbstore.NewConfig(client(tables(t).Endpoint()), newTable(t)).Consistent()
	on := func(want map[string]int) {
		t.Helper()
		for plan, n := range want {
			if got, err := c.TenantsOn(ctx, plan, "", 100); err != nil || len(got.IDs) != n {
				t.Errorf("on plan %s: %q, %v, want %d", plan, got.IDs, err, n)
			}
		}
	}
	acme := write(t, c, ddbstore.Tenant{ID: "acme", Plan: "free", Status: ddbstore.Active})
	write(t, c, ddbstore.Tenant{ID: "hooli", Plan: "free", Status: ddbstore.Active})
	on(map[string]int{"free": 2, "pro": 0})
	acme.Plan = "pro"
	acme = write(t, c, acme)
	on(map[string]int{"free": 1, "pro": 1})
	acme.Status = ddbstore.Suspended
	acme = write(t, c, acme)
	on(map[string]int{"free": 1, "pro": 1})
	acme.Plan = "free"
	write(t, c, acme)
	on(map[string]int{"free": 2, "pro": 0})
}

func TestCredentialsOf(t *testing.T) {
	ctx := t.Context()
	c := ddbstore.NewConfig(client(tables(t).Endpoint()), newTable(t)).Consistent()
	of := func(tenant string) map[string]ddbstore.Credential {
		t.Helper()
		list, err := c.CredentialsOf(ctx, tenant)
		if err != nil {
			t.Fatal(err)
		}
		byLabel := make(map[string]ddbstore.Credential)
		for _, cr := range list {
			byLabel[cr.Label] = cr
		}
		return byLabel
	}
	var creds []ddbstore.Credential
	for i := range 3 {
		creds = append(creds, write(t, c, ddbstore.Credential{
			Hash: sha256.Sum256(fmt.Append(nil, i)), Tenant: "acme", Label: fmt.Sprint(i), Created: t0, LastFour: "wxyz",
		}))
	}
	write(t, c, ddbstore.Tenant{ID: "acme", Plan: "pro", Status: ddbstore.Active}) // beside them
	if got := of("acme"); len(got) != 3 || got["1"] != creds[1] || got["1"].Status != ddbstore.CredentialActive {
		t.Errorf("CredentialsOf = %+v, want %+v", got, creds)
	}
	creds[1].Status = ddbstore.CredentialRevoked
	creds[1] = write(t, c, creds[1])
	creds[2].Tenant = "hooli"
	creds[2] = write(t, c, creds[2])
	if got := of("acme"); len(got) != 2 || got["1"] != creds[1] || got["1"].Version != 2 || got["1"].Status != ddbstore.CredentialRevoked {
		t.Errorf("one is revoked, one has gone to another tenant: %+v", got)
	}
	if got := of("hooli"); len(got) != 1 || got["2"] != creds[2] {
		t.Errorf("CredentialsOf the other = %+v, want %+v", got, creds[2])
	}
	if got, err := c.Credential(ctx, creds[1].Hash); err != nil || got != creds[1] {
		t.Errorf("Credential = %+v, %v, want %+v", got, err, creds[1])
	}
}
