package reconciler_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"weir/internal/streampump"
	"weir/internal/testengine"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// TestChanges: every kind of change reaches the row through the stream, with every
// carry-over, although records come twice and out of order.
func TestChanges(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	w := newWorld(t, "", func(o *streampump.Options) {
		o.Shuffle = func(r []streampump.Record) []streampump.Record {
			out := slices.Concat(r, r)
			random.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
			return out
		}
	})
	type subject struct {
		tenant string
		carry  bucket.Carry
		do     func()
		left   int64 // tokens of what was 100, 60 of them used
		burst  int64
	}
	const used = 60
	w.putPlan(ddbstore.Plan{Name: "other", Body: api(50, 70)})
	var all []subject
	for _, c := range []bucket.Carry{bucket.Proportional, bucket.AsIs, bucket.Additive, bucket.Reset} {
		name := func(what string) string { return what + "-" + c.String() }
		add := func(what string, left [4]int64, burst int64, do func(tenant string)) {
			tenant := name(what)
			all = append(all, subject{tenant, c, func() { do(tenant) }, left[c], burst})
		}
		plan := func(body string) func(string) {
			return func(tenant string) {
				w.putPlan(ddbstore.Plan{Name: "of-" + tenant, Body: body, Carry: c.String()})
			}
		}
		add("raise", [4]int64{80, 40, 140, 200}, 200, plan(api(200, 200)))
		add("lower", [4]int64{20, 40, -10, 50}, 50, plan(api(50, 50)))
		add("move", [4]int64{28, 40, 10, 70}, 70, func(tenant string) {
			w.putTenant(ddbstore.Tenant{ID: tenant, Plan: "other", Carry: c.String()})
		})
		add("override", [4]int64{36, 40, 30, 90}, 90, func(tenant string) {
			w.putTenant(ddbstore.Tenant{ID: tenant, Plan: "of-" + tenant, Overrides: `{"limits":{"api":{"rate":"7/d","burst":90}}}`, Carry: c.String()})
		})
		add("suspend", [4]int64{40, 40, 40, 40}, 100, func(tenant string) {
			w.putTenant(ddbstore.Tenant{ID: tenant, Plan: "of-" + tenant, Status: ddbstore.Suspended, Carry: c.String()})
		})
	}
	for _, s := range all {
		w.putPlan(ddbstore.Plan{Name: "of-" + s.tenant, Body: api(100, 100)})
		w.putTenant(ddbstore.Tenant{ID: s.tenant, Plan: "of-" + s.tenant})
		w.spend(s.tenant, used)
	}
	w.start()
	w.drain()
	for _, s := range all {
		s.do()
	}
	w.drain()
	for _, s := range all {
		row := w.row(s.tenant)
		eff, ver := w.effective(s.tenant)
		l := eff.Limits[0].Bucket
		// What is left to a token, also where more is used than there is.
		left := l.Burst() - (row.TAT-now()+l.Time(1)/2)/l.Time(1)
		if row.Ver != ver || row.Limit != l || l.Burst() != s.burst || left != s.left || row.Spent != used {
			t.Errorf("%s: %d of %d tokens are left, version %d; want %d of %d, %d: %+v", s.tenant, left, row.Limit.Burst(), row.Ver, s.left, s.burst, ver, row)
		}
	}
	stats := w.pump.Stats()
	if stats.Filtered == 0 || len(w.pump.Discarded()) > 0 {
		t.Errorf("%+v, %+v; want what is not news filtered, and nothing given up\n%s", stats, w.pump.Discarded(), w.function.Log())
	}
	if log := w.function.Log(); strings.Contains(log, `"level":"ERROR"`) {
		t.Errorf("errors in the log:\n%s", log)
	}
}

// TestPoisonRecord: a plan that nobody can read ends in the on-failure queue, and
// what was written before and after it is carried out.
func TestPoisonRecord(t *testing.T) {
	w := newWorld(t, "", nil)
	for _, tenant := range []string{"before", "after"} {
		w.putPlan(ddbstore.Plan{Name: "of-" + tenant, Body: api(100, 100)})
		w.putTenant(ddbstore.Tenant{ID: tenant, Plan: "of-" + tenant})
		w.spend(tenant, 60)
	}
	w.start()
	w.drain()
	w.putPlan(ddbstore.Plan{Name: "of-before", Body: api(10, 10)})
	w.putPlan(ddbstore.Plan{Name: "poison", Body: "limits: ["})
	w.putPlan(ddbstore.Plan{Name: "of-after", Body: api(10, 10)})
	w.drain()
	for _, tenant := range []string{"before", "after"} {
		if row := w.row(tenant); row.Limit != limitOf(t, 10, 10) {
			t.Errorf("%s the poison: %+v", tenant, row)
		}
	}
	lost := w.pump.Discarded()
	if len(lost) != 1 || lost[0].Reason != streampump.Exhausted {
		t.Errorf("given up: %+v, want the poison\n%s", lost, w.function.Log())
	}
	w.putPlan(ddbstore.Plan{Name: "of-after", Body: api(20, 20)})
	w.drain()
	if row := w.row("after"); row.Limit != limitOf(t, 20, 20) {
		t.Errorf("long after the poison: %+v", row)
	}
}

// TestThrottling: while a quarter of its calls is throttled the reconciler is slower,
// and fails nothing.
func TestThrottling(t *testing.T) {
	proxy := testengine.Start(t).Proxy(t)
	w := newWorld(t, proxy.Endpoint(), nil)
	w.putPlan(ddbstore.Plan{Name: "pro", Body: api(100, 100)})
	for i := range 20 {
		tenant := fmt.Sprint("t", i)
		w.putTenant(ddbstore.Tenant{ID: tenant, Plan: "pro"})
		w.spend(tenant, 60)
	}
	w.start()
	w.drain()
	calls := w.pump.Stats().Calls
	var throttled atomic.Int64
	proxy.Set(func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
		if rand.IntN(4) == 0 {
			throttled.Add(1)
			testengine.Throttle(rw, r, next)
			return
		}
		next.ServeHTTP(rw, r)
	})
	w.putPlan(ddbstore.Plan{Name: "pro", Body: api(10, 10)})
	w.drain()
	proxy.Set(nil)
	if n := w.pump.Stats().Calls - calls; n != 1 || throttled.Load() < 5 {
		t.Errorf("%d calls of the function, %d throttled ones of DynamoDB; want the batch to succeed at once\n%s", n, throttled.Load(), w.function.Log())
	}
	for i := range 20 {
		if row := w.row(fmt.Sprint("t", i)); row.Limit != limitOf(t, 10, 10) {
			t.Errorf("t%d: %+v", i, row)
		}
	}
}

// TestStreamEvent: events/reconciler-stream.json is a batch of which nothing exists
// in tables that are new: there is nothing to do.
func TestStreamEvent(t *testing.T) {
	w := newWorld(t, "", nil, "WEIR_REGIONS="+region+",us-east-1")
	event, err := os.ReadFile("../../events/reconciler-stream.json")
	if err != nil {
		t.Fatal(err)
	}
	answer, err := w.invoke(t.Context(), event)
	if err != nil || string(answer) != `{"batchItemFailures":[]}` {
		t.Errorf("got %s, %v\n%s", answer, err, w.function.Log())
	}
	if _, err := w.invoke(t.Context(), []byte(`{"Records":[7]}`)); err == nil || !strings.HasPrefix(err.Error(), "reconciler: ") {
		t.Errorf("a batch of nothing: %v", err)
	}
}
