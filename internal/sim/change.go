package sim

import (
	"fmt"
	"strings"
	"time"

	"weir/internal/limiter"
	"weir/pkg/bucket"
)

// Change is a new limit that comes into force during a run.
type Change struct {
	At    time.Duration // since the start
	Rate  bucket.Rate
	Burst int64
	Carry bucket.Carry // what becomes of the bucket's level
}

// stage is a limit and the time from which it is in force.
type stage struct {
	from    int64        // ns since the start
	ideal   bucket.Limit // what the user asked for
	limit   bucket.Limit // what each Region enforces under the policy
	carry   bucket.Carry
	version int64
}

// stages returns the limits of a run, in order of time. Without changes there are
// no versions.
func (s *Scenario) stages() ([]stage, error) {
	all := append([]Change{{Rate: s.Rate, Burst: s.Burst}}, s.Changes...)
	out := make([]stage, len(all))
	for i, c := range all {
		g := stage{from: int64(c.At), carry: c.Carry}
		if len(s.Changes) > 0 {
			g.version = int64(i + 1)
		}
		var err error
		if g.ideal, err = bucket.NewLimit(c.Rate, c.Burst); err != nil {
			return nil, err
		}
		g.limit = g.ideal
		if s.Policy == Share {
			n := int64(s.Regions)
			rate := bucket.Rate{Count: c.Rate.Count, Period: c.Rate.Period * time.Duration(n)}
			if g.limit, err = bucket.NewLimit(rate, max(1, c.Burst/n)); err != nil {
				return nil, fmt.Errorf("a share of the limit: %w", err)
			}
		}
		out[i] = g
	}
	return out, nil
}

// stageAt returns the index of the stage that is in force at a time since the start.
func stageAt(stages []stage, t int64) int {
	i := len(stages) - 1
	for i > 0 && t < stages[i].from {
		i--
	}
	return i
}

// check is what the Region's processes ask at a time since the start: by the limit
// that has reached the Region.
func (r *region) check(t int64) limiter.Check {
	i := len(r.w.stages) - 1
	for i > 0 && t < r.w.stages[i].from+r.hears[i] {
		i--
	}
	g := &r.w.stages[i]
	c := limiter.Check{Name: "api", Key: key, Limit: g.limit, Cost: 1, Ver: g.version, Carry: g.carry}
	if i > 0 {
		c.Since = Start + g.from
	}
	return c
}

// validateChanges reports what is wrong with s.Changes.
func (s *Scenario) validateChanges(bad func(format string, args ...any)) {
	if s.Spread < 0 || s.Spread > time.Hour {
		bad("spread %v: want 0 to 1h", s.Spread)
	}
	if len(s.Changes) > 0 && s.Policy == Prealloc {
		bad("change: policy prealloc has no way to follow one")
	}
	last := time.Duration(0)
	for _, c := range s.Changes {
		if c.At <= last || c.At >= s.For {
			bad("change at %v: want after %v and before %v", c.At, last, s.For)
		}
		last = c.At
		if _, err := bucket.NewLimit(c.Rate, c.Burst); err != nil {
			bad("change at %v: %w", c.At, err)
		}
	}
}

// text returns c as the flag of weir sim.
func (c *Change) text() string {
	return strings.Join([]string{c.At.String(), rateText(c.Rate), fmt.Sprint(c.Burst), c.Carry.String()}, ",")
}
