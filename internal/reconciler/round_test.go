package reconciler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"weir/internal/directory"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// tenants creates a plan and tenants on it.
func (w *world) tenants(plan, body string, n int) (ids []string) {
	w.t.Helper()
	w.putPlan(ddbstore.Plan{Name: plan, Body: body})
	for i := range n {
		ids = append(ids, fmt.Sprintf("%s-%02d", plan, i))
		w.putTenant(ddbstore.Tenant{ID: ids[i], Plan: plan})
	}
	return ids
}

// TestDrift: a round finds rows that a change never reached, repairs and reports
// them, and leaves those alone that a change may still be on its way to.
func TestDrift(t *testing.T) {
	w := newWorld(t, nil)
	ids := w.tenants("pro", api(t, 100, 100), 5)
	for _, id := range ids {
		w.spend(w.rows, id, "api|"+id, 50)
	}
	w.pass(time.Hour)
	if out := w.tick(); out.Round.Rows != 5 || out.Round.Drift != 0 || !out.Round.Finished {
		t.Errorf("nothing is wrong, and the round says %+v", out.Round)
	}
	w.putPlan(ddbstore.Plan{Name: "pro", Body: api(t, 10, 10)}) // its record is lost
	w.pass(time.Minute)
	if out := w.tick(); out.Round.Tenants != 0 {
		t.Errorf("another round began after a minute: %+v", out.Round)
	}
	w.pass(30 * time.Minute)
	w.putTenant(ddbstore.Tenant{ID: ids[0], Plan: "pro", Overrides: `{"limits":{"api":{"rate":"9/s"}}}`})
	w.pass(time.Minute)
	if out := w.tick(); out.Round.Rows != 5 || out.Round.Drift != 4 {
		t.Errorf("four rows are wrong, one has only just become so, and the round says %+v", out.Round)
	}
	for i, id := range ids {
		rate := w.rowOf(w.rows, "api|"+id).Limit.Rate().Count
		if i == 0 && rate != 100 || i > 0 && rate != 10 {
			t.Errorf("%s has %d/s", id, rate)
		}
	}
	w.pass(time.Minute)
	if out := w.tick(); out.Rows != 5 || out.Drift != 4 {
		t.Errorf("the heartbeat after it says %+v", out)
	}
	w.pass(31 * time.Minute)
	if out := w.tick(); out.Round.Drift != 1 {
		t.Errorf("the next round says %+v", out.Round)
	}
}

// TestRoundIsResumed: a round that one run cannot finish goes on where it stopped,
// and sees every tenant once.
func TestRoundIsResumed(t *testing.T) {
	w := newWorld(t, nil)
	w.page, w.slice = 2, 5
	ids := w.tenants("pro", api(t, 100, 100), 13)
	for _, id := range ids {
		w.spend(w.rows, id, "api|"+id, 1)
	}
	first := w.tick().Round
	w.pass(time.Minute)
	second := w.tick().Round
	if first.Finished || first.Tenants != 10 || !second.Finished || second.Tenants != 3 || second.Took != time.Minute {
		t.Errorf("first %+v, then %+v", first, second)
	}
	if first.Booked+second.Booked != int64(len(ids)) {
		t.Errorf("%d and %d tenants booked, want each once", first.Booked, second.Booked)
	}
}

// TestRoundLeavesOutWhatIsBroken: a tenant that makes no sense does not keep the
// round from going on.
func TestRoundLeavesOutWhatIsBroken(t *testing.T) {
	w := newWorld(t, nil)
	w.page = 2
	w.tenants("pro", api(t, 100, 100), 5)
	w.putTenant(ddbstore.Tenant{ID: "pro-01", Plan: "pro", Overrides: `{`})
	w.putTenant(ddbstore.Tenant{ID: "pro-02", Plan: "none"})
	if out := w.tick(); !out.Round.Finished || out.Round.Tenants != 5 || out.Round.Failed != 2 {
		t.Errorf("got %+v", out.Round)
	}
}

