package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// print writes the result as tables, and reports whether every claim holds.
func (r *result) print(w io.Writer) bool {
	fmt.Fprintf(w, "\nThree Regions with %d authorizers each; limit %d/s, burst %d; replication lag %v.\n\n",
		r.o.processes, r.o.rate, r.limit.Burst(), r.o.lag)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "phase\tseconds\toffered\tadmitted\tone bucket\tsimulated\tby Region\tcharges\tqueries\tper 1,000\treplicated\tlag\tbehind\t")
	for i, c := range r.chapters {
		n := r.between(c.from, c.to)
		if n.offered == 0 {
			continue // a pause
		}
		fmt.Fprintf(t, "%s\t%.1f\t%d\t%d\t%d\t%.0f\t%s\t%d\t%d\t%.0f\t%d\t%v\t%v\t\n",
			c.name, (c.to - c.from).Seconds(), n.offered, n.admitted, n.ideal, r.simulated[i], perRegion(n),
			c.charges, c.queries, 1000*float64(c.charges+c.queries)/float64(n.offered),
			c.replication.Applied, c.replication.LagMean.Round(10*time.Millisecond), c.replication.BehindMean.Round(time.Millisecond))
	}
	t.Flush()
	all := r.all()
	fmt.Fprintf(w, "\n%d requests found their Region dead and were served by another. ", all.moved)
	fmt.Fprintf(w, "The longest wait for a free authorizer was %v.\n\n", all.late.Round(time.Millisecond))

	ok := true
	for _, c := range r.claims() {
		mark := "ok  "
		if !c.ok {
			mark, ok = "FAIL", false
		}
		fmt.Fprintf(w, "%s  %s: %s\n", mark, c.text, c.got)
	}
	return ok
}

func perRegion(t tally) string {
	return fmt.Sprintf("%d+%d+%d", t.byRegion[0], t.byRegion[1], t.byRegion[2])
}
