package settings

import (
	"regexp"
	"strings"
	"time"

	"weir/internal/telemetry"
	"weir/internal/telemetry/metric"
)

// Telemetry is what the functions say about themselves; docs/telemetry.md.
type Telemetry struct {
	Metrics   bool          // are written
	Namespace string        // of CloudWatch
	Interval  time.Duration // between lines of metrics
	Tenants   int           // listed by name
	Sample    int           // refusals logged in a minute, at most
}

// Bounds of telemetry.
const (
	MaxInterval = 5 * time.Minute
	MaxTenants  = 50
	MaxSample   = 10_000
)

// toggle is on or off.
type toggle string

const (
	on  toggle = "on"
	off toggle = "off"
)

// namespace is what CloudWatch takes.
var namespace = regexp.MustCompile(`^[A-Za-z0-9._/#-][A-Za-z0-9._/#: -]{0,254}$`)

func (e *env) telemetry() Telemetry {
	if v := e.get("WEIR_METRICS_NAMESPACE"); strings.HasPrefix(v, "AWS/") {
		e.invalid("WEIR_METRICS_NAMESPACE", v, "one that does not begin with AWS/, which CloudWatch keeps to itself, such as Weir")
	}
	return Telemetry{
		Metrics:   oneOf(e, "WEIR_METRICS", on, off) == on,
		Namespace: e.matching("WEIR_METRICS_NAMESPACE", namespace, "a namespace of CloudWatch, such as Weir", metric.Namespace),
		Interval:  e.duration("WEIR_METRICS_INTERVAL", telemetry.DefaultInterval, telemetry.MinInterval, MaxInterval),
		Tenants:   int(e.number("WEIR_METRICS_TENANTS", telemetry.DefaultTenants, 0, MaxTenants)),
		Sample:    int(e.number("WEIR_LOG_SAMPLE", telemetry.DefaultSample, 0, MaxSample)),
	}
}
