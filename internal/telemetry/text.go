package telemetry

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"weir/internal/telemetry/metric"
)

// mostListed bounds the lines of each part of a text.
const mostListed = 20

// WriteText writes a snapshot for people, under the names of the metrics.
func (s *Snapshot) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	s.writeDecisions(t)
	s.writeTenants(t)
	s.writeTimes(t)
	for _, r := range s.Counts {
		fmt.Fprintf(t, "%s\t%s\n", r.name(), r.number())
	}
	return t.Flush()
}

func (s *Snapshot) writeDecisions(w io.Writer) {
	total := s.Total()
	fmt.Fprintf(w, "%s\t%d", metric.Decisions.Name, total)
	for o := range outcomes {
		if n := s.sum(func(d DecisionCount) bool { return d.Reason.outcome() == o }); n > 0 {
			fmt.Fprintf(w, ", %d %s", n, o)
		}
	}
	if total > 0 {
		fmt.Fprintf(w, "; %s from memory", percent(s.sum(func(d DecisionCount) bool { return d.Source == Memory }), total))
	}
	fmt.Fprintln(w)
	for i, d := range s.Decisions {
		if i == mostListed {
			fmt.Fprintf(w, "  and %d more\n", len(s.Decisions)-i)
			break
		}
		fmt.Fprintf(w, "  %s/%s\t%d\t%s\t%s\n", clean(d.Plan), clean(d.Limit), d.N, d.Reason, d.Source)
	}
	if s.Blind > 0 {
		fmt.Fprintf(w, "%s\t%d\n", metric.SoftLimitDecisions.Name, s.Blind)
	}
}

func (s *Snapshot) writeTenants(w io.Writer) {
	for i, t := range s.Tenants {
		if i == mostListed {
			fmt.Fprintf(w, "  and %d more\n", len(s.Tenants)-i)
			break
		}
		fmt.Fprintf(w, "  %s %s\t%d\t%d refused\n", strings.ToLower(string(metric.Tenant)), clean(t.ID), t.all(), t.Refused+t.Unauthorized)
	}
}

func (s *Snapshot) writeTimes(w io.Writer) {
	for _, x := range s.Took {
		fmt.Fprintf(w, "%s %s\t%s\n", metric.DecisionTime.Name, x.Key, x.text(metric.Microseconds))
	}
	if s.Held.N > 0 {
		fmt.Fprintf(w, "%s\t%s\n", metric.HoldTime.Name, s.Held.text(metric.Milliseconds))
	}
	for _, r := range s.Summaries {
		fmt.Fprintf(w, "%s\t%s\n", r.name(), r.Summary.text(r.Metric.Unit))
	}
}

func (r *Reading) name() string {
	if r.Metric.Key() == "" {
		return r.Metric.Name
	}
	return r.Metric.Name + " " + r.Key
}

func (r *Reading) number() string {
	if d, ok := duration(r.Metric.Unit, r.N); ok {
		return d.String()
	}
	return fmt.Sprint(r.N)
}

func (x *Summary) text(u metric.Unit) string {
	in := func(n int64) time.Duration { d, _ := duration(u, n); return d }
	return fmt.Sprintf("p50 %v, p99 %v, max %v, of %d", in(x.P50), in(x.P99), in(x.Max), x.N)
}

// percent returns n of all, rounded down, so that 100 % is all.
func percent(n, all int64) string { return fmt.Sprintf("%d.%d %%", 100*n/all, 1000*n/all%10) }
