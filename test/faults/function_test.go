package faults_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"weir/internal/directory"
	"weir/internal/testbootstrap"
	"weir/internal/testengine"
	"weir/pkg/ddbstore"
)

const (
	region   = "eu-west-1"
	other    = "us-east-1" // has a replica of the config table
	burst    = 100         // of the one limit, which refills so slowly that no test is long enough for a token
	deadline = 100 * time.Millisecond
	lookup   = 10 * deadline // for finding out who calls
)

// function is an authorizer whose DynamoDB can be broken.
type function struct {
	*testbootstrap.Function
	t       *testing.T
	engine  *testengine.Engine
	proxy   *testengine.Proxy
	buckets string
	event   []byte
	answers map[code]int // by code, since it was started
	told    bool         // the log has said that a store does not answer
	modes   watch        // what the metrics have said
}

// What the log says of an outage.
const (
	outageBegins = "store does not answer"
	outageEnds   = "store answers again"
)

// bothRegions is the setting of a function that can fall back on the other Region.
const bothRegions = "WEIR_REGIONS=" + region + "," + other

var tables atomic.Int64

// start starts a function, on tables that nobody has used, with the tenant of the
// event on a plan of one limit.
func start(t *testing.T, p policy, env ...string) *function {
	t.Helper()
	event, err := os.ReadFile("../../events/apigw-custom-auth-request-type-request.json")
	if err != nil {
		t.Fatal(err)
	}
	e := testengine.Start(t)
	n := tables.Add(1)
	f := &function{
		t: t, engine: e, proxy: e.Proxy(t), event: event,
		buckets: fmt.Sprint("buckets-", n), answers: make(map[code]int),
	}
	config := fmt.Sprint("config-", n)
	regions := []string{region}
	if slices.Contains(env, bothRegions) {
		regions = append(regions, other)
	}
	for _, r := range regions {
		client := e.Client(r)
		if err := ddbstore.CreateTables(t.Context(), client, f.buckets, config); err != nil {
			t.Fatal(err)
		}
		seed(t, ddbstore.NewConfig(client, config), p)
	}
	f.Function = testbootstrap.Start(t, bootstrap, append([]string{
		"AWS_REGION=" + region, "AWS_ENDPOINT_URL_DYNAMODB=" + f.proxy.Endpoint(),
		"WEIR_BUCKETS_TABLE=" + f.buckets, "WEIR_CONFIG_TABLE=" + config,
		"WEIR_STORE_TIMEOUT=" + deadline.String(), fmt.Sprint("WEIR_PROCESSES=", processes),
	}, env...)...)
	return f
}

func seed(t *testing.T, c *ddbstore.Config, p policy) {
	t.Helper()
	by := ddbstore.Change{Author: "test"}
	plan := fmt.Sprintf(`{"limits":[{"name":"api","rate":"1/h","burst":%d%s}]}`, burst, p.fields)
	if _, err := c.PutPlan(t.Context(), ddbstore.Plan{Name: "pro", Body: plan}, by); err != nil {
		t.Fatal(err)
	}
	if _, err := c.PutTenant(t.Context(), ddbstore.Tenant{ID: "acme", Plan: "pro", Status: ddbstore.Active}, by); err != nil {
		t.Fatal(err)
	}
	key := ddbstore.Credential{Hash: directory.HashOf("acme-dev-key-1"), Tenant: "acme"} // of the event
	if _, err := c.PutCredential(t.Context(), key, by); err != nil {
		t.Fatal(err)
	}
}

// code is what an answer says of itself; those of docs/answers.md that a client
// with a good key may get.
type code string

const (
	ok          code = "ok"
	unchecked   code = "unchecked"    // allowed, because the store could not tell
	rateLimited code = "rate_limited" // by a bucket that was looked at
	unavailable code = "unavailable"  // refused, because the store could not tell

	// capped is rate_limited by the process's own count, because the store could
	// not tell: answers have remaining=-1 then.
	capped code = "rate_limited, remaining unknown"
)

// sample is a call and what came of it.
type sample struct {
	at   time.Time // of the answer
	took time.Duration
	code code
}

// call makes a request with a good key. Whatever is broken, the answer is a
// policy that says what it is.
func (f *function) call() sample {
	f.t.Helper()
	began := time.Now()
	reply, err := f.Invoke(f.t.Context(), f.event)
	now := time.Now()
	if err != nil || reply.Err != "" {
		f.t.Fatalf("no answer but %q, %v: a client gets a 500\n%s", reply.Err, err, f.lines())
	}
	var a struct {
		PolicyDocument struct{ Statement []struct{ Effect string } }
		Context        map[string]string
	}
	if err := json.Unmarshal(reply.Payload, &a); err != nil || len(a.PolicyDocument.Statement) != 1 {
		f.t.Fatalf("not a policy: %s", reply.Payload)
	}
	c := code(a.Context["code"])
	effect, remaining := a.PolicyDocument.Statement[0].Effect, a.Context["remaining"]
	allowed := c == ok || c == unchecked
	left, err := strconv.Atoi(remaining)
	switch {
	case err != nil, allowed != (effect == "Allow"),
		c == ok && left < 0, c == unchecked && left != -1,
		!allowed && c != rateLimited && c != unavailable:
		f.t.Fatalf("wrong answer: %s", reply.Payload)
	}
	if c == rateLimited && left < 0 {
		c = capped
	}
	f.answers[c]++
	return sample{now, now.Sub(began), c}
}

// idle makes a call that needs no store, and returns how long it took.
func (f *function) idle() time.Duration {
	f.t.Helper()
	began := time.Now()
	reply, err := f.Invoke(f.t.Context(), []byte(`{"type":"none"}`))
	if err != nil || !strings.Contains(string(reply.Payload), `"unsupported_event"`) {
		f.t.Fatalf("got %s, %v", reply.Payload, err)
	}
	return time.Since(began)
}

// lines returns what the function itself has logged of late, but for that of idle.
func (f *function) lines() string {
	var own []string
	for line := range strings.Lines(f.Log()) {
		if strings.HasPrefix(line, "{") && !strings.Contains(line, "event refused") {
			own = append(own, line)
		}
	}
	return strings.Join(own, "")
}

// waitLine waits until the log, which comes after the answers, has a text.
func (f *function) waitLine(text string) {
	for began := time.Now(); !strings.Contains(f.lines(), text) && time.Since(began) < 5*time.Second; {
		time.Sleep(10 * time.Millisecond)
	}
}

// until makes calls until one is answered from the bucket, and returns how long
// that took.
func (f *function) until(most time.Duration) (time.Duration, bool) {
	f.t.Helper()
	began := time.Now()
	for {
		s := f.call()
		took := s.at.Sub(began)
		if s.code == ok || s.code == rateLimited {
			return took, true
		}
		if took > most {
			return took, false
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// drain makes calls until the bucket is empty.
func (f *function) drain() {
	f.t.Helper()
	for range 2 * burst {
		if f.call().code == rateLimited {
			return
		}
	}
	f.t.Errorf("%d requests on a bucket of %d, and none is refused", 2*burst, burst)
}

// spent returns the tokens that were charged to the table.
func (f *function) spent() int {
	f.t.Helper()
	out, err := f.engine.Client(region).Scan(f.t.Context(), &dynamodb.ScanInput{TableName: &f.buckets})
	if err != nil {
		f.t.Fatal(err)
	}
	total := 0
	for _, it := range out.Items {
		if n, ok := it["spent"].(*types.AttributeValueMemberN); ok {
			v, err := strconv.Atoi(n.Value)
			if err != nil {
				f.t.Fatal(err)
			}
			total += v
		}
	}
	return total
}
