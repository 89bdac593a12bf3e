package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"weir/internal/telemetry/metric"
)

// pricePerGB is what CloudWatch Logs takes for a GB of logs, in us-east-1, in USD.
const pricePerGB = 0.50

// counter counts what is written to it.
type counter struct{ bytes, writes atomic.Int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.bytes.Add(int64(len(p)))
	c.writes.Add(1)
	return len(p), nil
}

// process is the telemetry of an authorizer that is busy, with all that one
// measures beside decisions.
type process struct {
	out      counter
	observer *Observer
	poll     int64
}

func newProcess() *process {
	p := &process{}
	r := New(Options{Out: &p.out, Region: "eu-west-1"})
	calls := r.Counter(metric.StoreCalls, metric.Buckets)
	took := r.Distribution(metric.StoreTime, metric.Buckets)
	r.Poll(func(int64) {
		p.poll += 97
		for i := range int64(97) {
			took.Observe(900 + 37*i)
		}
		calls.Add(97)
		r.Counter(metric.WriteUnits, "").UpTo(p.poll)
		r.Counter(metric.RefusalWriteUnits, "").UpTo(p.poll / 3)
		r.Gauge(metric.BreakerOpen, metric.Buckets).SetBool(false)
		r.Gauge(metric.BreakerOpen, metric.Config).SetBool(false)
		r.Gauge(metric.ConfigAge, "").Set(1)
		r.Gauge(metric.ClockSkew, "").Set(3)
	})
	p.observer = NewObserver(ObserverOptions{Recorder: r, Log: slog.New(slog.NewJSONHandler(&p.out, nil))})
	return p
}

// perMillion makes n decisions at a rate, a second, and returns how many bytes a
// million of them would write. Each of 12 tenants on three plans of two limits is
// as busy as the others and refused now and then, but flood in all are another's
// that is over its limit.
func (p *process) perMillion(n int, rate, flood float64) float64 {
	rng := rand.New(rand.NewPCG(1, 2))
	now := t0
	for range n {
		now += int64(float64(second) / rate)
		tenant := rng.IntN(12)
		d := Decision{
			Now: now, Took: time.Duration(10_000 * rng.ExpFloat64()), Tenant: fmt.Sprint("customer-", tenant), Plan: [3]string{"free", "pro", "enterprise"}[tenant%3],
			Limit: [2]string{"api", "follow"}[rng.IntN(2)], Source: Memory,
		}
		x := Detail{RequestID: "c6af9ac6-7b61-11e6-9a41-93e8deadbeef", Scope: "tenant", Method: "GET", Resource: "/v1/users/{id}/follow", IP: netip.AddrFrom4([4]byte{203, 0, 113, 7})}
		switch chance := rng.Float64(); {
		case rng.Float64() < flood:
			d.Tenant, d.Plan, d.Limit, d.Reason, x.RetryAfter = "flooder", "free", "api", RateLimited, "1"
			if chance < 0.01 {
				d.Source = Store
			}
		case chance < 0.01:
			d.Reason, x.RetryAfter = RateLimited, "1"
		case chance < 0.03:
			d.Source = Store
		}
		p.observer.Answered(context.Background(), nil, d, x)
	}
	p.observer.recorder.Flush(now)
	return float64(p.out.bytes.Load()) * 1e6 / float64(n)
}

// TestVolume: a million decisions at the defaults write at most 5 MB, and no more
// than twice as many bytes a decision while somebody sends ten times as much.
func TestVolume(t *testing.T) {
	const most = 5e6
	n := many(1_000_000)
	show := func(what string, bytes float64) {
		t.Logf("%-44s %6.2f MB per million decisions, $%.4f", what, bytes/1e6, bytes/1e9*pricePerGB)
	}
	calm := newProcess().perMillion(n, 100, 0)
	show("100/s", calm)
	if calm > most {
		t.Errorf("%.2f MB per million decisions, want at most %.2f", calm/1e6, most/1e6)
	}
	flood := newProcess().perMillion(n, 1000, 0.9)
	show("1000/s, nine in ten of them one tenant's flood", flood)
	if flood > 2*calm {
		t.Errorf("%.2f MB per million decisions in a flood, want at most twice %.2f", flood/1e6, calm/1e6)
	}
	for _, rate := range []float64{10, 30, 300} {
		show(fmt.Sprintf("%v/s", rate), newProcess().perMillion(n/10, rate, 0))
	}
}

// TestNoLinePerRequest: on the way nothing is written, whatever the decisions are.
func TestNoLinePerRequest(t *testing.T) {
	p := newProcess()
	p.perMillion(6000, 1000, 0.5)
	if got, most := p.out.writes.Load(), int64(6+DefaultSample+3); got > most {
		t.Errorf("%d writes for 6000 decisions in 6 seconds, want at most %d", got, most)
	}
}
