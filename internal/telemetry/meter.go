package telemetry

import (
	"time"

	"weir/internal/telemetry/metric"
)

// Meter measures the calls of a table.
type Meter struct {
	calls Counter
	took  Distribution
	now   func() int64
}

// Meter returns the meter of a table, whose name is one of package metric. now
// reads the clock, ns since the Unix epoch.
func (r *Recorder) Meter(table string, now func() int64) *Meter {
	return &Meter{calls: r.Counter(metric.StoreCalls, table), took: r.Distribution(metric.StoreTime, table), now: now}
}

// Begin begins an operation. What it returns ends it, and is told how many calls it
// took: at least one.
func (m *Meter) Begin() (end func(calls int64)) {
	began := m.now()
	return func(calls int64) {
		m.calls.Add(max(calls, 1))
		m.took.Observe((m.now() - began) / int64(time.Microsecond))
	}
}
