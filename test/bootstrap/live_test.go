package bootstrap_test

import (
	"strings"
	"testing"
	"time"

	"weir/internal/directory"
	"weir/internal/testbootstrap"
	"weir/internal/testengine"
	"weir/pkg/ddbstore"
)

// honoured is how long a change may take to be seen, on a machine that is busy. A
// function does it in two seconds, which internal/directory tests on a clock.
const honoured = 20 * time.Second

// roomyPlans limit no test.
var roomyPlans = strings.ReplaceAll(slowPlans, "burst: 5", "burst: 10k")

// live is a function on tables, and the configuration it serves.
type live struct {
	*testbootstrap.Function
	config *ddbstore.Config
}

func startLive(t *testing.T, plans string) live {
	t.Helper()
	env := dynamoDB(t, plansFile(t, plans))
	config := ""
	for _, v := range env {
		if name, ok := strings.CutPrefix(v, "WEIR_CONFIG_TABLE="); ok {
			config = name
		}
	}
	return live{
		Function: testbootstrap.Start(t, bootstrap, env...),
		config:   ddbstore.NewConfig(testengine.Start(t).Client(region), config),
	}
}

// write changes the configuration.
func (l live) write(t *testing.T, puts ...ddbstore.Put) {
	t.Helper()
	if _, err := l.config.Write(t.Context(), ddbstore.Change{Author: "test", At: time.Now().UnixNano()}, puts...); err != nil {
		t.Fatal(err)
	}
}

// call calls the function with acme's key.
func (l live) call(t *testing.T) testbootstrap.Reply {
	t.Helper()
	return invoke(t, l.Function, event(t, "apigw-custom-auth-request-type-request"))
}

// The two kinds of process: one that has requests all the time, and one that must
// look at what has changed before it decides.
const (
	busy = 50 * time.Millisecond // between requests
	idle = 2 * time.Second
)

// until calls the function after every pause, until the reply is one for which ok
// is true, and returns that.
func (l live) until(t *testing.T, what string, pause time.Duration, ok func(testbootstrap.Reply) bool) testbootstrap.Reply {
	t.Helper()
	began := time.Now()
	for calls := 1; ; calls++ {
		time.Sleep(pause)
		r := l.call(t)
		if ok(r) {
			t.Logf("%s after %v, with request %d", what, time.Since(began).Round(time.Millisecond), calls)
			return r
		}
		if time.Since(began) > honoured {
			t.Fatalf("not %s after %v: %s %q\n%s", what, time.Since(began), r.Payload, r.Err, l.Log())
		}
	}
}

func coded(code string) func(testbootstrap.Reply) bool {
	return func(r testbootstrap.Reply) bool { return strings.Contains(string(r.Payload), `"code":"`+code+`"`) }
}

// TestSuspendAndResume: a tenant is refused, and served again, without a restart.
func TestSuspendAndResume(t *testing.T) {
	l := startLive(t, roomyPlans)
	if a := decode(t, l.call(t)); a.effect() != "Allow" {
		t.Fatalf("before: %+v", a)
	}
	l.write(t, ddbstore.Tenant{ID: "acme", Plan: "small", Status: ddbstore.Suspended, Version: 1})
	l.until(t, "suspended", busy, coded("tenant_suspended"))
	l.write(t, ddbstore.Tenant{ID: "acme", Plan: "small", Status: ddbstore.Active, Version: 2})
	l.until(t, "resumed", idle, coded("ok"))
}

// TestRevoke: a key is nobody's from then on, and others of the tenant are good.
func TestRevoke(t *testing.T) {
	l := startLive(t, roomyPlans)
	key := directory.HashOf("acme-dev-key-1")
	if a := decode(t, l.call(t)); a.effect() != "Allow" {
		t.Fatalf("before: %+v", a)
	}
	l.write(t, ddbstore.Credential{Hash: key, Tenant: "acme", Status: ddbstore.CredentialRevoked, Version: 1},
		ddbstore.Credential{Hash: directory.HashOf("acme-dev-key-2"), Tenant: "acme"})
	l.until(t, "revoked", idle, func(r testbootstrap.Reply) bool { return r.Err == "Unauthorized" })
	other := []byte(strings.ReplaceAll(string(event(t, "apigw-custom-auth-request-type-request")), "acme-dev-key-1", "acme-dev-key-2"))
	if a := decode(t, invoke(t, l.Function, other)); a.effect() != "Allow" || a.Context["tenant"] != "acme" {
		t.Errorf("the other key: %+v", a)
	}
}
