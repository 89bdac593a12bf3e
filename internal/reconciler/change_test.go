package reconciler

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"weir/internal/directory"
	"weir/internal/plan"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// effective returns what holds for a tenant now.
func (w *world) effective(tenant string) (*plan.Plan, int64) {
	w.t.Helper()
	p, t := w.stored(tenant)
	return plan.Effective(p, t, w.now())
}

// stored returns a tenant and its plan.
func (w *world) stored(tenant string) (*plan.Plan, plan.Tenant) {
	w.t.Helper()
	s := directory.FromTable(w.config)
	t, err := s.Tenant(w.t.Context(), tenant)
	if err != nil {
		w.t.Fatal(err)
	}
	p, err := s.Plan(w.t.Context(), t.Plan)
	if err != nil {
		w.t.Fatal(err)
	}
	return p, t
}

// spend charges n tokens to a bucket of a tenant, under what holds for it.
func (w *world) spend(s *ddbstore.Store, tenant, key string, n int64) {
	w.t.Helper()
	eff, ver := w.effective(tenant)
	name, _, _ := strings.Cut(key, "|")
	i := slices.IndexFunc(eff.Limits, func(l plan.Limit) bool { return l.Name == name })
	w.use(s, key, eff.Limits[i].Bucket, ver, n)
}

var carries = []bucket.Carry{bucket.Proportional, bucket.AsIs, bucket.Additive, bucket.Reset}

// TestEveryChange: a raise, a cut, another plan, an override and a suspension reach
// the row, with each carry-over, and its level is what the carry-over says.
func TestEveryChange(t *testing.T) {
	w := newWorld(t, nil)
	changes := []struct {
		name string
		do   func(w *world, tenant string, c bucket.Carry) (pk string)
		to   bucket.Limit
	}{
		{"raise", func(w *world, tenant string, c bucket.Carry) string {
			w.putPlan(ddbstore.Plan{Name: "of-" + tenant, Body: api(w.t, 200, 300), Carry: c.String()})
			return "PLAN#of-" + tenant
		}, limitOf(t, 200, 300)},
		{"lower", func(w *world, tenant string, c bucket.Carry) string {
			w.putPlan(ddbstore.Plan{Name: "of-" + tenant, Body: api(w.t, 10, 20), Carry: c.String()})
			return "PLAN#of-" + tenant
		}, limitOf(t, 10, 20)},
		{"another plan", func(w *world, tenant string, c bucket.Carry) string {
			w.putPlan(ddbstore.Plan{Name: "other", Body: api(w.t, 50, 70)})
			w.putTenant(ddbstore.Tenant{ID: tenant, Plan: "other", Carry: c.String()})
			return "TENANT#" + tenant
		}, limitOf(t, 50, 70)},
		{"an override", func(w *world, tenant string, c bucket.Carry) string {
			w.putTenant(ddbstore.Tenant{ID: tenant, Plan: "of-" + tenant, Overrides: `{"limits":{"api":{"rate":"7/s","burst":90}}}`, Carry: c.String()})
			return "TENANT#" + tenant
		}, limitOf(t, 7, 90)},
		{"a suspension", func(w *world, tenant string, c bucket.Carry) string {
			w.putTenant(ddbstore.Tenant{ID: tenant, Plan: "of-" + tenant, Status: ddbstore.Suspended, Carry: c.String()})
			return "TENANT#" + tenant
		}, limitOf(t, 100, 100)},
	}
	for _, ch := range changes {
		for _, c := range carries {
			t.Run(ch.name+"/"+c.String(), func(t *testing.T) {
				tenant := strings.ReplaceAll(ch.name, " ", "-") + "-" + c.String()
				w.putPlan(ddbstore.Plan{Name: "of-" + tenant, Body: api(t, 100, 100)})
				w.putTenant(ddbstore.Tenant{ID: tenant, Plan: "of-" + tenant})
				w.spend(w.rows, tenant, "api|"+tenant, 60)
				before := w.rowOf(w.rows, "api|"+tenant)
				w.pass(100 * time.Millisecond)
				record := rec(ch.do(w, tenant, c), currentKey, "1")
				p, tn := w.stored(tenant)
				changed := plan.Since(p, tn, w.now())
				if d := changed - w.now(); d < 0 || d > 4 { // two changes in one ns have two stamps
					t.Fatalf("changed %d ns from now", d)
				}
				w.pass(20 * time.Millisecond)

				if failed := w.batch(record); failed != nil {
					t.Fatalf("failed: %v\n%s", failed, w.log)
				}
				row := w.rowOf(w.rows, "api|"+tenant)
				_, ver := w.effective(tenant)
				want, _ := bucket.Rescale{Limit: ch.to, Ver: ver, Carry: c, Since: changed, Now: w.now()}.Apply(before)
				if !reflect.DeepEqual(row, want) || row.TAT != c.TAT(before.TAT, changed, before.Limit, ch.to) || row.Limit != ch.to || row.Spent != 60 {
					t.Errorf("\nwas  %+v\ngot  %+v\nwant %+v", before, row, want)
				}

				changes := w.seen.rowsChanged()
				w.batch(record, record)
				if after := w.rowOf(w.rows, "api|"+tenant); after.TAT != row.TAT || after.Ver != row.Ver || w.seen.rowsChanged() != changes {
					t.Errorf("a second delivery changed %+v\nto %+v", row, after)
				}
			})
		}
	}
}

// TestOnlyWhatIsAffected: rows of other tenants, of other Regions and of keys that
// do not follow from the tenant stay as they are; strict rows are where they are;
// a row that does not exist stays so.
func TestOnlyWhatIsAffected(t *testing.T) {
	w := newWorld(t, nil)
	limits := func(rate string) string {
		return body(t, `[{"name":"api","rate":"`+rate+`"},{"name":"upload","key":"files:{tenant}","rate":"`+rate+`"},{"name":"ip","key":"{tenant}:{ip}","rate":"`+rate+`"},`+
			`{"name":"otp","rate":"`+rate+`","consistency":"strict"},{"name":"unused","rate":"`+rate+`"}]`)
	}
	w.putPlan(ddbstore.Plan{Name: "pro", Body: limits("100/s")})
	w.putPlan(ddbstore.Plan{Name: "free", Body: limits("100/s")})
	w.putTenant(ddbstore.Tenant{ID: "acme", Plan: "pro"})
	w.putTenant(ddbstore.Tenant{ID: "hooli", Plan: "free"})
	abroad := ddbstore.New(w.client, w.tables.buckets, there)
	type place struct {
		s   *ddbstore.Store
		key string
	}
	affected := []place{{w.rows, "api|acme"}, {w.rows, "upload|=files:acme"}, {w.strict, "otp|acme"}}
	spared := []place{{w.rows, "ip|acme:ip=192.0.2.1"}, {abroad, "api|acme"}, {w.rows, "api|hooli"}, {w.strict, "otp|hooli"}}
	before := map[place]bucket.Row{}
	for _, p := range slices.Concat(affected, spared) {
		tenant := "acme"
		if strings.Contains(p.key, "hooli") {
			tenant = "hooli"
		}
		w.spend(p.s, tenant, p.key, 50)
		before[p] = w.rowOf(p.s, p.key)
	}
	w.putPlan(ddbstore.Plan{Name: "pro", Body: limits("200/s")})
	if failed := w.batch(rec("PLAN#pro", currentKey, "1")); failed != nil {
		t.Fatalf("failed: %v\n%s", failed, w.log)
	}
	_, ver := w.effective("acme")
	for _, p := range affected {
		if row := w.rowOf(p.s, p.key); row.Ver != ver || row.Limit != limitOf(t, 200, 200) {
			t.Errorf("%s: got %+v", p.key, row)
		}
	}
	for _, p := range spared {
		if row := w.rowOf(p.s, p.key); row.Ver != before[p].Ver || row.TAT != before[p].TAT {
			t.Errorf("%s: got %+v, was %+v", p.key, row, before[p])
		}
	}
	if _, found, err := w.rows.Row(t.Context(), "unused|acme"); found || err != nil {
		t.Errorf("a row was made: %v, %v", found, err)
	}
}

// TestPoison: what cannot be handled is reported by its sequence number, and the
// rest of the batch is handled.
func TestPoison(t *testing.T) {
	w := newWorld(t, nil)
	w.putPlan(ddbstore.Plan{Name: "pro", Body: api(t, 100, 100)})
	w.putTenant(ddbstore.Tenant{ID: "acme", Plan: "pro"})
	w.spend(w.rows, "acme", "api|acme", 50)
	w.putPlan(ddbstore.Plan{Name: "broken", Body: "{"})
	w.putTenant(ddbstore.Tenant{ID: "strange", Plan: "pro", Overrides: `{"hold":"for ever"}`})
	w.putTenant(ddbstore.Tenant{ID: "lost", Plan: "no-such-plan"})
	w.putPlan(ddbstore.Plan{Name: "pro", Body: api(t, 200, 200)})
	failed := w.batch(
		rec("PLAN#broken", currentKey, "11"),
		rec("TENANT#strange", currentKey, "12"),
		rec("TENANT#lost", currentKey, "13"),
		rec("PLAN#broken", currentKey, "14"),
		json.RawMessage(`{"dynamodb":{"SequenceNumber":"15"}}`),
		json.RawMessage(`{"dynamodb":{}}`),
		rec("TENANT#gone", currentKey, "16"),
		rec("PLAN#gone", currentKey, "17"),
		rec("CRED#"+someHash, currentKey, "18"),
		rec("NEWS#x", currentKey, "19"),
		rec("PLAN#pro", currentKey, "20"),
	)
	slices.Sort(failed)
	if want := []string{"11", "12", "13", "14", "15"}; !slices.Equal(failed, want) {
		t.Errorf("failed %v, want %v\n%s", failed, want, w.log)
	}
	if row := w.rowOf(w.rows, "api|acme"); row.Limit != limitOf(t, 200, 200) {
		t.Errorf("what came after it was not handled: %+v", row)
	}
	job, err := w.config.Job(t.Context(), here, "pro")
	if err != nil || job.Finished == 0 || job.Failed != 1 || job.Changed != 1 {
		t.Errorf("the job says %+v, %v; want one tenant left out", job, err)
	}
}

