package plan

import (
	"net/netip"
	"strings"
	"testing"
)

// TestTenantKey: where a key is said to follow from the tenant, every request of
// the tenant has that key, and no other tenant's has.
func TestTenantKey(t *testing.T) {
	tests := []struct {
		template string
		want     string // "" if the key depends on more
	}{
		{"", "api|acme"},
		{"{tenant}", "api|acme"},
		{"uploads:{tenant}", "api|=uploads:acme"},
		{"{tenant}:{tenant}", "api|acme:acme"},
		{"uploads", ""},
		{"{ip}", ""},
		{"{tenant}:{ip}", ""},
		{"{tenant}:{route}", ""},
		{"{tenant}:{method}", ""},
		{"{tenant}:{header.x-user}", ""},
	}
	for _, tt := range tests {
		l := Limit{Name: "api"}
		if tt.template != "" {
			var err error
			if l.Key, err = ParseTemplate(tt.template); err != nil {
				t.Fatal(err)
			}
		}
		got, ok := l.TenantKey("acme")
		if got != tt.want || ok != (tt.want != "") {
			t.Errorf("key %q: got %q, %v; want %q", tt.template, got, ok, tt.want)
			continue
		}
		if !ok {
			continue
		}
		for _, s := range []Subject{
			{Tenant: "acme"},
			{Tenant: "acme", IP: netip.MustParseAddr("2001:db8::1"), Method: "POST", Resource: "/v1/x", Header: strings.ToUpper},
		} {
			if key := l.BucketKey(s); key != got {
				t.Errorf("key %q: a request has the bucket %q, want %q", tt.template, key, got)
			}
		}
		if other, _ := l.TenantKey("hooli"); other == got {
			t.Errorf("key %q: two tenants have the bucket %q", tt.template, got)
		}
	}
}
