package telemetry

import (
	"cmp"
	"maps"
	"slices"

	"weir/internal/telemetry/metric"
)

// The sets of dimensions of Decisions: those of tenants go in lines of their own.
var (
	decisionSets = setsOf(metric.Decisions, metric.Tenant, false)
	tenantSets   = setsOf(metric.Decisions, metric.Tenant, true)
)

// setsOf returns the sets of m that have a dimension, or those that do not.
func setsOf(m metric.Metric, d metric.Dimension, has bool) [][]metric.Dimension {
	var sets [][]metric.Dimension
	for _, set := range m.Dimensions {
		if slices.Contains(set, d) == has {
			sets = append(sets, set)
		}
	}
	return sets
}

// window writes what was decided in a window: a line for each way in which a limit
// came out, one for each listed tenant and outcome, and one for the time that each
// source took. CloudWatch adds a line to every set of dimensions that it names.
func (e *emf) window(w *window) {
	pairs := slices.SortedFunc(maps.Keys(w.series), func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.plan, b.plan), cmp.Compare(a.limit, b.limit))
	})
	for _, p := range pairs {
		e.series(w.last, p, w.series[p])
	}
	for _, id := range slices.Sorted(maps.Keys(w.tenants)) {
		for o, n := range w.tenants[id] {
			if n > 0 {
				e.write(document{w.last, tenantSets, []label{
					{metric.Tenant, id}, {metric.Outcome, outcomeNames[o]},
				}, []reading{number(metric.Decisions, int64(n))}}) //nolint:gosec // a count
			}
		}
	}
	for s := range w.took {
		if w.took[s].n > 0 {
			e.write(document{w.last, metric.DecisionTime.Dimensions, []label{{metric.Source, sourceNames[s]}},
				[]reading{{metric: metric.DecisionTime, values: &w.took[s]}}})
		}
	}
}

func (e *emf) series(at int64, p pair, t *tally) {
	for r := range t.cells {
		for s, n := range t.cells[r] {
			if n > 0 {
				reason := Reason(r) //nolint:gosec // an index
				e.write(document{at, decisionSets, []label{
					{metric.Plan, p.plan}, {metric.Limit, p.limit}, {metric.Outcome, reason.outcome().String()},
					{metric.Reason, reason.String()}, {metric.Source, sourceNames[s]},
				}, []reading{number(metric.Decisions, int64(n))}}) //nolint:gosec // a count
			}
		}
	}
	if t.shadows > 0 {
		e.write(document{at, metric.ShadowRefusals.Dimensions, []label{{metric.Plan, p.plan}, {metric.Limit, p.limit}},
			[]reading{number(metric.ShadowRefusals, int64(t.shadows))}}) //nolint:gosec // a count
	}
}

// readings writes values of instruments: those that have the same dimensions in one
// line.
func (e *emf) readings(at int64, all []reading) {
	for len(all) > 0 {
		like := all[0]
		d := document{at: at, sets: like.metric.Dimensions}
		if key := like.metric.Key(); key != "" {
			d.labels = []label{{key, like.key}}
		}
		var rest []reading
		for _, r := range all {
			if r.key == like.key && sameSets(r.metric.Dimensions, like.metric.Dimensions) && len(d.readings) < maxMetrics {
				d.readings = append(d.readings, r)
			} else {
				rest = append(rest, r)
			}
		}
		e.write(d)
		all = rest
	}
}

// maxMetrics is how many metrics a line may have.
const maxMetrics = 100

func sameSets(a, b [][]metric.Dimension) bool {
	return slices.EqualFunc(a, b, func(x, y []metric.Dimension) bool { return slices.Equal(x, y) })
}
