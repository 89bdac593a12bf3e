package main

import (
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"weir/internal/breaker"
	"weir/internal/limiter"
	"weir/internal/settings"
	"weir/internal/telemetry"
	"weir/internal/telemetry/metric"
	"weir/internal/telemetry/watch"
	"weir/internal/telemetry/xray"
)

func now() int64 { return time.Now().UnixNano() }

// newRecorder returns the Recorder of the function.
func newRecorder(s settings.Settings) *telemetry.Recorder {
	o := telemetry.Options{
		Region:    s.Region,
		Namespace: s.Telemetry.Namespace,
		Interval:  s.Telemetry.Interval,
		Tenants:   orNone(s.Telemetry.Tenants),
	}
	if s.Telemetry.Metrics {
		o.Out = os.Stdout
	}
	return telemetry.New(o)
}

// newObserver returns what the handler tells of events.
func newObserver(s settings.Settings, r *telemetry.Recorder, log *slog.Logger) *telemetry.Observer {
	return telemetry.NewObserver(telemetry.ObserverOptions{
		Recorder: r,
		Tracer:   xray.Open(os.Getenv, log),
		Log:      log,
		Sample:   orNone(s.Telemetry.Sample),
	})
}

// orNone returns a number of which 0 means none, where 0 would be the default.
func orNone(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// traced returns cfg for clients that trace their calls.
func traced(cfg aws.Config) (aws.Config, error) {
	cfg = cfg.Copy()
	return cfg, xray.Instrument(&cfg.APIOptions)
}

// guard returns a store behind a breaker, both of them watched.
func guard(s settings.Settings, r *telemetry.Recorder, log *slog.Logger, table string, store limiter.Store) limiter.Store {
	name := "buckets"
	if table == metric.Strict {
		name = "strict buckets"
	}
	b := breaker.NewStore(watch.Store(r, table, store, now), breaker.Options{
		Name:     name,
		Mode:     "limits follow their failure policy",
		Patience: s.StoreTimeout / 2,
		Log:      log,
		OnChange: watch.Changed(r, now),
	})
	watch.Breaker(r, table, b.Breaker)
	return b
}
