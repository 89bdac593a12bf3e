package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"weir/internal/operator"
	"weir/internal/testengine"
	"weir/pkg/ddbstore"
)

func TestTenantLifecycle(t *testing.T) {
	s := newSite(t)
	s.apply(twoPlans)
	contains(t, s.ok("tenant", "create", "acme", "--plan", "pro", "--burst", "api=400"), "tenant acme is on plan pro", "weir key create acme")
	s.fails(2, "exists already", "tenant", "create", "acme", "--plan", "free")
	contains(t, s.ok("tenant", "set", "acme", "--limit", "api=200/h", "--mode", "shadow", "--reason", "INC-42"),
		"tenant acme: version 1 -> 2", "limits.api.rate  none -> 200/h", "mode             none -> shadow", "1 tenant changed")
	contains(t, s.ok("tenant", "set", "acme", "--limit", "api=200/h"), "Nothing to change: it is so already")
	contains(t, s.ok("tenant", "show", "acme"), "plan     pro", "status   active", "own      limits.api.rate 200/h", "own      limits.api.burst 400", "own      mode shadow", "version 2", "ada: INC-42", "version 1", "ada: tenant create")
	contains(t, s.ok("tenant", "set", "acme", "--plan", "free", "--clear-limit", "api", "--mode", "enforce"), "plan              pro -> free", "limits.api.rate   200/h -> none")
	contains(t, s.ok("tenant", "suspend", "acme", "--reason", "unpaid"), "status  active -> suspended")
	contains(t, s.ok("tenant", "show", "acme"), "status   suspended", "plan     free")
	contains(t, s.ok("tenant", "resume", "acme"), "status  suspended -> active")

	type seen struct {
		Plan, Status, Reason string
		Overrides            map[string]any
		Version              int64
	}
	var got struct {
		seen
		History []seen
	}
	s.answer(&got, "tenant", "show", "acme")
	if got.Version != 5 || got.Plan != "free" || got.Overrides != nil || len(got.History) != 5 || got.History[1].Status != "suspended" || got.History[1].Reason != "unpaid" {
		t.Errorf("%+v", got)
	}
	s.ok("tenant", "create", "hooli", "--plan", "pro")
	for args, want := range map[string]string{"": "acme\nhooli\n", "--on free": "acme\n", "--on pro": "hooli\n"} {
		if out := s.ok(append([]string{"tenant", "list"}, strings.Fields(args)...)...); out != want {
			t.Errorf("tenant list %s: %q, want %q", args, out, want)
		}
	}
}

func TestTenantBadInput(t *testing.T) {
	s := newSite(t)
	s.apply(twoPlans)
	s.ok("tenant", "create", "acme", "--plan", "pro")
	s.file("ids.txt", "acme\n\n# comment\nbad id\nworse/id\n")
	s.file("none.txt", "# nobody\n")
	before := s.items()
	for _, tt := range []struct{ want, args string }{
		{"cannot be the id", "create a/b --plan pro"},
		{"cannot be the id", "show a/b"},
		{"needs the id", "create"},
		{"--plan", "create hooli"},
		{"there are free, pro", "create hooli --plan gold"},
		{"did you mean api?", "create hooli --plan pro --limit apo=5/s"},
		{"there is no tenant hooli", "set hooli --plan free"},
		{"there is no tenant \"hooli\"", "show hooli"},
		{"there is no tenant gone, hooli", "set acme hooli gone --plan free"},
		{"there are free, pro", "set acme --plan gold"},
		{"cannot be the name", "set acme --plan a/b"},
		{"what is to be changed", "set acme"},
		{"which tenants", "set --plan free"},
		{"in one way only", "set acme --all-on pro --plan free"},
		{"did you mean api?", "set acme --limit apo=5/s"},
		{"did you mean 5/m", "set acme --limit api=5/min"},
		{"such as api=400", "set acme --burst 400"},
		{"want enforce, shadow", "set acme --mode off-line"},
		{"hold", "set acme --hold long"},
		{"as-is", "set acme --plan free --carry keep"},
		{"ids.txt:4: \"bad id\"", "set --from-file ids.txt --plan free"},
		{"ids.txt:5: \"worse/id\"", "suspend --from-file ids.txt"},
		{"names no tenant", "suspend --from-file none.txt"},
		{"there is no file gone.txt", "resume --from-file gone.txt"},
		{"there are free, pro", "set --all-on gold --plan free"},
		{"there are free, pro", "list --on gold"},
		{"takes no arguments, and got 1 argument;", "list acme"},
	} {
		r := s.weir("", append([]string{"tenant"}, strings.Fields(tt.args)...)...)
		if tt.want == "want enforce, shadow" {
			tt.want = "mode"
		}
		s.failed(r, 1, tt.want, tt.args)
	}
	if after := s.items(); after != before {
		t.Errorf("%d items became %d: something was written", before, after)
	}
}

// many makes tenants of a plan.
func (s *site) many(plan string, n int) []string {
	s.Helper()
	var puts []ddbstore.Put
	var ids []string
	for i := range n {
		id := fmt.Sprintf("%s-%03d", plan, i)
		ids = append(ids, id)
		puts = append(puts, ddbstore.Tenant{ID: id, Plan: plan, Status: ddbstore.Active})
	}
	if _, left, err := (operator.Bulk{Config: s.config, Change: change}).Write(s.Context(), puts); err != nil || len(left) > 0 {
		s.Fatal(left, err)
	}
	return ids
}

