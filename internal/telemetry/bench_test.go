package telemetry_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"weir/internal/limiter"
	"weir/internal/memstore"
	"weir/internal/telemetry"
	"weir/pkg/bucket"
)

// BenchmarkMemoryDecision is a decision of the limiter from memory, and the same
// with a Recorder that counts it, in turns: the best of many short batches of
// each, since other work on the machine only ever makes them slower. ns/op is
// that with a Recorder; ratio is what it costs.
//
//	go test -run '^$' -bench MemoryDecision ./internal/telemetry
func BenchmarkMemoryDecision(b *testing.B) {
	for _, outcome := range []string{"allow", "refuse"} {
		for _, tenants := range []int{1, 50, 100_000} {
			b.Run(fmt.Sprintf("%s/tenants=%d", outcome, tenants), func(b *testing.B) { compare(b, outcome == "allow", tenants) })
		}
	}
}

const batch = 20_000

func compare(b *testing.B, allow bool, tenants int) {
	decide := decider(b, allow, tenants)
	r := telemetry.New(telemetry.Options{Region: "eu-west-1"})
	off, on := math.Inf(1), math.Inf(1)
	b.ReportAllocs()
	for b.Loop() {
		off = min(off, decide(nil))
		on = min(on, decide(r))
	}
	b.ReportMetric(off, "ns/plain")
	b.ReportMetric(on, "ns/counted")
	b.ReportMetric(on/off, "ratio")
	b.ReportMetric(0, "ns/op")
}

// decider returns a function that makes a batch of decisions, counts them if there
// is a Recorder, and returns how many ns each took.
func decider(b *testing.B, allow bool, tenants int) func(*telemetry.Recorder) float64 {
	rate, burst, cost := bucket.Rate{Count: bucket.MaxPerSecond, Period: time.Second}, int64(bucket.MaxBurst), int64(100_000)
	if !allow {
		rate, burst, cost = bucket.Rate{Count: 1, Period: 24 * time.Hour}, 1, 1
	}
	limit, err := bucket.NewLimit(rate, burst)
	if err != nil {
		b.Fatal(err)
	}
	l := limiter.New(memstore.New("r"), limiter.Options{MaxBuckets: 3 * tenants})
	ctx, now := context.Background(), int64(1_796_072_401_000_000_000)
	ids, keys := make([]string, tenants), make([]string, tenants)
	checks := []limiter.Check{{Name: "api", Limit: limit, Cost: cost}}
	buf := make([]limiter.Result, 0, 1)
	for i := range ids {
		ids[i], keys[i] = fmt.Sprint("tenant-", i), fmt.Sprint("api|tenant-", i)
		checks[0].Key = keys[i]
		for range 2 { // a large lease, or a refusal to remember
			l.DecideInto(ctx, now, checks, buf)
		}
	}
	checks[0].Cost = 1
	key, source, reason := 0, telemetry.Memory, telemetry.OK
	if !allow {
		reason = telemetry.RateLimited
	}
	e := telemetry.Decision{Took: 12 * time.Microsecond, Plan: "pro", Source: source, Reason: reason}
	return func(r *telemetry.Recorder) float64 {
		began := time.Now()
		for range batch {
			if allow {
				now += int64(time.Microsecond)
			}
			if key += 31; key >= tenants {
				key %= tenants
			}
			checks[0].Key = keys[key]
			d := l.DecideInto(ctx, now, checks, buf)
			if d.Allowed != allow {
				b.Fatalf("%+v", d)
			}
			if r != nil {
				e.Now, e.Tenant, e.Limit = now, ids[key], d.Results[0].Name
				r.Record(&e)
			}
		}
		return float64(time.Since(began)) / batch
	}
}
