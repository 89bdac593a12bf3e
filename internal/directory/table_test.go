package directory_test

import (
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"weir/internal/directory"
	"weir/internal/plan"
	"weir/internal/testengine"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

const (
	region = "eu-west-1"
	t0     = 1_800_000_000 * int64(time.Second)
)

// configured returns a config table with tenant acme on plan pro, with key "k",
// and a proxy before it.
func configured(t *testing.T) (*ddbstore.Config, *testengine.Proxy) {
	t.Helper()
	return configuredIn(t, region)
}

func configuredIn(t *testing.T, region string) (*ddbstore.Config, *testengine.Proxy) {
	t.Helper()
	e := testengine.Start(t)
	if err := ddbstore.CreateTables(t.Context(), e.Client(region), t.Name()+"-buckets", t.Name()+"-config"); err != nil {
		t.Fatal(err)
	}
	p := e.Proxy(t)
	endpoint := p.Endpoint()
	client := ddbstore.NewClient(aws.Config{Region: region, Credentials: testengine.Credentials, BaseEndpoint: &endpoint})
	c := ddbstore.NewConfig(client, t.Name()+"-config")
	put(t, c, ddbstore.Plan{Name: "pro", Body: `{"limits":[{"name":"api","rate":"100/s"}]}`})
	put(t, c, ddbstore.Tenant{ID: "acme", Plan: "pro", Status: ddbstore.Active})
	put(t, c, ddbstore.Credential{Hash: directory.HashOf("k"), Tenant: "acme"})
	return c, p
}

// put writes v and returns it as it was written.
func put[V ddbstore.Put](t *testing.T, c *ddbstore.Config, v V) V {
	t.Helper()
	written, err := c.Write(t.Context(), ddbstore.Change{Author: "test", At: t0}, v)
	if err != nil {
		t.Fatal(err)
	}
	return written[0].(V)
}

func cached(c *ddbstore.Config) *directory.Cached {
	return directory.NewCached(directory.FromTable(c), directory.Options{Log: slog.New(slog.DiscardHandler), Refresh: time.Second})
}

func TestFromTable(t *testing.T) {
	c, _ := configured(t)
	put(t, c, ddbstore.Tenant{ID: "initech", Plan: "pro", Status: ddbstore.Suspended})
	put(t, c, ddbstore.Credential{Hash: directory.HashOf("s"), Tenant: "initech"})
	put(t, c, ddbstore.Credential{Hash: directory.HashOf("old"), Tenant: "acme", Expires: t0})
	put(t, c, ddbstore.Tenant{ID: "hooli", Plan: "gold", Status: ddbstore.Active})
	put(t, c, ddbstore.Credential{Hash: directory.HashOf("planless"), Tenant: "hooli"})

	d := cached(c)
	e, err := d.ByCredential(t.Context(), t0, directory.HashOf("k"))
	if err != nil {
		t.Fatal(err)
	}
	if e.Tenant.ID != "acme" || e.Tenant.Suspended || e.Plan.Name != "pro" || e.Plan.Ver != 1 || e.Stale {
		t.Errorf("key k gives %+v, plan %+v", e, e.Plan)
	}
	if len(e.Plan.Limits) != 1 || e.Plan.Limits[0].Bucket.Burst() != 100 {
		t.Errorf("plan pro has limits %+v", e.Plan.Limits)
	}
	if e, err := d.ByCredential(t.Context(), t0, directory.HashOf("s")); err != nil || !e.Tenant.Suspended {
		t.Errorf("suspended tenant: %+v, %v", e, err)
	}
	for _, key := range []string{"nobody's", "old"} {
		if _, err := d.ByCredential(t.Context(), t0, directory.HashOf(key)); !errors.Is(err, directory.ErrUnknown) {
			t.Errorf("key %s: %v, want ErrUnknown", key, err)
		}
	}
	var missing *directory.MissingPlanError
	if _, err := d.ByCredential(t.Context(), t0, directory.HashOf("planless")); !errors.As(err, &missing) || missing.Plan != "gold" {
		t.Errorf("tenant without a plan: %v", err)
	}
}

func TestFromTableSeesChanges(t *testing.T) {
	c, _ := configured(t)
	d := cached(c)
	limit := func(now int64) *plan.Limit {
		t.Helper()
		e, err := d.ByCredential(t.Context(), now, directory.HashOf("k"))
		if err != nil {
			t.Fatal(err)
		}
		return &e.Plan.Limits[0]
	}
	limit(t0)
	changed := put(t, c, ddbstore.Plan{Name: "pro", Version: 1, Body: `{"limits":[{"name":"api","rate":"200/s"}]}`})
	now := t0 + int64(2*time.Second)
	if got := limit(now).Bucket.Burst(); got != 100 {
		t.Errorf("burst %d before the change is seen, want 100", got)
	}
	d.Seen(now, "acme", "pro", 1<<32|changed.Version<<1)
	if got := limit(now).Bucket.Burst(); got != 200 {
		t.Errorf("burst %d once a row of version 2 was seen, want 200", got)
	}

	// What this version cannot read does not replace what it can.
	put(t, c, ddbstore.Plan{Name: "pro", Version: 2, Body: `{"limits":[{"name":"api","rate":"300/s","priority":"critical"}]}`})
	if got := limit(now + int64(time.Hour)).Bucket.Burst(); got != 200 {
		t.Errorf("burst %d although the plan cannot be read, want the last known 200", got)
	}
}

func TestFromTableRefusesWhatItCannotHonour(t *testing.T) {
	c, _ := configured(t)
	put(t, c, ddbstore.Tenant{ID: "special", Plan: "pro", Status: ddbstore.Active, Overrides: `{"limits":[]}`})
	put(t, c, ddbstore.Plan{Name: "later", Body: `{"limits":[{"name":"api","rate":"1/s","kind":"quota"}]}`})
	body := `{"limits":[{"name":"api","rate":"1/s"}]}`
	put(t, c, ddbstore.Plan{Name: "keep", Body: body, Carry: "keep"})
	put(t, c, ddbstore.Plan{Name: "soon", Body: body, Next: `{"body":` + body + `,"from":"soon"}`})
	put(t, c, ddbstore.Tenant{ID: "keep", Plan: "pro", Status: ddbstore.Active, Carry: "keep"})
	s := directory.FromTable(c)
	for _, name := range []string{"keep", "soon"} {
		if p, err := s.Plan(t.Context(), name); !errors.Is(err, directory.ErrInvalid) {
			t.Errorf("plan %s: %+v, %v, want ErrInvalid", name, p, err)
		}
	}
	if tn, err := s.Tenant(t.Context(), "keep"); !errors.Is(err, directory.ErrInvalid) {
		t.Errorf("tenant with an unknown carry: %+v, %v, want ErrInvalid", tn, err)
	}
	if tn, err := s.Tenant(t.Context(), "special"); !errors.Is(err, directory.ErrInvalid) {
		t.Errorf("tenant with overrides: %+v, %v, want ErrInvalid", tn, err)
	}
	var list plan.ErrorList
	if p, err := s.Plan(t.Context(), "later"); !errors.Is(err, directory.ErrInvalid) || !errors.As(err, &list) {
		t.Errorf("plan of a later version: %+v, %v, want ErrInvalid and why", p, err)
	}
}

func TestFromTableHasOverrides(t *testing.T) {
	c, _ := configured(t)
	put(t, c, ddbstore.Tenant{ID: "watched", Plan: "pro", Status: ddbstore.Active, Overrides: `{"mode":"shadow","hold":"250ms","limits":{"api":{"burst":7}}}`})
	tn, err := directory.FromTable(c).Tenant(t.Context(), "watched")
	want := plan.Overrides{Mode: plan.Shadow, Hold: 250 * time.Millisecond, Limits: map[string]plan.LimitOverride{"api": {Burst: &plan.Burst{Tokens: 7}}}}
	if err != nil || !tn.Overrides.Equal(want) || tn.Plan != "pro" {
		t.Errorf("got %+v, %v, want overrides %+v", tn, err, want)
	}
}

func TestFromTableHasVersions(t *testing.T) {
	c, _ := configured(t)
	const body, next = `{"limits":[{"name":"api","rate":"100/s"}]}`, `{"limits":[{"name":"api","rate":"200/s"}]}`
	p := put(t, c, ddbstore.Plan{Name: "new", Body: body, Carry: "as-is", Next: `{"body":` + next + `,"carry":"reset","tenants":["beta"]}`})
	tn := put(t, c, ddbstore.Tenant{ID: "beta", Plan: "new", Status: ddbstore.Active, Carry: "additive"})
	cr := put(t, c, ddbstore.Credential{Hash: directory.HashOf("b"), Tenant: "beta", Status: ddbstore.CredentialRevoked})
	if p.Stamp == 0 || tn.Stamp <= p.Stamp || cr.Stamp <= tn.Stamp {
		t.Fatalf("stamps %d, %d, %d do not grow", p.Stamp, tn.Stamp, cr.Stamp)
	}
	s := directory.FromTable(c)
	gotPlan, err := s.Plan(t.Context(), "new")
	if err != nil || gotPlan.Stamp != p.Stamp || gotPlan.Ver != 1 || gotPlan.Carry != bucket.AsIs || gotPlan.Next == nil || gotPlan.Next.Carry != bucket.Reset {
		t.Errorf("plan %+v, %v", gotPlan, err)
	}
	gotTenant, err := s.Tenant(t.Context(), "beta")
	if err != nil || gotTenant.Stamp != tn.Stamp || gotTenant.Ver != 1 || gotTenant.Carry != bucket.Additive {
		t.Errorf("tenant %+v, %v", gotTenant, err)
	}
	if got, err := s.Credential(t.Context(), directory.HashOf("b")); err != nil || got.Stamp != cr.Stamp || !got.Revoked {
		t.Errorf("credential %+v, %v", got, err)
	}

	changes, more, err := s.Changes(t.Context(), p.Stamp-1, 2)
	want := []directory.Change{
		{Kind: directory.CredentialChanged, ID: hex.EncodeToString(cr.Hash[:]), Stamp: cr.Stamp},
		{Kind: directory.TenantChanged, ID: "beta", Stamp: tn.Stamp},
	}
	if err != nil || !more || !slices.Equal(changes, want) {
		t.Errorf("changes %+v, %v, %v\nwant %+v", changes, more, err, want)
	}
	if changes, more, err = s.Changes(t.Context(), tn.Stamp, 2); err != nil || more || !slices.Equal(changes, want[:1]) {
		t.Errorf("changes %+v, %v, %v", changes, more, err)
	}
}

// TestTableIsFollowed: what is written is honoured two seconds later, through the
// table alone.
func TestTableIsFollowed(t *testing.T) {
	c, _ := configured(t)
	source := directory.FromTable(c)
	d := directory.NewCached(source, directory.Options{Log: slog.New(slog.DiscardHandler), Refresh: time.Second, Feed: source})
	now := t0
	ask := func() (directory.Entry, error) {
		now += int64(2 * time.Second)
		return d.ByCredential(t.Context(), now, directory.HashOf("k"))
	}
	if e, err := ask(); err != nil || e.Plan.Limits[0].Bucket.Burst() != 100 {
		t.Fatalf("%+v, %v", e, err)
	}
	p := put(t, c, ddbstore.Plan{Name: "pro", Version: 1, Body: `{"limits":[{"name":"api","rate":"200/s"}]}`, Carry: "additive"})
	if e, err := ask(); err != nil || e.Plan.Limits[0].Bucket.Burst() != 200 || e.Ver != 1<<32|p.Version<<1 || e.Plan.Carry != bucket.Additive {
		t.Errorf("plan changed: %+v of %+v, %v", e, e.Plan, err)
	}
	tn := put(t, c, ddbstore.Tenant{ID: "acme", Version: 1, Plan: "pro", Status: ddbstore.Active, Overrides: `{"limits":{"api":{"rate":"5/s"}}}`})
	if e, err := ask(); err != nil || e.Plan.Limits[0].Bucket.Burst() != 5 || e.Ver != tn.Version<<32|p.Version<<1 {
		t.Errorf("tenant changed: %+v of %+v, %v", e, e.Plan, err)
	}
	tn = put(t, c, ddbstore.Tenant{ID: "acme", Version: 2, Plan: "pro", Status: ddbstore.Suspended})
	if e, err := ask(); err != nil || !e.Tenant.Suspended || e.Ver != tn.Version<<32|p.Version<<1 {
		t.Errorf("suspended: %+v, %v", e, err)
	}
	put(t, c, ddbstore.Credential{Hash: directory.HashOf("k"), Version: 1, Tenant: "acme", Status: ddbstore.CredentialRevoked})
	if e, err := ask(); !errors.Is(err, directory.ErrUnknown) {
		t.Errorf("revoked: %+v, %v", e, err)
	}
	put(t, c, ddbstore.Credential{Hash: directory.HashOf("k"), Version: 2, Tenant: "acme"})
	if e, err := ask(); err != nil || e.Tenant.ID != "acme" {
		t.Errorf("no longer revoked: %+v, %v", e, err)
	}
}

func TestFromTableWithoutTheTable(t *testing.T) {
	c, p := configured(t)
	d := cached(c)
	if _, err := d.ByCredential(t.Context(), t0, directory.HashOf("k")); err != nil {
		t.Fatal(err)
	}
	p.Set(testengine.Answer(http.StatusServiceUnavailable, ""))
	e, err := d.ByCredential(t.Context(), t0+int64(time.Hour), directory.HashOf("k"))
	if err != nil || !e.Stale || e.Tenant.ID != "acme" {
		t.Errorf("known key: %+v, %v; want the last known entry, stale", e, err)
	}
	_, err = d.ByCredential(t.Context(), t0+int64(time.Hour), directory.HashOf("new"))
	if !errors.Is(err, ddbstore.ErrUnavailable) || errors.Is(err, directory.ErrUnknown) {
		t.Errorf("unknown key: %v, want ErrUnavailable", err)
	}
	p.Set(nil)
	e, err = d.ByCredential(t.Context(), t0+2*int64(time.Hour), directory.HashOf("k"))
	if err != nil || e.Stale {
		t.Errorf("once it is back: %+v, %v", e, err)
	}
}
