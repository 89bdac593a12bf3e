// Package sim is a deterministic discrete-event simulator of Weir in several
// Regions: the real limiter and the real merge on embedded stores, with modelled
// replication between them, compared with one ideal bucket that sees the same
// arrivals without delay.
//
// Time is virtual and starts at Start. A run is a function of its Scenario: the
// same seed gives the same report, to the last request.
package sim

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"weir/pkg/bucket"
)

// Start is the virtual time at which every run begins, ns since the Unix epoch.
const Start = int64(1_800_000_000_000_000_000)

// Policy is how the Regions of a run share a limit.
type Policy string

// The policies. All but Weir are there to compare with.
const (
	Weir  Policy = "weir"  // a row per Region, merged
	Alone Policy = "alone" // each Region enforces the whole limit by itself
	LWW   Policy = "lww"   // one row for all, replicated by last write
	Share Policy = "share" // each Region has a fixed share of the limit

	// Prealloc gives every process a block of tokens when it starts, needed or not,
	// and another when that is spent: what leases by demand are instead of.
	Prealloc Policy = "prealloc"
)

// Shape is the form of the traffic over time.
type Shape string

// The shapes. All are Poisson arrivals unless said otherwise.
const (
	Even   Shape = "even"   // constant rate, divided among Regions by Split
	Moving Shape = "moving" // all of it in one Region, the next one every 10 s
	Bursts Shape = "bursts" // Region 1 constant; the others send Burst at once every Every
	OnOff  Shape = "onoff"  // every Region switches on and off at random, 0.1 to 3 times the rate
	Silent Shape = "silent" // the last Region sends for 2 s, then nothing until Back
)

// Cut is a time in which replication to and from some Regions stands still.
type Cut struct {
	From, To time.Duration // since the start of the run
	Region   int           // the one cut off, counted from 1; 0 cuts every link
}

// Scenario describes a run. Use Defaults and change what matters.
type Scenario struct {
	Policy  Policy
	Regions int
	Split   []float64 // traffic by Region, any scale; nil is even
	Shape   Shape
	Offered float64       // demand as a multiple of Rate
	Every   time.Duration // period of Bursts
	Back    time.Duration // when the silent Region returns; 0 is never
	Log     []LogEntry    // replaces the generated traffic if not nil

	Rate  bucket.Rate
	Burst int64
	For   time.Duration

	Lag         time.Duration // mean of each link; uniform between 0.5 and 1.5 times
	Coalesce    time.Duration // writes of one item within this are replicated as one
	Cuts        []Cut
	Skew        []time.Duration // of each Region's clock
	OnPartition string          // "serve" (or ""): admit fully while cut off; "share": the Region's share

	Changes []Change      // of the limit
	Spread  time.Duration // a Region hears of each at any time up to this after it

	Processes int           // per Region; 0 is one that charges token by token: the merge rule alone
	Zipf      bool          // traffic among processes is skewed, not even
	Churn     time.Duration // mean life of a process; 0 is the whole run

	Seed uint64
}

// Defaults is two Regions with even traffic at the limit of 100/s.
func Defaults() Scenario {
	return Scenario{
		Policy: Weir, Regions: 2, Shape: Even, Offered: 1, Every: 7 * time.Second,
		Rate: bucket.Rate{Count: 100, Period: time.Second}, Burst: 100,
		For: 120 * time.Second, Lag: time.Second, Seed: 1,
	}
}