// plans returns how many tenants are on each plan.
func (s *site) on(plan string) int {
	s.Helper()
	ids, err := operator.TenantsOn(s.Context(), s.config, plan)
	if err != nil {
		s.Fatal(err)
	}
	return len(ids)
}

func TestTenantsBulk(t *testing.T) {
	s := newSite(t)
	s.apply(twoPlans)
	s.many("pro", 40)
	no := s.weir("\n", "tenant", "set", "--all-on", "pro", "--plan", "free")
	s.failed(no, 2, "nothing was changed", "set")
	contains(t, no.stdout, "tenant pro-000: version 1 -> 2", "and 30 tenants more")
	contains(t, no.stderr, "Change 40 tenants? [y/N]")
	s.failed(s.weir("", "tenant", "set", "--all-on", "pro", "--plan", "free"), 2, "--yes", "set")
	if s.on("free") != 0 {
		t.Error("a no has changed somebody")
	}
	s.file("vip.txt", "pro-003\npro-001\npro-003\n")
	contains(t, s.ok("tenant", "set", "--from-file", "vip.txt", "--limit", "api=900/h", "--yes"), "2 tenants changed")
	var out setJSON
	s.answer(&out, "tenant", "set", "--all-on", "pro", "--limit", "api=900/h", "--yes")
	if len(out.Changed) != 38 || len(out.Already) != 2 || out.Change.Reason != "tenant set" || out.Changed[0].Fields[0] != (operator.FieldDiff{Field: "limits.api.rate", To: "900/h"}) {
		t.Errorf("%d changed, %v already, %+v", len(out.Changed), out.Already, out.Change)
	}
	contains(t, s.ok("tenant", "suspend", "--all-on", "pro", "--yes"), "40 tenants changed")
	r := s.weir("pro-000\npro-001\n", "tenant", "resume", "--from-file", "-", "--yes")
	if r.err != nil || !strings.Contains(r.stdout, "2 tenants changed") {
		t.Errorf("%+v", r)
	}
	s.ok("plan", "apply", "--only", "free", "--yes", "plans.yaml")
	contains(t, s.ok("tenant", "set", "--all-on", "free", "--plan", "pro"), "Nothing to change: there is nobody on the plan")
}

// TestTenantsBulkInterrupted: an interrupt ends a change of many between two
// transactions, of which none is half done, and the same command does the rest.
func TestTenantsBulkInterrupted(t *testing.T) {
	s := newSite(t)
	s.apply(twoPlans)
	ids := s.many("pro", 60)
	proxy := testengine.Start(t).Proxy(t)
	t.Setenv("WEIR_ENDPOINT", proxy.Endpoint())
	ctx, cancel := context.WithCancel(t.Context())
	proxy.Set(onWrite(2, cancel)) // while the second transaction is under way
	r := s.weirIn(ctx, strings.NewReader(""), "tenant", "set", "--all-on", "pro", "--plan", "free", "--yes", "--json")
	proxy.Set(nil)
	done := 2 * ddbstore.MaxWrite
	s.failed(r, 130, fmt.Sprintf("stopped after %d of %d; nothing is half done: run the same command again for the rest", done, len(ids)), "set")
	contains(t, r.stdout, `"tenant": "pro-000"`)
	if s.on("free") != done || s.on("pro") != len(ids)-done {
		t.Errorf("%d on free, %d on pro, want %d done", s.on("free"), s.on("pro"), done)
	}
	contains(t, s.ok("tenant", "set", "--all-on", "pro", "--plan", "free", "--yes"), fmt.Sprintf("%d tenants changed", len(ids)-done))
	for _, id := range []string{ids[0], ids[len(ids)-1]} {
		if tn, err := s.config.Tenant(t.Context(), id); err != nil || tn.Plan != "free" || tn.Version != 2 {
			t.Errorf("%+v, %v; want version 2 on free", tn, err)
		}
	}
}

// onWrite does what was asked, and besides calls f while the n-th transaction is
// under way.
func onWrite(n int64, f func()) testengine.Fault {
	var writes atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".TransactWriteItems") && writes.Add(1) == n {
			f()
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	}
}

// TestTenantsBulkConflict: who is changed by somebody else meanwhile is left alone
// and named; all others are changed.
func TestTenantsBulkConflict(t *testing.T) {
	s := newSite(t)
	s.apply(twoPlans)
	s.many("pro", 20)
	in, answer := io.Pipe()
	go func() { _, _ = io.WriteString(answer, "y\n") }()
	r := s.weirIn(t.Context(), question{in, func() { s.ok("tenant", "suspend", "pro-004", "--author", "bob") }}, "tenant", "set", "--all-on", "pro", "--plan", "free")
	s.failed(r, 2, "1 tenant left alone", "set")
	contains(t, r.err.Error(), `tenant "pro-004" is at version 2, changed by bob`)
	contains(t, r.stdout, "19 tenants changed")
	if s.on("free") != 19 {
		t.Errorf("%d on free, want 19", s.on("free"))
	}
}

// TestTenantsBulkThrottled: a busy table slows a change of many down, and no more.
func TestTenantsBulkThrottled(t *testing.T) {
	s := newSite(t)
	s.apply(twoPlans)
	s.many("pro", 20)
	proxy := testengine.Start(t).Proxy(t)
	t.Setenv("WEIR_ENDPOINT", proxy.Endpoint())
	var n atomic.Int64
	proxy.Set(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".TransactWriteItems") && n.Add(1)%2 == 1 {
			testengine.Throttle(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	})
	contains(t, s.ok("tenant", "set", "--all-on", "pro", "--plan", "free", "--yes"), "20 tenants changed")
}
