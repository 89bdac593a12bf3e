package telemetry

import (
	"cmp"
	"slices"
	"time"

	"weir/internal/telemetry/metric"
)

// A tenant is listed by name if it has made a fiftieth of an interval's decisions
// and leastDecisions of them. So where there are very many small tenants none is,
// in any process: each name is a metric of CloudWatch, paid by the hour.
const (
	leastShare     = 50
	leastDecisions = 20
)

// names chooses the tenants that are listed by name. Within an hour a process
// takes no more than two sets of them, whoever takes turns at being busy.
type names struct {
	most int
	hour int64
	used map[string]bool // in this hour
}

func newNames(most int) names { return names{most: most, used: make(map[string]bool)} }

// choose moves the decisions of all tenants of w that are not listed to others.
func (n *names) choose(w *window) {
	if hour := w.last / int64(time.Hour); hour != n.hour {
		n.hour = hour
		clear(n.used)
	}
	type busy struct {
		id string
		n  uint64
	}
	var all []busy
	for id, counts := range w.tenants {
		if id != metric.Other {
			all = append(all, busy{id, counts[allowed] + counts[refused] + counts[unauthorized]})
		}
	}
	slices.SortFunc(all, func(a, b busy) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.id, b.id)) })
	listed := 0
	for _, t := range all {
		if listed < n.most && t.n >= leastDecisions && t.n*leastShare >= w.n && n.take(t.id) {
			listed++
			continue
		}
		counts := w.tenants[t.id]
		delete(w.tenants, t.id)
		w.addTenant(metric.Other, counts)
	}
}

// take reports whether a name may be used in this hour.
func (n *names) take(id string) bool {
	if !n.used[id] {
		if len(n.used) >= 2*n.most {
			return false
		}
		n.used[id] = true
	}
	return true
}