// Validate reports everything that is wrong with s.
func (s *Scenario) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	switch s.Policy {
	case Weir, Alone, LWW, Share, Prealloc:
	default:
		bad("policy %q: want weir, alone, lww, share or prealloc", s.Policy)
	}
	switch s.Shape {
	case Even, Moving, Bursts, OnOff, Silent:
	default:
		bad("shape %q: want even, moving, bursts, onoff or silent", s.Shape)
	}
	if s.Regions < 1 || s.Regions > 10 {
		bad("regions %d: want 1 to 10", s.Regions)
	}
	if s.Split != nil && len(s.Split) != s.Regions {
		bad("split has %d parts for %d Regions", len(s.Split), s.Regions)
	}
	sum := 0.0
	for _, w := range s.Split {
		if !(w >= 0) {
			bad("split %v: want parts of 0 or more", w)
		}
		sum += w
	}
	if s.Split != nil && !(sum > 0) {
		bad("split is all zero: no Region would get traffic")
	}
	if s.Skew != nil && len(s.Skew) != s.Regions {
		bad("skew has %d parts for %d Regions", len(s.Skew), s.Regions)
	}
	for _, d := range s.Skew {
		if d.Abs() > time.Hour {
			bad("skew %v: want at most 1h either way", d)
		}
	}
	if !(s.Offered > 0 && s.Offered <= 1000) {
		bad("offered %v: want a multiple of the rate above 0, at most 1000", s.Offered)
	}
	if l, err := bucket.NewLimit(s.Rate, s.Burst); err != nil {
		errs = append(errs, err)
	} else if l.IsZero() {
		bad("rate 0 admits nothing: there is nothing to simulate")
	}
	if s.For <= 0 || s.For > 24*time.Hour {
		bad("for %v: want above 0, at most 24h", s.For)
	} else if n := s.Offered * s.Rate.PerSecond() * s.For.Seconds(); n > maxArrivals {
		bad("%.0f requests are more than %d: lower rate, offered or for", n, maxArrivals)
	}
	if s.Lag < 0 || s.Lag > time.Hour {
		bad("lag %v: want 0 to 1h", s.Lag)
	}
	if s.Processes < 0 || s.Processes > 1000 {
		bad("processes %d: want 1 to 1000, or 0 for the merge rule alone", s.Processes)
	}
	if s.Shape == Bursts && s.Every < time.Second {
		bad("every %v: want at least 1s", s.Every)
	}
	for _, c := range s.Cuts {
		if c.From < 0 || c.To <= c.From || c.Region < 0 || c.Region > s.Regions {
			bad("cut %v-%v@%d: want FROM before TO and a Region from 1 to %d", c.From, c.To, c.Region, s.Regions)
		}
	}
	s.validateChanges(bad)
	return errors.Join(errs...)
}

// maxArrivals bounds memory: an arrival takes 16 bytes.
const maxArrivals = 50_000_000

// Command returns the weir command that runs s again.
func (s *Scenario) Command() string {
	b := []string{"weir sim",
		"--policy " + string(s.Policy), "--shape " + string(s.Shape),
		"--regions " + strconv.Itoa(s.Regions)}
	if s.Split != nil {
		b = append(b, "--split "+joined(s.Split, func(w float64) string { return strconv.FormatFloat(w, 'g', -1, 64) }))
	}
	b = append(b,
		"--offered "+strconv.FormatFloat(s.Offered, 'g', -1, 64),
		"--rate "+rateText(s.Rate), "--burst "+strconv.FormatInt(s.Burst, 10),
		"--lag "+s.Lag.String(), "--for "+s.For.String(),
		"--processes "+strconv.Itoa(s.Processes))
	if s.Skew != nil {
		b = append(b, "--skew "+joined(s.Skew, time.Duration.String))
	}
	for _, c := range s.Cuts {
		t := fmt.Sprintf("--cut %v-%v", c.From, c.To)
		if c.Region > 0 {
			t += "@" + strconv.Itoa(c.Region)
		}
		b = append(b, t)
	}
	for i := range s.Changes {
		b = append(b, "--change "+s.Changes[i].text())
	}
	opt := func(name string, d time.Duration) {
		if d > 0 {
			b = append(b, "--"+name+" "+d.String())
		}
	}
	if s.Shape == Bursts {
		opt("every", s.Every)
	}
	opt("back", s.Back)
	opt("spread", s.Spread)
	opt("coalesce", s.Coalesce)
	opt("churn", s.Churn)
	if s.Zipf {
		b = append(b, "--zipf")
	}
	if s.OnPartition != "" {
		b = append(b, "--on-partition "+s.OnPartition)
	}
	return strings.Join(append(b, "--seed "+strconv.FormatUint(s.Seed, 10)), " ")
}

func rateText(r bucket.Rate) string {
	unit := map[time.Duration]string{time.Second: "s", time.Minute: "m", time.Hour: "h", 24 * time.Hour: "d"}[r.Period]
	return fmt.Sprintf("%d/%s", r.Count, unit)
}

func joined[T any](xs []T, text func(T) string) string {
	parts := make([]string, len(xs))
	for i, x := range xs {
		parts[i] = text(x)
	}
	return strings.Join(parts, ",")
}
