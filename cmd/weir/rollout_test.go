package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"weir/internal/operator"
	"weir/pkg/ddbstore"
)

// canarySite has plan pro with twenty tenants, and a file that changes it.
func canarySite(t *testing.T) *site {
	t.Helper()
	s := newSite(t)
	s.apply(twoPlans)
	s.file("ids", strings.Join(twenty, "\n"))
	for _, id := range twenty[:2] {
		s.ok("tenant", "create", id, "--plan", "pro")
	}
	for _, id := range twenty[2:] { // not by the command: that has been tested enough
		put, _, err := operator.NewTenant(t.Context(), s.config, id, operator.TenantEdit{Plan: "pro"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.config.PutTenant(t.Context(), put, change); err != nil {
			t.Fatal(err)
		}
	}
	s.file("next.yaml", strings.Replace(twoPlans, "100/h", "80/h", 1))
	return s
}

var twenty = []string{"t00", "t01", "t02", "t03", "t04", "t05", "t06", "t07", "t08", "t09", "t10", "t11", "t12", "t13", "t14", "t15", "t16", "t17", "t18", "t19"}

// rolloutSeen is a rolloutJSON as who reads it sees it.
type rolloutSeen struct {
	Version int64
	Tenants int
	Reached int
	List    []string
	Rollout *struct {
		Share  string
		Paused bool
	}
	Change *changeJSON
}

// rollout returns how far the rollout of plan pro is.
func (s *site) rollout(args ...string) rolloutSeen {
	s.Helper()
	var out rolloutSeen
	s.answer(&out, append([]string{"plan", "rollout", "pro"}, args...)...)
	return out
}

// rate returns the rate of limit api in plan pro, as a tenant who has no part in a
// rollout has it.
func (s *site) rate() string {
	s.Helper()
	stored, err := s.config.Plan(s.Context(), "pro")
	if err != nil {
		s.Fatal(err)
	}
	p, err := operator.PlanOf(stored)
	if err != nil {
		s.Fatal(err)
	}
	return operator.RateText(p.Limits[0].Bucket)
}

func TestCanary(t *testing.T) {
	s := canarySite(t)
	r := s.weir("", "plan", "apply", "next.yaml", "--yes", "--canary", "20%,60%,100%", "--every", "10m", "--tenants", "t07,elsewhere", "--alarm", "api-5xx")
	contains(t, r.stderr, "warning: tenant elsewhere is on none of these plans")
	s.ok("plan", "rollout", "pro", "abort", "--yes")
	out := s.ok("plan", "apply", "next.yaml", "--yes", "--canary", "20%,60%,100%", "--every", "10m", "--tenants", "t07", "--alarm", "api-5xx")
	contains(t, out, "plan pro has 20 tenants, of whom", "plan pro is at version 4, with a canary for 20% of the tenants and t07, then 60%, 100%")
	first := s.rollout("status", "--list")
	if n := first.Reached; n < 2 || n > 12 || first.Tenants != 20 || len(first.List) != n || !strings.Contains(strings.Join(first.List, " "), "t07") || s.rate() != "100/h" {
		t.Errorf("%+v, rate %s", first, s.rate())
	}
	contains(t, s.ok("plan", "rollout", "pro"), "the next step, 60%, is due at", "it is taken back if alarm api-5xx goes off")
	s.fails(2, "has a canary for 20%", "plan", "apply", "next.yaml", "--yes")
	contains(t, s.ok("plan", "diff", "next.yaml"), "under way")
	s.fails(2, "under way already", "plan", "rollout", "pro", "resume")
	s.ok("plan", "rollout", "pro", "pause", "--reason", "holidays")
	contains(t, s.ok("plan", "rollout", "pro"), "it is paused, by ada: holidays")
	s.ok("plan", "rollout", "pro", "resume")

	s.failed(s.weir("no\n", "plan", "rollout", "pro", "next"), 2, "nothing was changed", "next")
	s.ok("plan", "rollout", "pro", "next", "--yes")
	second := s.rollout("status", "--list")
	for _, id := range first.List {
		if !strings.Contains(strings.Join(second.List, " "), id) {
			t.Errorf("%s had it and has it no more", id)
		}
	}
	s.ok("plan", "rollout", "pro", "next", "--yes")
	contains(t, s.ok("plan", "rollout", "pro"), "20 of 20 tenants have it", "it becomes the plan at")
	if s.rate() != "100/h" {
		t.Errorf("the plan changed before its end: %s", s.rate())
	}
	if out := s.rollout("next", "--yes"); out.Rollout != nil || out.Reached != 20 || s.rate() != "80/h" {
		t.Errorf("%+v, rate %s", out, s.rate())
	}
	s.fails(2, "has no rollout", "plan", "rollout", "pro", "abort")
	contains(t, s.ok("plan", "history", "pro", "-n", "2"), "100/h -> 80/h", "rollout next")
}

func TestCanaryTakenBack(t *testing.T) {
	s := canarySite(t)
	begin := []string{"plan", "apply", "next.yaml", "--yes", "--canary", "50%,75%,100%", "--every", "1h"}
	s.ok(begin...)
	s.ok("plan", "rollout", "pro", "abort", "--yes")
	if out := s.rollout(); out.Rollout != nil || s.rate() != "100/h" {
		t.Errorf("aborted: %+v, rate %s", out, s.rate())
	}
	s.ok(begin...)
	s.ok("plan", "rollout", "pro", "next", "--yes")
	contains(t, s.ok("plan", "rollback", "pro", "--yes"), "plan pro is at version 6, which is version 3 again") // of before the rollout, not of its first step
	if out := s.rollout(); out.Rollout != nil || s.rate() != "100/h" {
		t.Errorf("rolled back: %+v, rate %s", out, s.rate())
	}

	// Who has the canary is told to be over what was before, too.
	s.file("next.yaml", strings.Replace(twoPlans, "100/h", "100/h, burst: 300", 1))
	s.ok("plan", "apply", "next.yaml", "--yes", "--canary", "100%", "--every", "1h", "--tenants", "t00")
	_, ver := s.effective("t00")
	s.charge(ddbstore.New(s.client, s.tables.buckets, s.region), "api|t00", perHour(t, 100, 300), 200, ver)
	contains(t, s.ok("plan", "rollback", "pro", "--yes", "--carry", "additive"), "1 would be over the new limit now", "t00", "has used 200 tokens, and the burst would be 100")
}

func TestScheduledChange(t *testing.T) {
	s := canarySite(t)
	contains(t, s.ok("plan", "apply", "next.yaml", "--yes", "--at", "+2h"), "with a change scheduled for")
	if out := s.rollout(); out.Reached != 0 || out.Tenants != 20 || s.rate() != "100/h" {
		t.Errorf("%+v", out)
	}
	s.fails(2, "has no steps", "plan", "rollout", "pro", "pause")
	contains(t, s.ok("plan", "rollout", "pro", "next", "--yes"), "everybody has the change")
	if s.rate() != "80/h" {
		t.Errorf("rate %s", s.rate())
	}
}

// TestCheckPasses: with --check the command goes the steps itself.
func TestCheckPasses(t *testing.T) {
	s := canarySite(t)
	s.file("next.yaml", strings.NewReplacer("100/h", "80/h", "10/h", "8/h").Replace(twoPlans)+
		"  new: {limits: [{name: api, rate: 1/s}]}\n")
	out := s.ok("plan", "apply", "next.yaml", "--yes", "--canary", "20%,100%", "--every", "0s", "--check", `echo "$WEIR_PLANS $WEIR_SHARE" >> checks`)
	contains(t, out, "plan new is at version 1: it is new", "check passed at 20%; plan pro, version 3: 100% have it", "plan pro, version 4: it is the plan now, for everybody")
	checks, err := os.ReadFile("checks")
	if want := "free,pro 20%\nfree,pro 100%\n"; err != nil || string(checks) != want {
		t.Errorf("checks %q, %v; want %q", checks, err, want)
	}
	if s.rate() != "80/h" {
		t.Errorf("rate %s", s.rate())
	}
	p, err := s.config.PlanAt(t.Context(), "pro", 2)
	if err != nil || !strings.Contains(p.Next, `"paused":true`) {
		t.Errorf("while the command goes the steps the reconciler may, too: %s, %v", p.Next, err)
	}
	contains(t, s.ok("plan", "history", "free"), "check passed at 100%", "10/h -> 8/h")
}

func TestCheckFails(t *testing.T) {
	s := canarySite(t)
	r := s.weir("", "plan", "apply", "next.yaml", "--yes", "--canary", "20%,60%,100%", "--every", "0s", "--check",
		`echo looking; test "$WEIR_SHARE" = 20%`, "--reason", "INC-42")
	s.failed(r, 2, "the check failed at 60% (exit status 1), so the change was taken back", "apply")
	contains(t, r.stderr, "looking")
	if out := s.rollout(); out.Rollout != nil || s.rate() != "100/h" || out.Change.Reason != "INC-42 (check failed at 60%)" {
		t.Errorf("%+v, rate %s", out, s.rate())
	}
}

// TestCheckStaysAtItsLastStep: a canary that does not end with everybody ends
// there.
func TestCheckStaysAtItsLastStep(t *testing.T) {
	s := canarySite(t)
	contains(t, s.ok("plan", "apply", "next.yaml", "--yes", "--canary", "20%", "--every", "0s", "--check", "true"), "It stays so: `weir plan rollout pro next`")
	if out := s.rollout(); out.Rollout == nil || !out.Rollout.Paused || s.rate() != "100/h" {
		t.Errorf("%+v", out)
	}
}

// TestCheckInterrupted: the rollout stays where it is, paused, and the message says
// how to go on; what the check has started is ended.
func TestCheckInterrupted(t *testing.T) {
	s := canarySite(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(dir, "running")); err == nil {
				cancel()
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	r := s.weirIn(ctx, strings.NewReader(""), "plan", "apply", "next.yaml", "--yes", "--canary", "20%,100%", "--every", "0s", "--check", "sleep 60 & echo $! > pid; mv pid running; wait")
	s.failed(r, 130, "stopped at 20%", "apply")
	contains(t, r.err.Error(), "weir plan rollout pro next|abort|resume")
	if out := s.rollout(); out.Rollout == nil || !out.Rollout.Paused || out.Rollout.Share != "20%" {
		t.Errorf("%+v", out)
	}
	s.ok("plan", "rollout", "pro", "abort", "--yes")
	data, err := os.ReadFile("running")
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); runs(pid); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("what the check has started still runs")
		}
	}
}

// runs reports whether a process is there, and not only waiting to be buried.
func runs(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return syscall.Kill(pid, 0) == nil && (err != nil || !strings.Contains(string(stat), ") Z "))
}
