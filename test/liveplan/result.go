package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"
)

// made is a change that was made, and what came of it.
type made struct {
	change
	was      limits
	at       int64           // its stamp, ns since the Unix epoch
	took     []time.Duration // by authorizer, until it honoured the change
	off      []string        // Regions where the bystander's level is not what it should be
	from, to int64           // when it had settled, and what was admitted was counted
}

// result is what was measured.
type result struct {
	o                  options
	probers            []*prober
	made               []made
	lag, lagMax        time.Duration // of the config table
	revoked, suspended time.Duration
}

// Bounds of what is promised.
const (
	effective = 2 * time.Second // beyond the replication lag
	tolerance = 0.4             // of the rate, over as short a time as is counted, with leases of before
)

// summary is the last line.
type summary struct {
	Changes     int   `json:"changes"`
	P50Ms       int64 `json:"p50Ms"`
	P99Ms       int64 `json:"p99Ms"`
	LagMs       int64 `json:"lagMs"`
	Errors      int   `json:"errors"`
	LevelsKept  bool  `json:"levelsKept"`
	RevokedMs   int64 `json:"revokedMs"`
	SuspendedMs int64 `json:"suspendedMs"`
}

// print says what was measured, what was not kept, and the summary, and reports
// whether all was kept.
func (r *result) print(w io.Writer) (bool, error) {
	broken := r.broken()
	for _, b := range broken {
		fmt.Fprintln(w, "NOT KEPT:", b)
	}
	took := r.took()
	line, err := json.Marshal(summary{
		Changes: len(r.made), P50Ms: quantile(took, 50).Milliseconds(), P99Ms: quantile(took, 99).Milliseconds(),
		LagMs: r.lag.Milliseconds(), Errors: len(r.wrong()), LevelsKept: r.levelsKept(),
		RevokedMs: r.revoked.Milliseconds(), SuspendedMs: r.suspended.Milliseconds(),
	})
	if err != nil {
		return false, err
	}
	fmt.Fprintf(w, "%s\n", line)
	return len(broken) == 0, nil
}

// broken says which promises were not kept.
func (r *result) broken() (out []string) {
	within := effective + r.lagMax
	if p := quantile(r.took(), 99); p > within {
		out = append(out, fmt.Sprintf("p99 until a change is honoured is %v; at most %v", p, within))
	}
	if r.revoked > within || r.suspended > within {
		out = append(out, fmt.Sprintf("a revoked key was good for %v, a suspended tenant for %v; at most %v", r.revoked, r.suspended, within))
	}
	for _, m := range r.made {
		for _, o := range m.off {
			out = append(out, fmt.Sprintf("after %s: %s", m.name(), o))
		}
		if rate, want := r.admitted(m), float64(m.change.to.perSecond); rate < want*(1-tolerance) || rate > want*(1+tolerance) {
			out = append(out, fmt.Sprintf("after %s: %.0f requests/s were admitted", m.name(), rate))
		}
	}
	if wrong := r.wrong(); len(wrong) > 0 {
		out = append(out, fmt.Sprintf("%d requests were answered wrongly, the first: %s", len(wrong), wrong[0]))
	}
	return out
}

// took returns all measurements, in order of size.
func (r *result) took() []time.Duration {
	var all []time.Duration
	for _, m := range r.made {
		all = append(all, m.took...)
	}
	slices.Sort(all)
	return all
}

// quantile returns the p-th percentile of what is sorted: the smallest value that
// p percent do not exceed.
func quantile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}

func longest(d []time.Duration) time.Duration { return slices.Max(d) }

func (r *result) levelsKept() bool {
	return !slices.ContainsFunc(r.made, func(m made) bool { return len(m.off) > 0 })
}

// admitted returns how many requests a second were admitted once m had settled.
func (r *result) admitted(m made) float64 {
	n := 0
	for _, p := range r.probers {
		for _, a := range p.since(m.from) {
			if a.sent < m.to && a.allowed {
				n++
			}
		}
	}
	return float64(n) / time.Duration(m.to-m.from).Seconds()
}

// wrong returns the requests of the flood that were not decided, were not decided
// by a limit, or were decided by an older version of the plan than the same
// authorizer had honoured before.
func (r *result) wrong() (out []string) {
	for i, p := range r.probers {
		version := 0 // of the changes made, as this authorizer knows them
		for _, a := range p.since(0) {
			switch {
			case a.err != nil:
				out = append(out, fmt.Sprintf("authorizer %d: %v", i, a.err))
			case a.code != "ok" && a.code != "rate_limited":
				out = append(out, fmt.Sprintf("authorizer %d: %s", i, a.code))
			case a.limit == r.quoted(version):
			case version < len(r.made) && a.limit == r.quoted(version+1):
				version++
			default:
				out = append(out, fmt.Sprintf("authorizer %d quotes %d after %d", i, a.limit, r.quoted(version)))
			}
		}
	}
	return out
}

// quoted returns the limit that is quoted after n changes.
func (r *result) quoted(n int) int64 {
	if n == 0 {
		return firstLimits.perSecond
	}
	return r.made[n-1].change.to.perSecond
}

func (m made) name() string {
	return fmt.Sprintf("%d/s -> %d/s, %v", m.was.perSecond, m.change.to.perSecond, m.carry)
}

func (m made) text(r *result) string {
	return fmt.Sprintf("%-28s honoured after %4d ms, by the last after %4d ms; then %3.0f requests/s",
		m.name(), slices.Min(m.took).Milliseconds(), longest(m.took).Milliseconds(), r.admitted(m))
}