// TestRoundWaitsForTheStore: if most tenants cannot be compared it is not they who are
// broken, and the round stays where it is.
func TestRoundWaitsForTheStore(t *testing.T) {
	fail := false
	w := newWorld(t, func(o *Options) {
		o.Rows = &hooked{Rows: o.Rows, before: func(string) error {
			if fail {
				return ddbstore.ErrUnavailable
			}
			return nil
		}}
		o.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
		o.Regions, o.Parallel = []string{here}, 1
	})
	w.tenants("pro", api(t, 100, 100), 3)
	fail = true
	if _, err := w.Handle(t.Context(), json.RawMessage(`{"source":"aws.events"}`)); !errors.Is(err, ddbstore.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	fail = false
	w.pass(time.Minute)
	if out := w.tick(); out.Round.Tenants != 3 || out.Round.Failed != 0 || !out.Round.Finished {
		t.Errorf("got %+v, want all three in the next run", out.Round)
	}
}

// used returns what was booked for a tenant in a month.
func (w *world) used(tenant, month, region string) map[string]int64 {
	w.t.Helper()
	u, err := w.config.Usage(w.t.Context(), tenant, month, region)
	if err != nil {
		w.t.Fatal(err)
	}
	tokens := map[string]int64{}
	for key, l := range u.Limits {
		tokens[key] = l.Tokens
	}
	return tokens
}

func (w *world) wantUsed(tenant, month, region string, want map[string]int64) {
	w.t.Helper()
	if got := w.used(tenant, month, region); !maps.Equal(got, want) {
		w.t.Errorf("%s has used %v in %s, want %v", tenant, got, month, want)
	}
}

// TestUsage: what rows have spent is booked once, whatever becomes of the rows, the
// plan and the month.
func TestUsage(t *testing.T) {
	w := newWorld(t, nil)
	both := body(t, `[{"name":"api","rate":"1000/s"},{"name":"otp","rate":"10/s","consistency":"strict"}]`)
	w.tenants("pro", both, 2)
	abroad := ddbstore.New(w.client, w.tables.buckets, there)
	round := func() {
		t.Helper()
		w.pass(31 * time.Minute)
		if out := w.tick(); !out.Round.Finished {
			t.Fatalf("got %+v\n%s", out.Round, w.log)
		}
	}
	spend := func(tenant string, n int64) { w.spend(w.rows, tenant, "api|"+tenant, n) }

	spend("pro-00", 40)
	w.spend(abroad, "pro-00", "api|pro-00", 500) // is for the other Region to count
	w.spend(w.strict, "pro-00", "otp|pro-00", 3)
	round()
	round()
	w.wantUsed("pro-00", "2026-12", here, map[string]int64{"api|pro-00": 40})
	w.wantUsed("pro-00", "2026-12", ddbstore.StrictRow, map[string]int64{"otp|pro-00": 3})
	if _, err := w.config.Usage(t.Context(), "pro-01", "2026-12", here); err == nil {
		t.Error("a tenant without rows has usage")
	}

	// A limit leaves the plan with spend that nobody has counted.
	spend("pro-00", 2)
	w.putPlan(ddbstore.Plan{Name: "pro", Body: body(t, `[{"name":"calls","rate":"1000/s"}]`)})
	w.spend(w.rows, "pro-00", "calls|pro-00", 5)
	round()
	w.wantUsed("pro-00", "2026-12", here, map[string]int64{"api|pro-00": 42, "calls|pro-00": 5})

	// It comes back, in the next month.
	w.putPlan(ddbstore.Plan{Name: "pro", Body: both})
	w.clock.Store(endOf("2026-12") - int64(time.Hour))
	spend("pro-00", 8)
	w.clock.Store(endOf("2026-12") + int64(time.Minute))
	if out := w.tick(); !out.Round.Finished {
		t.Fatalf("got %+v\n%s", out.Round, w.log)
	}
	w.wantUsed("pro-00", "2026-12", here, map[string]int64{"api|pro-00": 42, "calls|pro-00": 5})
	w.wantUsed("pro-00", "2027-01", here, map[string]int64{"api|pro-00": 8, "calls|pro-00": 0})

	// A process for which it is December still adds nothing to what is closed.
	now := w.clock.Load()
	w.clock.Store(endOf("2026-12") - 1)
	booked, err := w.book(t.Context(), here, "pro-00", []counted{{"api|pro-00", w.rowOf(w.rows, "api|pro-00")}}, w.rows)
	if booked || err != nil {
		t.Errorf("booked %v, %v after the month was closed", booked, err)
	}
	w.clock.Store(now)

	// A row expires and comes back.
	row := w.rowOf(w.rows, "api|pro-00")
	reborn := row
	reborn.Born, reborn.Spent = row.Born+1, 4
	for range 2 {
		if _, err := w.book(t.Context(), here, "pro-00", []counted{{"api|pro-00", reborn}}, nothing{}); err != nil {
			t.Fatal(err)
		}
	}
	w.wantUsed("pro-00", "2027-01", here, map[string]int64{"api|pro-00": 12, "calls|pro-00": 0})

	// Months without a count in between.
	w.clock.Store(endOf("2027-03") + int64(time.Minute))
	reborn.Spent = 9
	if _, err := w.book(t.Context(), here, "pro-00", []counted{{"api|pro-00", reborn}}, nothing{}); err != nil {
		t.Fatal(err)
	}
	w.wantUsed("pro-00", "2027-04", here, map[string]int64{"api|pro-00": 5})
}

// nothing is a table without rows.
type nothing struct{ Rows }

func (nothing) Row(context.Context, string) (row bucket.Row, found bool, err error) { return }

// TestUsageIsCountedOnce: many count at once, and every token is booked once.
func TestUsageIsCountedOnce(t *testing.T) {
	w := newWorld(t, nil)
	var wg sync.WaitGroup
	total := int64(0)
	for spent := int64(1); spent <= 5; spent++ {
		total = 10 * spent
		row := bucket.Row{Region: here, Born: t0, Spent: total}
		for range 4 {
			wg.Go(func() {
				if _, err := w.book(t.Context(), here, "acme", []counted{{"api|acme", row}}, nothing{}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	w.wantUsed("acme", "2026-12", here, map[string]int64{"api|acme": total})
}

// TestExpiredCredentials: the home Region closes them, once; no other does.
func TestExpiredCredentials(t *testing.T) {
	w := newWorld(t, nil)
	w.tenants("pro", api(t, 100, 100), 1)
	status := func(key string) ddbstore.CredentialStatus {
		t.Helper()
		c, err := w.config.Credential(t.Context(), directory.HashOf(key))
		if err != nil {
			t.Fatal(err)
		}
		return c.Status
	}
	for key, expires := range map[string]int64{"over": t0 + int64(time.Minute), "good": t0 + int64(time.Hour), "for ever": 0} {
		c := ddbstore.Credential{Hash: directory.HashOf(key), Tenant: "pro-00", Expires: expires}
		if _, err := w.config.PutCredential(t.Context(), c, w.change()); err != nil {
			t.Fatal(err)
		}
	}
	w.pass(time.Minute)
	elsewhere := New(Options{Region: there, Regions: []string{here, there}, Config: w.config.In(there), Source: directory.FromTable(w.config), Rows: w.rows, Now: w.clock.Load})
	if _, err := elsewhere.Handle(t.Context(), json.RawMessage(`{"source":"weir.schedule"}`)); err != nil {
		t.Fatal(err)
	}
	if s := status("over"); s != ddbstore.CredentialActive {
		t.Errorf("%s by a Region that is not the home", s)
	}
	if out := w.tick(); out.Home != here || out.Round.Expired != 1 {
		t.Errorf("got %+v", out)
	}
	for key, want := range map[string]ddbstore.CredentialStatus{"over": "expired", "good": "active", "for ever": "active"} {
		if s := status(key); s != want {
			t.Errorf("%s is %s, want %s", key, s, want)
		}
	}
	c, err := w.config.Credential(t.Context(), directory.HashOf("over"))
	if err != nil || c.Change.Author != author || c.Version != 2 {
		t.Errorf("got %+v, %v", c, err)
	}
	w.pass(31 * time.Minute)
	if out := w.tick(); out.Round.Expired != 0 {
		t.Errorf("closed again: %+v", out.Round)
	}
}
