package main

import (
	"fmt"
	"log/slog"
	"os"

	"weir/internal/directory"
	"weir/internal/limiter"
	"weir/internal/memstore"
	"weir/internal/plan"
	"weir/internal/settings"
	"weir/pkg/ddbstore"
)

// backend is where buckets and configuration are kept.
type backend struct {
	store          limiter.Store
	strict         limiter.Store // nil without a table for it
	directory      directory.Directory
	badCredentials *plan.Limit // nil for the default
}

func open(s settings.Settings, log *slog.Logger) (backend, error) {
	if s.Store == settings.Memory {
		return openMemory(s)
	}
	return openDynamoDB(s, log)
}

func openDynamoDB(s settings.Settings, log *slog.Logger) (backend, error) {
	cfg, err := ddbstore.EnvConfig(os.Getenv)
	if err != nil {
		return backend{}, err
	}
	client := ddbstore.NewClient(cfg)
	source := directory.FromTable(ddbstore.NewConfig(client, s.ConfigTable))
	b := backend{
		store:     ddbstore.New(client, s.BucketsTable, s.Region),
		directory: directory.NewCached(source, directory.Options{Anonymous: s.Anonymous, Log: log}),
	}
	if s.StrictTable != "" {
		b.strict = ddbstore.NewStrict(client, s.StrictTable)
	}
	return b, nil
}

func openMemory(s settings.Settings) (backend, error) {
	text, err := os.ReadFile(s.Plans)
	if err != nil {
		return backend{}, fmt.Errorf("WEIR_PLANS: %w: write the path of a plans file, or put one beside the executable", err)
	}
	f, err := plan.Parse(s.Plans, text)
	if err != nil {
		return backend{}, err
	}
	d, err := directory.NewStatic(f)
	if err != nil {
		return backend{}, err
	}
	return backend{store: memstore.New(s.Region), directory: d, badCredentials: &f.BadCredentials}, nil
}
