package settings

import (
	"io"
	"log/slog"
	"time"
)

// Reconciler are the settings of the reconciler, checked.
type Reconciler struct {
	BucketsTable string
	ConfigTable  string
	StrictTable  string // "" for none
	Region       string // this one
	Regions      []string
	Grace        time.Duration // as the authorizers have it
	Parallel     int           // rows in work at a time
	LogLevel     slog.Level
	Telemetry    Telemetry
}

// Bounds of how many rows are in work at a time.
const (
	DefaultParallel = 16
	MaxParallel     = 256
)

// ReconcilerFromEnv reads the settings of the reconciler from getenv. The error
// is an *Error.
func ReconcilerFromEnv(getenv func(string) string) (Reconciler, error) {
	e := env{get: getenv}
	var s Settings
	e.tables(&s)
	s.Region = e.matching("AWS_REGION", regionName, "the Region, such as eu-west-1; Lambda sets it", "")
	r := Reconciler{
		BucketsTable: s.BucketsTable,
		ConfigTable:  s.ConfigTable,
		StrictTable:  s.StrictTable,
		Region:       s.Region,
		Regions:      e.regions("WEIR_REGIONS", s.Region),
		Grace:        e.duration("WEIR_GRACE", DefaultGrace, MinGrace, MaxGrace),
		Parallel:     int(e.count("WEIR_PARALLEL", DefaultParallel, MaxParallel)),
		LogLevel:     e.level("WEIR_LOG_LEVEL"),
		Telemetry:    e.telemetry(),
	}
	if len(e.problems) > 0 {
		return Reconciler{}, &Error{Problems: e.problems}
	}
	return r, nil
}

// Logger returns a logger as the one of Settings.
func (r Reconciler) Logger(w io.Writer) *slog.Logger { return Settings{LogLevel: r.LogLevel}.Logger(w) }
