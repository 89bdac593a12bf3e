package ddbstore_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"weir/pkg/ddbstore"
)

// billing has the engine add to its answers what they cost, and sums it up.
type billing struct {
	mu          sync.Mutex
	calls       []string
	read, write float64
}

func (b *billing) pass(w http.ResponseWriter, r *http.Request, next http.Handler) {
	var in map[string]any
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		panic(http.ErrAbortHandler)
	}
	in["ReturnConsumedCapacity"] = "TOTAL"
	body, _ := json.Marshal(in)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	rec := httptest.NewRecorder()
	next.ServeHTTP(rec, r)
	w.WriteHeader(rec.Code)
	_, _ = w.Write(rec.Body.Bytes())

	type bill struct{ CapacityUnits float64 }
	var one struct{ ConsumedCapacity bill }
	var many struct{ ConsumedCapacity []bill }
	if json.Unmarshal(rec.Body.Bytes(), &many) != nil && json.Unmarshal(rec.Body.Bytes(), &one) == nil {
		many.ConsumedCapacity = append(many.ConsumedCapacity, one.ConsumedCapacity)
	}
	_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls = append(b.calls, op)
	for _, c := range many.ConsumedCapacity {
		if op == "GetItem" || op == "Query" {
			b.read += c.CapacityUnits
		} else {
			b.write += c.CapacityUnits
		}
	}
}

// TestConfigCost: calls and units are those of the table in the package comment.
func TestConfigCost(t *testing.T) {
	ctx, table := t.Context(), newTable(t)
	p := tables(t).Proxy(t)
	c := ddbstore.NewConfig(client(p.Endpoint()), table).In(region)
	write(t, c, ddbstore.Plan{Name: "first"}) // and with it the home
	var b *billing
	bill := func() { b = &billing{}; p.Set(b.pass) }
	bill()
	stamp := t0
	want := func(what string, read, wrote float64, calls ...string) {
		t.Helper()
		if b.read != read || b.write != wrote || !slices.Equal(b.calls, calls) {
			t.Errorf("%s: %v read units, %v write units, %q; want %v, %v, %q", what, b.read, b.write, b.calls, read, wrote, calls)
		}
		bill()
	}
	do := func(puts ...ddbstore.Put) {
		t.Helper()
		stamp += 10
		if _, err := c.Write(ctx, ddbstore.Change{Author: "ada", Reason: "to see what it costs", At: stamp}, puts...); err != nil {
			t.Fatal(err)
		}
	}
	kb := strings.Repeat("x", 800)
	h := ddbstore.Hash{9}

	do(ddbstore.Plan{Name: "pro", Body: kb})
	want("a new plan", 0, 8+4, "TransactWriteItems")
	do(ddbstore.Plan{Name: "pro", Body: kb, Version: 1})
	want("a plan's change", 1, 6+4, "GetItem", "TransactWriteItems")
	do(ddbstore.Plan{Name: "pro", Body: kb + kb + kb + kb + kb + kb, Version: 2})
	want("a plan's change to 5 KB", 1, 6+4*5, "GetItem", "TransactWriteItems")
	do(ddbstore.Tenant{ID: "acme", Plan: "first", Status: ddbstore.Active})
	want("a new tenant", 0, 14, "TransactWriteItems")
	do(ddbstore.Tenant{ID: "acme", Plan: "first", Status: ddbstore.Suspended, Version: 1})
	want("a tenant's change", 1, 10, "GetItem", "TransactWriteItems")
	do(ddbstore.Tenant{ID: "acme", Plan: "pro", Status: ddbstore.Active, Version: 2})
	want("a tenant's move to another plan", 1, 14, "GetItem", "TransactWriteItems")
	do(ddbstore.Credential{Hash: h, Tenant: "acme"})
	want("a new credential", 0, 12, "TransactWriteItems")
	do(ddbstore.Credential{Hash: h, Tenant: "acme", Version: 1})
	want("a credential's change", 1, 12, "GetItem", "TransactWriteItems")
	do(ddbstore.Tenant{ID: "a", Plan: "pro", Status: ddbstore.Active}, ddbstore.Tenant{ID: "b", Plan: "pro", Status: ddbstore.Active})
	want("two new tenants", 0, 4+2*10, "TransactWriteItems")

	for what, read := range map[string]func() error{
		"a poll without news": func() error { _, _, err := c.Changes(ctx, stamp, 100); return err },
		"a poll with news":    func() error { _, _, err := c.Changes(ctx, stamp-1, 100); return err },
		"a tenant":            func() error { _, err := c.Tenant(ctx, "acme"); return err },
		"a list":              func() error { _, err := c.TenantsOn(ctx, "pro", "", 10); return err },
		"credentials":         func() error { _, err := c.CredentialsOf(ctx, "acme"); return err },
		"the home":            func() error { _, err := c.Home(ctx); return err },
	} {
		if err := read(); err != nil {
			t.Fatal(err)
		}
		want(what, 0.5, 0, b.calls[0])
	}
	if _, _, err := c.Consistent().Changes(ctx, stamp, 100); err != nil {
		t.Fatal(err)
	}
	want("a consistent poll", 1, 0, "Query")
	if _, err := c.PutJob(ctx, ddbstore.Job{Region: region, ID: "pro"}); err != nil {
		t.Fatal(err)
	}
	want("a job", 0, 1, "PutItem")
	if err := c.PutHeartbeat(ctx, ddbstore.Heartbeat{Region: region, At: t0}); err != nil {
		t.Fatal(err)
	}
	want("a heartbeat", 0, 1, "PutItem")
	if err := c.MoveHome(ctx, "us-east-1", ddbstore.Change{Author: "ada", At: stamp + 10}); err != nil {
		t.Fatal(err)
	}
	want("a move of the home", 1, 6, "GetItem", "TransactWriteItems")

	// How many entries of the feed are 4 KB, as the comment of Changes says.
	size := 0
	for key, it := range dumpItems(t, region, table) {
		if strings.HasPrefix(key, "CHANGES / ") {
			size = max(size, ddbstore.SizeOf(it))
		}
	}
	if n := 4096 / size; n < 18 || n > 28 {
		t.Errorf("an entry of the feed has %d bytes: %d in 4 KB", size, n)
	}
}
