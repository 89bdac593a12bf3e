package xray

import (
	"context"
	"io"
	"log/slog"
	"math"
	"os"
	"testing"
	"time"

	"weir/internal/authorizer"
	"weir/internal/directory"
	"weir/internal/limiter"
	"weir/internal/memstore"
	"weir/internal/plan"
	"weir/internal/telemetry"
)

// BenchmarkHandle is a request that is decided from memory, by the handler alone,
// counted, counted and looked at for tracing, and traced: in turns, the best of many
// short batches of each, since other work on the machine only ever makes them
// slower. Compare the ratios, which are to the line before; counted is to plain.
//
//	go test -run '^$' -bench Handle ./internal/telemetry/xray
func BenchmarkHandle(b *testing.B) {
	newDaemon(b)
	log := slog.New(slog.NewJSONHandler(io.Discard, nil))
	observer := func(t telemetry.Tracer) authorizer.Observer {
		r := telemetry.New(telemetry.Options{Out: io.Discard, Region: "eu-west-1"})
		return telemetry.NewObserver(telemetry.ObserverOptions{Recorder: r, Tracer: t, Log: log})
	}
	tracer := Open(func(string) string { return "" }, log)
	handle := []func() float64{
		batches(b, log, nil, "0"),
		batches(b, log, observer(nil), "0"),
		batches(b, log, observer(tracer), "0"),
		batches(b, log, observer(tracer), "1"),
	}
	best := []float64{math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1)}
	for b.Loop() {
		for i, f := range handle {
			best[i] = min(best[i], f())
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(best[0], "ns/plain")
	b.ReportMetric(best[1], "ns/counted")
	b.ReportMetric(best[2], "ns/unsampled")
	b.ReportMetric(best[3], "ns/traced")
	b.ReportMetric(best[1]/best[0], "counted-ratio")
	b.ReportMetric(best[2]/best[1], "unsampled-ratio")
}

// batches returns a function that has a handler answer a batch of requests and
// returns how many ns each took.
func batches(b *testing.B, log *slog.Logger, o authorizer.Observer, sampled string) func() float64 {
	const batch = 500
	f, err := plan.Parse("plans", []byte(`
plans: { pro: { limits: [{ name: api, rate: 1000000/s }] } }
tenants: [{ id: acme, plan: pro, keys: [acme-dev-key-1] }]`))
	if err != nil {
		b.Fatal(err)
	}
	d, err := directory.NewStatic(f)
	if err != nil {
		b.Fatal(err)
	}
	event, err := os.ReadFile("../../../events/apigw-custom-auth-request-type-request.json")
	if err != nil {
		b.Fatal(err)
	}
	h := authorizer.New(d, limiter.New(memstore.New("r"), limiter.Options{}), authorizer.Options{Log: log, Observer: o})
	ctx, cancel := context.WithTimeout(lambdaContext(sampled), time.Hour)
	b.Cleanup(cancel)
	return func() float64 {
		began := time.Now()
		for range batch {
			if _, err := h.Handle(ctx, event); err != nil {
				b.Fatal(err)
			}
		}
		return float64(time.Since(began)) / batch
	}
}
