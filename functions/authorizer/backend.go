package main

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"weir/internal/directory"
	"weir/internal/limiter"
	"weir/internal/memstore"
	"weir/internal/plan"
	"weir/internal/settings"
	"weir/internal/telemetry"
	"weir/internal/telemetry/metric"
	"weir/internal/telemetry/watch"
	"weir/pkg/ddbstore"
)

// backend is where buckets and configuration are kept.
type backend struct {
	store          limiter.Store
	strict         limiter.Store // nil without a table for it
	directory      directory.Directory
	badCredentials *plan.Limit // nil for the default
}

func open(s settings.Settings, r *telemetry.Recorder, log *slog.Logger) (backend, error) {
	if s.Store == settings.Memory {
		return openMemory(s, log)
	}
	return openDynamoDB(s, r, log)
}

func openDynamoDB(s settings.Settings, r *telemetry.Recorder, log *slog.Logger) (backend, error) {
	cfg, err := ddbstore.EnvConfig(os.Getenv)
	if err != nil {
		return backend{}, err
	}
	if cfg, err = traced(cfg); err != nil {
		return backend{}, err
	}
	client := ddbstore.NewClient(cfg)
	config := watch.Config(r, configuration(s, cfg, client, log), now)
	d := directory.NewCached(config, directory.Options{Anonymous: s.Anonymous, Feed: config, Replaced: watch.Replaced(r), Log: log})
	watch.Directory(r, d)
	b := backend{
		store:     guard(s, r, log, metric.Buckets, ddbstore.New(client, s.BucketsTable, s.Region)),
		directory: d,
	}
	if s.StrictTable != "" {
		b.strict = guard(s, r, log, metric.Strict, ddbstore.NewStrict(client, s.StrictTable))
	}
	return b, nil
}

// configuration returns the config table, with its replicas in the other Regions
// to fall back on.
func configuration(s settings.Settings, cfg aws.Config, here *dynamodb.Client, log *slog.Logger) watch.Source {
	replica := func(region string, client *dynamodb.Client, table string) directory.Replica {
		t := directory.FromTable(ddbstore.NewConfig(client, table))
		return directory.Replica{Region: region, Source: t, Feed: t}
	}
	var others []directory.Replica
	for _, region := range s.Regions {
		if region == s.Region {
			continue
		}
		there := cfg.Copy()
		there.Region = region
		others = append(others, replica(region, ddbstore.NewClient(there), s.ConfigTableIn(region)))
	}
	if len(others) == 0 {
		return directory.FromTable(ddbstore.NewConfig(here, s.ConfigTable))
	}
	return directory.NewReplicas(log, replica(s.Region, here, s.ConfigTable), others...)
}

func openMemory(s settings.Settings, log *slog.Logger) (backend, error) {
	text, err := os.ReadFile(s.Plans)
	if err != nil {
		return backend{}, fmt.Errorf("WEIR_PLANS: %w: write the path of a plans file, or put one beside the executable", err)
	}
	f, err := plan.Parse(s.Plans, text)
	if err != nil {
		return backend{}, err
	}
	for _, w := range f.Warnings {
		log.Warn("plans file", "warning", w.Error())
	}
	d, err := directory.NewStatic(f)
	if err != nil {
		return backend{}, err
	}
	return backend{store: memstore.New(s.Region), directory: d, badCredentials: &f.BadCredentials}, nil
}
