package faults_test

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// pace is how far apart requests are: those of a tenant at half of a limit of
// fifty a second.
const pace = 40 * time.Millisecond

// What a busy machine may add: to the slowest answers, and to a few of them without
// any bound, since it may stop the function for as long as it likes. They bound the
// test, not Weir: a deadline that does not hold shows in five answers at least, as
// it takes so many for a breaker to open. Compare the figures with the goal on a
// quiet machine.
const (
	slack      = deadline
	stragglers = 2
)

// record is what requests came to while something was broken, and how long calls
// took that needed no store.
type record struct {
	samples []sample
	idle    []time.Duration
}

// traffic makes requests for d, and as many calls that need no store.
func (f *function) traffic(d time.Duration) record {
	f.t.Helper()
	var r record
	for began := time.Now(); time.Since(began) < d; {
		next := time.Now().Add(pace)
		r.idle = append(r.idle, f.idle())
		r.samples = append(r.samples, f.call())
		if len(r.idle)%25 == 0 { // Log keeps the end only
			f.told = f.told || strings.Contains(f.lines(), outageBegins)
			f.modes.look(f.Log())
		}
		time.Sleep(time.Until(next))
	}
	return r
}

// count returns how many answers had a code, of those given after d.
func (r record) count(after time.Duration, codes ...code) int {
	n := 0
	for _, s := range r.samples {
		if s.at.Sub(r.samples[0].at) >= after && slices.Contains(codes, s.code) {
			n++
		}
	}
	return n
}

// within checks the time of decisions: what calls took beyond those that need no
// store.
func (r record) within(t *testing.T, deadline time.Duration) {
	t.Helper()
	took := make([]time.Duration, len(r.samples))
	for i, s := range r.samples {
		took[i] = s.took
	}
	idle50, idle99 := percentile(r.idle, 50), percentile(r.idle, 99)
	p50, p99, most := percentile(took, 50)-idle50, percentile(took, 99)-idle50, slices.Max(took)-idle50
	goal := deadline + deadline/10
	met := "met"
	if p99 > goal {
		met = "missed"
	}
	t.Logf("%d decisions: p50 %v, p99 %v, max %v; goal for p99 %v, %s (beyond calls without a store: p50 %v, p99 %v)",
		len(took), ms(p50), ms(p99), ms(most), goal, met, ms(idle50), ms(idle99))
	bound, late := goal+idle99+slack, 0
	for _, d := range took {
		if d-idle50 > bound {
			late++
		}
	}
	if late > stragglers {
		t.Errorf("%d decisions took more than %v, want at most %d on this machine", late, ms(bound), stragglers)
	}
	if p50 > deadline/2 {
		t.Errorf("p50 of decisions is %v: most requests pay for the fault", ms(p50))
	}
}

// percentile returns the nearest-rank percentile.
func percentile(d []time.Duration, p int) time.Duration {
	s := slices.Sorted(slices.Values(d))
	return s[(len(s)*p+99)/100-1]
}

func ms(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }
