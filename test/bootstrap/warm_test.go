package bootstrap_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"weir/internal/testbootstrap"
)

// slowPlans refill so slowly that no test is long enough for a token.
const slowPlans = `
plans:
  small:
    limits:
      - {name: api, rate: 1/h, burst: 5}
tenants:
  - {id: acme, plan: small, keys: [acme-dev-key-1]}
  - {id: hooli, plan: small, keys: [hooli-dev-key-1]}
badCredentials: {rate: 1/h, burst: 2}
`

type answer struct {
	PolicyDocument struct{ Statement []struct{ Effect string } }
	Context        map[string]string
}

func decode(t *testing.T, r testbootstrap.Reply) answer {
	t.Helper()
	var a answer
	if err := json.Unmarshal(r.Payload, &a); err != nil || len(a.PolicyDocument.Statement) != 1 {
		t.Fatalf("not a policy: %s, error %q", r.Payload, r.Err)
	}
	return a
}

func (a answer) effect() string { return a.PolicyDocument.Statement[0].Effect }

// TestWarm: the function keeps its state between calls, admits exactly the burst
// and refuses the request after it.
func TestWarm(t *testing.T) {
	const burst = 5
	good := event(t, "apigw-custom-auth-request-type-request")
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			f := b.start(t, plansFile(t, slowPlans))
			for i := 1; i <= burst; i++ {
				a := decode(t, invoke(t, f, good))
				if a.effect() != "Allow" || a.Context["remaining"] != strconv.Itoa(burst-i) {
					t.Fatalf("request %d: %s, %v; want it allowed with %d left", i, a.effect(), a.Context, burst-i)
				}
			}
			a := decode(t, invoke(t, f, good))
			if a.effect() != "Deny" || a.Context["code"] != "rate_limited" || a.Context["remaining"] != "0" {
				t.Errorf("request %d: %s, %v; want it refused", burst+1, a.effect(), a.Context)
			}
			if wait, err := strconv.Atoi(a.Context["retryAfter"]); err != nil || wait < 3000 || wait > 3600 {
				t.Errorf("retryAfter %s, want a little less than an hour", a.Context["retryAfter"])
			}
		})
	}
}

// TestBadCredentials: guesses are 401 up to a limit, then 429, on the real thing.
func TestBadCredentials(t *testing.T) {
	bad := event(t, "apigw-custom-auth-request-type-request-bad-key")
	f := backends[0].start(t, plansFile(t, slowPlans))
	for range 2 {
		if r := invoke(t, f, bad); r.Err != "Unauthorized" {
			t.Fatalf("got %s, %q; want Unauthorized", r.Payload, r.Err)
		}
	}
	if a := decode(t, invoke(t, f, bad)); a.effect() != "Deny" || a.Context["scope"] != "ip" || a.Context["reason"] != "bad_credentials" {
		t.Errorf("third guess: got %s, %v; want it refused by address", a.effect(), a.Context)
	}
}

// TestProcessesShareABucket: two execution environments on one table admit one
// burst between them.
func TestProcessesShareABucket(t *testing.T) {
	const burst = 5
	good := event(t, "apigw-custom-auth-request-type-request")
	env := dynamoDB(t, plansFile(t, slowPlans))
	functions := []*testbootstrap.Function{testbootstrap.Start(t, bootstrap, env...), testbootstrap.Start(t, bootstrap, env...)}
	allowed := 0
	for i := range 3 * burst {
		if a := decode(t, invoke(t, functions[i%2], good)); a.effect() == "Allow" {
			allowed++
		}
	}
	if allowed != burst {
		t.Errorf("%d requests allowed by two processes, want %d", allowed, burst)
	}
}
