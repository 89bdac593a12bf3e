package telemetry

import (
	"sync/atomic"
	"time"
)

// softModeEnds is how long after the last decision without a bucket one with a
// bucket ends the mode: while only some calls fail it is not over.
const softModeEnds = int64(time.Second)

// softMode is whether limits follow their failure policy, since buckets cannot be
// asked.
type softMode struct {
	on   atomic.Bool
	last atomic.Int64 // time of the last decision without a bucket
}

// changes learns from a decision and reports whether the mode begins or ends with
// it. Most of the time it is one load.
func (m *softMode) changes(d *Decision) bool {
	switch {
	case d.Blind:
		m.last.Store(d.Now)
		return m.on.CompareAndSwap(false, true)
	case !m.on.Load():
		return false
	}
	over := d.Source == Store && d.Now-m.last.Load() >= softModeEnds
	return over && m.on.CompareAndSwap(true, false)
}
