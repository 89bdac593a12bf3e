package authorizer

import (
	"context"
	"testing"
	"time"

	"weir/internal/directory"
	"weir/internal/limiter"
	"weir/internal/plan"
)

// seeingDirectory remembers what it was told of newer versions.
type seeingDirectory struct {
	fakeDirectory
	seen []sight
}

type sight struct {
	now          int64
	tenant, plan string
	ver          int64
}

func (d *seeingDirectory) Seen(now int64, tenant, plan string, ver int64) {
	d.seen = append(d.seen, sight{now, tenant, plan, ver})
}

// TestOutdated: the directory is told of a version above its own, once, and the
// answer quotes the limit that is in force rather than the one it knows.
func TestOutdated(t *testing.T) {
	p := &plan.Plan{Name: "pro", Limits: []plan.Limit{
		{Name: "api", Bucket: mustLimit(t, 1, time.Second, 5), Cost: 1},
		{Name: "export", Bucket: mustLimit(t, 1, time.Second, 100), Cost: 1},
		{Name: "by-ip", Bucket: mustLimit(t, 1, time.Second, 100), Key: mustTemplate(t, "{ip}"), Cost: 1},
	}}
	for name, tt := range map[string]struct {
		vers [3]int64
		want []sight
	}{
		"as known":        {[3]int64{7, 7, 0}, nil},
		"older":           {[3]int64{3, 0, 0}, nil},
		"one is newer":    {[3]int64{9, 7, 0}, []sight{{t0, "acme", "pro", 9}}},
		"both are":        {[3]int64{8, 9, 0}, []sight{{t0, "acme", "pro", 9}}},
		"a shared bucket": {[3]int64{7, 7, 99}, nil},
	} {
		d := &seeingDirectory{fakeDirectory: fakeDirectory{func(context.Context) (directory.Entry, error) {
			return directory.Entry{Tenant: plan.Tenant{ID: "acme"}, Plan: p, Ver: 7}, nil
		}}}
		inForce := mustLimit(t, 2, time.Second, 20)
		decide := limiterFunc(func(_ context.Context, checks []limiter.Check) limiter.Decision {
			r := make([]limiter.Result, len(checks))
			for i := range r {
				r[i] = limiter.Result{Name: checks[i].Name, Limit: checks[i].Limit, Ver: tt.vers[i], Allowed: true, Remaining: 90}
			}
			r[0].Limit, r[0].Remaining = inForce, 19
			return limiter.Decision{Allowed: true, Results: r}
		})
		l := newLab(t, Options{})
		l.Handler = New(d, decide, Options{Now: func() int64 { return t0 }})
		got := l.send(t, rest("acme-key", "203.0.113.7")).Context
		if got["limit"] != "20" || got["remaining"] != "19" || got["rateLimitPolicy"] != `"api";q=2;w=1;weir-burst=20, "export";q=1;w=1;weir-burst=100, "by-ip";q=1;w=1;weir-burst=100` {
			t.Errorf("%s: the answer is %v, want it to quote 2/s and a burst of 20", name, got)
		}
		if len(d.seen) != len(tt.want) || len(d.seen) == 1 && d.seen[0] != tt.want[0] {
			t.Errorf("%s: the directory was told %+v, want %+v", name, d.seen, tt.want)
		}
	}
}