// TestIteratorAge: the age of a batch is that of its oldest record.
func TestIteratorAge(t *testing.T) {
	seen := new(recorder)
	r := New(Options{Region: here, Regions: []string{here}, Observer: seen, Now: func() int64 { return t0 }})
	old := func(seconds int64) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"dynamodb":{"ApproximateCreationDateTime":%d,"Keys":{"pk":{"S":"META"},"sk":{"S":"CLOCK"}},"SequenceNumber":"1"}}`, t0/1e9-seconds))
	}
	for _, tt := range []struct {
		records []json.RawMessage
		age     time.Duration
	}{
		{[]json.RawMessage{old(3), old(10), old(2)}, 10 * time.Second},
		{[]json.RawMessage{old(-2)}, 0},
		{[]json.RawMessage{json.RawMessage(`{"dynamodb":{"SequenceNumber":"1"}}`)}, 0},
	} {
		if _, err := r.stream(t.Context(), tt.records); err != nil {
			t.Fatal(err)
		}
		if b := seen.batches[len(seen.batches)-1]; b.Age != tt.age || b.Records != len(tt.records) {
			t.Errorf("got %+v, want %v", b, tt.age)
		}
	}
}

// TestRevocation: a credential's record brings its tenant to what holds for it.
func TestRevocation(t *testing.T) {
	w := newWorld(t, nil)
	w.putPlan(ddbstore.Plan{Name: "pro", Body: api(t, 100, 100)})
	w.putTenant(ddbstore.Tenant{ID: "acme", Plan: "pro"})
	w.spend(w.rows, "acme", "api|acme", 50)
	h := directory.HashOf("weir_secret")
	cr, err := w.config.PutCredential(t.Context(), ddbstore.Credential{Hash: h, Tenant: "acme", LastFour: "cret"}, w.change())
	if err != nil {
		t.Fatal(err)
	}
	cr.Status = ddbstore.CredentialRevoked
	if _, err := w.config.PutCredential(t.Context(), cr, w.change()); err != nil {
		t.Fatal(err)
	}
	w.putTenant(ddbstore.Tenant{ID: "acme", Plan: "pro", Overrides: `{"limits":{"api":{"rate":"9/s"}}}`}) // whose record is lost
	hash := hex.EncodeToString(h[:])
	if failed := w.batch(rec("CRED#"+hash, currentKey, "1")); failed != nil {
		t.Fatalf("failed: %v\n%s", failed, w.log)
	}
	if row := w.rowOf(w.rows, "api|acme"); row.Limit.Rate().Count != 9 {
		t.Errorf("got %+v", row)
	}
	w.batch(rec("CRED#"+hash, currentKey, "2"))
	last := w.seen.applied[len(w.seen.applied)-2:]
	if last[0].Rows != (Tally{Changed: 1}) || last[0].Kind != "credential" || last[1].Rows != (Tally{Skipped: 1}) || last[1].Effect != 0 {
		t.Errorf("the observer was told %+v", last)
	}
	if log := w.log.String(); strings.Contains(log, hash) || strings.Contains(log, "cret") {
		t.Errorf("the log has more of the credential than it should:\n%s", log)
	}
}

// TestEvents: what is neither a batch nor a schedule is an error that says so.
func TestEvents(t *testing.T) {
	r := New(Options{Region: here, Regions: []string{here}})
	for _, event := range []string{``, `null`, `{}`, `[]`, `"x"`, `{"Records":{}}`, `{"Records":[]}`, `{"source":"aws.s3"}`, `{"Records":[{"messageId":"1","body":"{}"}]}`, `{"httpMethod":"GET"}`} {
		out, err := r.Handle(t.Context(), json.RawMessage(event))
		if err == nil || !strings.HasPrefix(err.Error(), "reconciler: ") || !strings.Contains(err.Error(), "want") {
			t.Errorf("%s: got %v, %v", event, out, err)
		}
	}
}

// explosive is rows of which one is like nothing that anybody has thought of.
type explosive struct {
	Rows
	key string
}

func (e explosive) Rescale(ctx context.Context, key string, c bucket.Rescale) (bucket.Outcome, error) {
	if key == e.key {
		panic("unthought of")
	}
	return e.Rows.Rescale(ctx, key, c)
}

func (e explosive) Row(ctx context.Context, key string) (bucket.Row, bool, error) {
	if key == e.key {
		panic("unthought of")
	}
	return e.Rows.Row(ctx, key)
}

// TestPanic: what one tenant is like does not end the process, nor the work on the
// others.
func TestPanic(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Rows = explosive{o.Rows, "api|pro-01"} })
	ids := w.tenants("pro", api(t, 100, 100), 4)
	for _, id := range ids {
		w.spend(w.rows, id, "api|"+id, 50)
	}
	w.putPlan(ddbstore.Plan{Name: "pro", Body: api(t, 10, 10)})
	if failed := w.batch(rec("PLAN#pro", currentKey, "1"), rec("TENANT#pro-01", currentKey, "2")); !slices.Equal(failed, []string{"2"}) {
		t.Errorf("failed %v, want what is about that tenant alone", failed)
	}
	for _, id := range []string{"pro-00", "pro-02", "pro-03"} {
		if row := w.rowOf(w.rows, "api|"+id); row.Limit != limitOf(t, 10, 10) {
			t.Errorf("%s: %+v", id, row)
		}
	}
	if out := w.tick(); !out.Round.Finished || out.Round.Rows != 3 || out.Round.Failed != 1 {
		t.Errorf("the round says %+v", out.Round)
	}
	if log := w.log.String(); !strings.Contains(log, "unthought of") || !strings.Contains(log, `"stack":"goroutine`) {
		t.Errorf("want the panic in the log\n%s", log)
	}
}
