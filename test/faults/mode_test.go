package faults_test

import (
	"encoding/json"
	"strings"
	"time"
)

// interval is that of the function's metrics: the default. What is tested here is
// that an outage does not wait for it.
const interval = time.Minute

// toldWithin is how long after it began or ended an outage must be in the metrics, at the
// latest: lines are at least a second apart, and come with a request.
const toldWithin = 2 * time.Second

// watch follows what the metrics say of soft-limit mode, since Function.Log keeps
// the end only.
type watch struct {
	seen  map[string]bool // lines
	modes []mode
}

// mode is what a line said.
type mode struct {
	at   int64 // ms since the Unix epoch
	last int   // 1 or 0
	most int
}

// look reads the lines that are new.
func (w *watch) look(log string) {
	if w.seen == nil {
		w.seen = make(map[string]bool)
	}
	for line := range strings.Lines(log) {
		if !strings.Contains(line, `"SoftLimitMode":`) || !strings.HasPrefix(line, "{") || !strings.HasSuffix(line, "\n") || w.seen[line] {
			continue
		}
		w.seen[line] = true
		var doc struct {
			AWS           struct{ Timestamp int64 } `json:"_aws"`
			SoftLimitMode json.RawMessage
		}
		if json.Unmarshal([]byte(line), &doc) != nil {
			continue
		}
		m := mode{at: doc.AWS.Timestamp}
		var values []int
		if json.Unmarshal(doc.SoftLimitMode, &m.last) == nil {
			values = []int{m.last}
		} else if json.Unmarshal(doc.SoftLimitMode, &values) != nil || len(values) == 0 {
			continue
		}
		m.last, m.most = values[len(values)-1], values[0]
		w.modes = append(w.modes, m)
	}
}

// begun reports whether a line said that the mode is on, within some time after
// from.
func (w *watch) begun(from time.Time, within time.Duration) bool {
	for _, m := range w.modes {
		if m.most == 1 && m.at >= from.UnixMilli() && m.at <= from.Add(within).UnixMilli() {
			return true
		}
	}
	return false
}

// over reports whether the last line said that the mode is off.
func (w *watch) over() bool {
	return len(w.modes) > 0 && w.modes[len(w.modes)-1].last == 0
}
