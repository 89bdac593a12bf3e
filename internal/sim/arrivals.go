package sim

import (
	"math"
	"math/rand/v2"
	"sort"
	"time"
)

// arrival is one request: when (ns since the start of the run), in which Region.
type arrival struct {
	at     int64
	region int32
}

// LogEntry is one request of a recorded log.
type LogEntry struct {
	At     time.Duration // since the first
	Region int           // counted from 0
}

// arrivals generates the traffic of s, in order of time.
func (s *Scenario) arrivals() []arrival {
	rng := rand.New(rand.NewPCG(s.Seed, 1))
	var out []arrival
	perSecond := s.Offered * s.Rate.PerSecond()
	switch {
	case s.Log != nil:
		for _, e := range s.Log {
			if e.Region < s.Regions && e.At < s.For {
				out = append(out, arrival{int64(e.At), int32(e.Region)})
			}
		}
	case s.Shape == Moving:
		out = poisson(out, rng, perSecond, 0, s.For, 0)
		for i := range out {
			out[i].region = int32(time.Duration(out[i].at) / (10 * time.Second) % time.Duration(s.Regions))
		}
	case s.Shape == Bursts:
		out = poisson(out, rng, perSecond, 0, s.For, 0)
		for r := 1; r < s.Regions; r++ {
			for t := s.Every/2 + time.Duration(r)*100*time.Millisecond; t < s.For; t += s.Every {
				for range s.Burst {
					out = append(out, arrival{int64(t) + rng.Int64N(int64(50*time.Millisecond)), int32(r)})
				}
			}
		}
	case s.Shape == OnOff:
		for r := range s.Regions {
			out = onOff(out, rng, s.Rate.PerSecond(), s.For, r)
		}
	case s.Shape == Silent:
		last := s.Regions - 1
		for r := range last {
			out = poisson(out, rng, perSecond/float64(last), 0, s.For, r)
		}
		out = poisson(out, rng, 0.3*s.Rate.PerSecond(), 0, min(2*time.Second, s.For), last)
		if s.Back > 0 {
			out = poisson(out, rng, perSecond/float64(last), s.Back, s.For, last)
		}
	default:
		sum := 0.0
		for r := range s.Regions {
			sum += s.weight(r)
		}
		for r := range s.Regions {
			out = poisson(out, rng, perSecond*s.weight(r)/sum, 0, s.For, r)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].at < out[j].at })
	return out
}

func (s *Scenario) weight(region int) float64 {
	if s.Split == nil {
		return 1
	}
	return s.Split[region]
}

// poisson appends arrivals at perSecond between from and to.
func poisson(out []arrival, rng *rand.Rand, perSecond float64, from, to time.Duration, region int) []arrival {
	if perSecond <= 0 {
		return out
	}
	mean := float64(time.Second) / perSecond
	for t := float64(from) + mean*rng.ExpFloat64(); t < float64(to); t += mean * rng.ExpFloat64() {
		out = append(out, arrival{int64(t), int32(region)})
	}
	return out
}

// onOff appends arrivals of a Region that switches on and off at random.
func onOff(out []arrival, rng *rand.Rand, rate float64, until time.Duration, region int) []arrival {
	ons := []float64{0.05, 0.5, 2, 8, 30, 40}
	loads := []float64{0.1, 0.5, 1, 3}
	offs := []float64{0.2, 1, 3, 6, 12, 40}
	seconds := func(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }
	for t := seconds(5 * rng.Float64()); t < until; {
		end := min(until, t+seconds(ons[rng.IntN(len(ons))]))
		out = poisson(out, rng, rate*loads[rng.IntN(len(loads))], t, end, region)
		t = end + seconds(offs[rng.IntN(len(offs))])
	}
	return out
}

// zipf returns the cumulative shares of n processes, even or by 1/rank.
func shares(n int, zipf bool) []float64 {
	out, sum := make([]float64, n), 0.0
	for i := range out {
		if zipf {
			sum += 1 / float64(i+1)
		} else {
			sum++
		}
		out[i] = sum
	}
	for i := range out {
		out[i] /= sum
	}
	out[n-1] = math.Inf(1)
	return out
}
