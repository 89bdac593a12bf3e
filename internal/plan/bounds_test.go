package plan

import (
	"fmt"
	"strings"
	"testing"
)

// Every bound is accepted at its edge and refused one beyond.
func TestBounds(t *testing.T) {
	const p = "plans: { p: { limits: [{ name: a, rate: 1/s }] } }\n"
	list := func(n int, elem func(i int) string) string {
		elems := make([]string, n)
		for i := range elems {
			elems[i] = elem(i)
		}
		return "[" + strings.Join(elems, ", ") + "]"
	}
	word := func(n int) string { return strings.Repeat("x", n) }
	for _, tt := range []struct {
		what string
		most int
		text func(n int) string
	}{
		{"limits of a plan", MaxLimits, func(n int) string {
			return "plans: { p: { limits: " + list(n, func(i int) string { return fmt.Sprintf("{ name: l%d, rate: 1/s }", i) }) + " } }"
		}},
		{"plans", MaxPlans, func(n int) string {
			var b strings.Builder
			b.WriteString("plans:\n  p0: &p { limits: [{ name: a, rate: 1/s }] }\n")
			for i := 1; i < n; i++ {
				fmt.Fprintf(&b, "  p%d: *p\n", i)
			}
			return b.String()
		}},
		{"tenants", MaxTenants, func(n int) string {
			return p + "tenants: " + list(n, func(i int) string { return fmt.Sprintf("{ id: t%d, plan: p }", i) })
		}},
		{"keys of a tenant", MaxKeys, func(n int) string {
			return p + "tenants: [{ id: t, plan: p, keys: " + list(n, func(i int) string { return fmt.Sprint("k", i) }) + " }]"
		}},
		{"name of a limit", MaxName, func(n int) string { return strings.Replace(p, "name: a", "name: "+word(n), 1) }},
		{"name of a plan", MaxName, func(n int) string { return strings.Replace(p, "p:", word(n)+":", 1) }},
		{"id of a tenant", MaxName, func(n int) string { return p + "tenants: [{ id: " + word(n) + ", plan: p }]" }},
		{"description", maxDescription, func(n int) string {
			return strings.Replace(p, "name: a", "name: a, description: "+strings.Repeat("é", n), 1)
		}},
		{"resource", maxResource, func(n int) string {
			return strings.Replace(p, "name: a", "name: a, match: { resource: /"+word(n-1)+" }", 1)
		}},
		{"parts of a key", MaxParts, func(n int) string {
			return strings.Replace(p, "name: a", `name: a, key: "`+strings.Repeat("x:", n-1)+`x"`, 1)
		}},
		{"word of a key", MaxName, func(n int) string { return strings.Replace(p, "name: a", "name: a, key: "+word(n), 1) }},
		{"bytes of a file", MaxFileSize, func(n int) string { return p + "#" + word(n-len(p)-1) }},
	} {
		if _, err := Parse("f", []byte(tt.text(tt.most))); err != nil {
			t.Errorf("%s: %d are refused: %v", tt.what, tt.most, err)
		}
		if _, err := Parse("f", []byte(tt.text(tt.most+1))); err == nil {
			t.Errorf("%s: %d are accepted", tt.what, tt.most+1)
		}
	}
}
