package bootstrap_test

import (
	"testing"

	"weir/internal/testbootstrap"
	"weir/internal/testengine"
	"weir/pkg/ddbstore"
)

const leasePlans = `
plans:
  p: { limits: [{ name: api, rate: 1000/m }] }
tenants: [{ id: acme, plan: p, keys: [acme-dev-key-1] }]
`

// TestReleaseOnSIGTERM: a process that Lambda ends returns the tokens that it had
// charged in advance, so that the table says exactly what was admitted.
func TestReleaseOnSIGTERM(t *testing.T) {
	env := dynamoDB(t, plansFile(t, leasePlans))
	store := ddbstore.New(testengine.Start(t).Client(region), bucketsOf(env), region)
	spent := func() int64 {
		t.Helper()
		rows, err := store.Rows(t.Context(), "api|acme")
		if err != nil || len(rows) != 1 {
			t.Fatalf("rows %+v, %v; want one", rows, err)
		}
		return rows[0].Spent
	}
	f := testbootstrap.Start(t, bootstrap, env...)
	good := event(t, "apigw-custom-auth-request-type-request")
	admitted := int64(0)
	for range 500 {
		if decode(t, invoke(t, f, good)).effect() != "Allow" {
			t.Fatalf("request %d is refused", admitted+1)
		}
		admitted++
		if spent() > admitted+1 {
			break // a lease is in memory
		}
	}
	before := spent()
	if before <= admitted {
		t.Fatalf("%d admitted, %d charged; want a lease in memory", admitted, before)
	}
	f.Stop()
	if after := spent(); after != admitted {
		t.Errorf("%d admitted, %d charged before the process ended and %d afterwards; want the rest returned\n%s", admitted, before, after, f.Log())
	}
}
