// Package cost_test measures what charges cost: calls and request units, counted
// on the wire between the real store and a real engine. docs/cost.md has the
// figures; a test keeps them true.
package cost_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"weir/internal/testengine"
)

// bill is what some requests came to.
type bill struct {
	Calls  map[string]int // by operation
	Failed int            // of them, conditions that failed or conflicts
	Write  float64        // write units
	Read   float64        // read units
}

func (b bill) calls() int {
	n := 0
	for _, c := range b.Calls {
		n += c
	}
	return n
}

// meter is a wire that reads the engine's own bill of every request that passes.
type meter struct {
	*testengine.Proxy
	t  *testing.T
	mu sync.Mutex
	b  bill

	// conflicts is how many of the next writes another Region keeps out.
	conflicts int
}

func newMeter(t *testing.T, e *testengine.Engine) *meter {
	m := &meter{Proxy: e.Proxy(t), t: t}
	m.Set(m.pass)
	m.take()
	return m
}

// take returns what was billed since it was called last.
func (m *meter) take() bill {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.b
	m.b = bill{Calls: map[string]int{}}
	return b
}

func (m *meter) collide(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.conflicts = n
}

var conflict = testengine.Answer(http.StatusBadRequest, `{"__type": "com.amazonaws.dynamodb.v20120810#ReplicatedWriteConflictException", "message": "m"}`)

// pass has the engine serve r and reads what that consumed.
func (m *meter) pass(w http.ResponseWriter, r *http.Request, next http.Handler) {
	service, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if service != "DynamoDB_20120810" || op == "DescribeTable" { // streams are the replicator's
		next.ServeHTTP(w, r)
		return
	}
	m.mu.Lock()
	kept := m.conflicts > 0
	if kept {
		m.conflicts--
	}
	m.mu.Unlock()
	if kept {
		next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { conflict(w, r, nil) })
	}
	m.ask(r)
	rec := httptest.NewRecorder()
	next.ServeHTTP(rec, r)
	m.note(op, rec.Code, rec.Body.Bytes())
	for name, v := range rec.Header() {
		w.Header()[name] = v
	}
	w.WriteHeader(rec.Code)
	_, _ = w.Write(rec.Body.Bytes())
}

// ask adds to a request that the answer is to say what it consumed.
func (m *meter) ask(r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		m.t.Error(err)
	}
	var in map[string]json.RawMessage
	if err := json.Unmarshal(body, &in); err != nil {
		m.t.Error(err)
	}
	in["ReturnConsumedCapacity"] = json.RawMessage(`"TOTAL"`)
	if body, err = json.Marshal(in); err != nil {
		m.t.Error(err)
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
}

// note reads an answer. One that says that a condition failed has no bill: it is
// a unit per KB of the item there was, and these are all smaller than that. That
// a conflict is billed is assumed.
func (m *meter) note(op string, status int, body []byte) {
	var out struct {
		ConsumedCapacity *struct{ CapacityUnits float64 }
		Type             string `json:"__type"`
		Item             json.RawMessage
	}
	if err := json.Unmarshal(body, &out); err != nil {
		m.t.Errorf("%s: %v: %s", op, err, body)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.b.Calls[op]++
	code := out.Type[strings.Index(out.Type, "#")+1:]
	switch {
	case out.ConsumedCapacity != nil && op == "Query":
		m.b.Read += out.ConsumedCapacity.CapacityUnits
	case out.ConsumedCapacity != nil:
		m.b.Write += out.ConsumedCapacity.CapacityUnits
	case (code == "ConditionalCheckFailedException" || code == "ReplicatedWriteConflictException") && len(out.Item) < 1024:
		m.b.Failed++
		m.b.Write++
	default:
		m.t.Errorf("%s: cannot tell what was billed for status %d: %s", op, status, body)
	}
}
