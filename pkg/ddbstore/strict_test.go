package ddbstore_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"weir/internal/limiter"
	"weir/internal/storetest"
	"weir/internal/testengine"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

const strict = "weir-strict"

// strictTable creates the strict table, once, and returns the engine that has it.
func strictTable(t *testing.T) *testengine.Engine {
	t.Helper()
	e := testengine.Start(t)
	createStrict.Do(func() {
		createStrictErr = ddbstore.CreateStrictTable(t.Context(), e.Client(region), strict)
	})
	if createStrictErr != nil {
		t.Fatal(createStrictErr)
	}
	return e
}

var (
	createStrict    sync.Once
	createStrictErr error
)

// writeConflict is what a strict table answers while another Region writes the item.
var writeConflict = testengine.Answer(http.StatusBadRequest, `{
	"__type": "com.amazonaws.dynamodb.v20120810#ReplicatedWriteConflictException",
	"message": "The request was rejected because one or more items in the request are being modified by a request in another Region."
}`)

// collide answers n requests with a conflict, lets one through, and so on. It
// counts the conflicts.
func collide(n int64, count *atomic.Int64) testengine.Fault {
	var arrived atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if arrived.Add(1)%(n+1) != 0 {
			count.Add(1)
			writeConflict(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	}
}

// inRegion gives the strict row the name of a Region, under which the suite looks
// for what that Region's store has written.
type inRegion struct {
	*ddbstore.Store
	region string
}

var (
	_ storetest.Rescaler = inRegion{}
	_ storetest.Rescaler = (*ddbstore.Store)(nil)
)

func (s inRegion) Charge(ctx context.Context, key string, c bucket.Charge) (bucket.Outcome, error) {
	out, err := s.Store.Charge(ctx, key, c)
	out.Row.Region = s.region
	return out, err
}

func (s inRegion) Rows(ctx context.Context, key string) ([]bucket.Row, error) {
	rows, err := s.Store.Rows(ctx, key)
	for i := range rows {
		rows[i].Region = s.region
	}
	return rows, err
}

func (s inRegion) Row(ctx context.Context, key string) (bucket.Row, bool, error) {
	row, found, err := s.Store.Row(ctx, key)
	row.Region = s.region
	return row, found, err
}

func (s inRegion) Rescale(ctx context.Context, key string, c bucket.Rescale) (bucket.Outcome, error) {
	out, err := s.Store.Rescale(ctx, key, c)
	out.Row.Region = s.region
	return out, err
}

// TestStrictConformance: to a strict table, charges are what they are to any.
func TestStrictConformance(t *testing.T) {
	e := strictTable(t)
	open := func(endpoint, region string) limiter.Store {
		return inRegion{ddbstore.NewStrict(client(endpoint, patient), strict), region}
	}
	behind := func(f testengine.Fault) func(*testing.T) limiter.Store {
		return func(t *testing.T) limiter.Store {
			p := e.Proxy(t)
			p.Set(f)
			return open(p.Endpoint(), "")
		}
	}
	storetest.Run(t, storetest.Harness{
		OneRow:    true,
		Open:      func(_ *testing.T, region string) limiter.Store { return open(e.Endpoint(), region) },
		Throttled: behind(testengine.Throttle),
		Stalled:   behind(testengine.Stall),
		Gone:      func(t *testing.T) limiter.Store { return open(nobody(t), "") },
	})
}

// TestStrictIsOneRow: Regions share the row, which is read as it is now.
func TestStrictIsOneRow(t *testing.T) {
	p := strictTable(t).Proxy(t)
	s, key := ddbstore.NewStrict(client(p.Endpoint()), strict), newKey(t)
	out, err := s.Charge(t.Context(), key, take(tenPerSecond(t), t0, 4))
	if err != nil || out.Row.Region != ddbstore.StrictRow || out.Calls != 1 || out.Units != 1 {
		t.Errorf("Charge = %+v, %v, want the row %q in one call", out, err, ddbstore.StrictRow)
	}
	var consistent atomic.Bool
	p.Set(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		consistent.Store(bytes.Contains(body, []byte(`"ConsistentRead":true`)))
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
	rows, err := s.Rows(t.Context(), key)
	if err != nil || len(rows) != 1 || rows[0].Region != ddbstore.StrictRow || rows[0].Spent != 4 {
		t.Errorf("Rows = %+v, %v, want one with 4 spent", rows, err)
	}
	if !consistent.Load() {
		t.Error("the read was not strongly consistent")
	}
}

// TestStrictCrowd: 64 clients race for a bucket of 100, and each of their writes
// collides twice before it is looked at. What is admitted is exact, nothing is
// charged twice, and every attempt is accounted for.
func TestStrictCrowd(t *testing.T) {
	const clients, each = 64, 3
	e := strictTable(t)
	key, l := newKey(t), tenPerSecond(t)
	l, err := bucket.NewLimit(l.Rate(), 100)
	if err != nil {
		t.Fatal(err)
	}
	var (
		wg                      sync.WaitGroup
		charged, refused, calls atomic.Int64
		conflicts, looked       atomic.Int64
		proxies                 = make([]*testengine.Proxy, clients)
		ctx, cancel             = context.WithTimeout(t.Context(), time.Minute)
	)
	defer cancel()
	for i := range proxies {
		proxies[i] = e.Proxy(t)
		fault := collide(2, &conflicts)
		proxies[i].Set(fault)
	}
	for _, p := range proxies {
		s := ddbstore.NewStrict(client(p.Endpoint(), patient), strict)
		wg.Go(func() {
			var known *bucket.Row
			for range each {
				c := take(l, t0, 1)
				c.Known = known
				out, err := s.Charge(ctx, key, c)
				if err != nil {
					t.Errorf("Charge: %v", err)
					return
				}
				known = &out.Row
				calls.Add(int64(out.Calls))
				switch out.Status {
				case bucket.Charged:
					charged.Add(1)
				case bucket.Refused:
					refused.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if charged.Load() != 100 || refused.Load() != clients*each-100 {
		t.Errorf("%d charged, %d refused, want 100 and %d", charged.Load(), refused.Load(), clients*each-100)
	}
	sent := int64(0)
	for _, p := range proxies {
		sent += int64(p.Calls())
	}
	looked.Store(sent - conflicts.Load())
	if calls.Load() != sent || conflicts.Load() != 2*looked.Load() {
		t.Errorf("%d calls reported, %d sent, %d of them conflicts, want two of three", calls.Load(), sent, conflicts.Load())
	}
	rows, err := ddbstore.NewStrict(client(e.Endpoint()), strict).Rows(t.Context(), key)
	if err != nil || len(rows) != 1 || rows[0].Spent != 100 || rows[0].TAT != t0+l.Time(100) {
		t.Errorf("Rows = %+v, %v, want 100 spent", rows, err)
	}
}

// TestStrictConflictEndsWithTheDeadline: while the conflict lasts there are
// several attempts, none after the deadline, and the error is ErrConflict.
func TestStrictConflictEndsWithTheDeadline(t *testing.T) {
	p := strictTable(t).Proxy(t)
	s, key := ddbstore.NewStrict(client(p.Endpoint(), patient), strict), newKey(t)
	if _, err := s.Rows(t.Context(), key); err != nil { // connects
		t.Fatal(err)
	}
	p.Set(writeConflict)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	before := p.Calls()
	out, err := s.Charge(ctx, key, take(tenPerSecond(t), t0, 1))
	sent := p.Calls() - before
	if !errors.Is(err, ddbstore.ErrConflict) || errors.Is(err, context.DeadlineExceeded) || out.Status != 0 {
		t.Errorf("Charge = %+v, %v, want ErrConflict", out, err)
	}
	if sent < 3 || out.Calls != sent || out.Units != float64(sent) {
		t.Errorf("%d requests were sent; %d calls, %v units reported", sent, out.Calls, out.Units)
	}
	p.Set(nil)
	if rows, err := s.Rows(t.Context(), key); err != nil || len(rows) != 0 {
		t.Errorf("Rows = %+v, %v, want none", rows, err)
	}
}

// TestStrictLostAnswerIsNotRepeated: a write that was kept out is repeated, one
// whose answer is lost is not, also after a conflict (D4).
func TestStrictLostAnswerIsNotRepeated(t *testing.T) {
	p := strictTable(t).Proxy(t)
	s, key := ddbstore.NewStrict(client(p.Endpoint(), patient), strict), newKey(t)
	answers := []testengine.Fault{writeConflict, writeConflict, testengine.LoseAnswer}
	p.Set(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if len(answers) == 0 {
			next.ServeHTTP(w, r)
			return
		}
		f := answers[0]
		answers = slices.Delete(answers, 0, 1)
		f(w, r, next)
	})
	out, err := s.Charge(t.Context(), key, take(tenPerSecond(t), t0, 3))
	if !errors.Is(err, ddbstore.ErrUnavailable) || errors.Is(err, ddbstore.ErrConflict) || out.Calls != 3 || p.Calls() != 3 {
		t.Errorf("Charge = %+v, %v after %d requests, want ErrUnavailable after 3", out, err, p.Calls())
	}
	if rows, err := s.Rows(t.Context(), key); err != nil || len(rows) != 1 || rows[0].Spent != 3 {
		t.Errorf("Rows = %+v, %v, want 3 spent once", rows, err)
	}
}
