package bootstrap_test

import (
	"fmt"
	"strings"
	"testing"

	"weir/internal/testbootstrap"
	"weir/internal/testengine"
	"weir/pkg/ddbstore"
)

const strictPlans = `
plans:
  p: { limits: [{ name: login, rate: 5/h, consistency: strict }] }
tenants: [{ id: acme, plan: p, keys: [acme-dev-key-1] }]
`

// TestStrictTable: a function in one of two Regions keeps a strict limit in the
// strict table, or without one where it keeps the others, and then says so.
func TestStrictTable(t *testing.T) {
	const key, regions = "login|acme", "WEIR_REGIONS=us-east-1," + region
	client := testengine.Start(t).Client(region)
	for _, tt := range []struct {
		name                    string
		env                     string
		strict, global, warning int
	}{
		{"with", regions + " WEIR_STRICT_TABLE=%s", 1, 0, 0},
		{"without", regions, 0, 1, 1},
		{"one Region without", "", 0, 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			table := fmt.Sprint("strict-", tables.Add(1))
			if err := ddbstore.CreateStrictTable(t.Context(), client, table); err != nil {
				t.Fatal(err)
			}
			env := dynamoDB(t, plansFile(t, strictPlans))
			f := testbootstrap.Start(t, bootstrap, append(env, strings.Fields(strings.Replace(tt.env, "%s", table, 1))...)...)
			allowed := 0
			for range 7 {
				if r := invoke(t, f, event(t, "apigw-custom-auth-request-type-request")); strings.Contains(string(r.Payload), `"Effect":"Allow"`) {
					allowed++
				}
			}
			if allowed != 5 {
				t.Errorf("%d of 7 requests were allowed, want 5", allowed)
			}
			if n := strings.Count(f.Log(), "WEIR_STRICT_TABLE"); n != tt.warning {
				t.Errorf("%d warnings, want %d:\n%s", n, tt.warning, f.Log())
			}
			for name, s := range map[string]struct {
				store *ddbstore.Store
				want  int
			}{
				"strict": {ddbstore.NewStrict(client, table), tt.strict},
				"global": {ddbstore.New(client, bucketsOf(env), region), tt.global},
			} {
				rows, err := s.store.Rows(t.Context(), key)
				if err != nil || len(rows) != s.want {
					t.Errorf("the %s table has %+v, %v, want %d rows", name, rows, err, s.want)
				}
			}
		})
	}
}

func bucketsOf(env []string) string {
	for _, v := range env {
		if name, ok := strings.CutPrefix(v, "WEIR_BUCKETS_TABLE="); ok {
			return name
		}
	}
	return ""
}
