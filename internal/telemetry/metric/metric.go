// Package metric is the list of Weir's CloudWatch metrics: names, units,
// dimensions, what each means and what to do when it moves. The functions that
// emit them, the alarms and dashboards of infra/, and docs/telemetry.md all take
// them from here; tests fail where they differ.
//
// It imports nothing but the standard library, so that infrastructure code can
// use it.
package metric

import "slices"

// Namespace is what the metrics are under unless WEIR_METRICS_NAMESPACE says
// otherwise.
const Namespace = "Weir"

// Unit is a unit of CloudWatch.
type Unit string

// The units in use.
const (
	Count        Unit = "Count"
	None         Unit = "None" // of a state: 0 or 1
	Seconds      Unit = "Seconds"
	Milliseconds Unit = "Milliseconds"
	Microseconds Unit = "Microseconds"
)

// Type says how a metric is read.
type Type string

// The types, with the CloudWatch statistic that makes sense of them.
const (
	Counter Type = "counter" // what happened since the last line: Sum
	Gauge   Type = "gauge"   // a state, one value a line and process: Maximum
	Values  Type = "values"  // a distribution: p50, p99, Maximum; SampleCount is how many there were
)

// Statistic returns the CloudWatch statistic to alarm on and to show.
func (t Type) Statistic() string {
	switch t {
	case Counter:
		return "Sum"
	case Gauge:
		return "Maximum"
	default:
		return "p99"
	}
}

// Function is a Lambda function of Weir.
type Function string

// The functions.
const (
	Authorizer Function = "authorizer"
	Reconciler Function = "reconciler"
)

// Dimension is the name of a CloudWatch dimension.
type Dimension string

// The dimensions. Their values are few: names from the configuration, the fixed
// words below, and of tenants the busiest.
const (
	Region  Dimension = "Region"  // that the function runs in
	Plan    Dimension = "Plan"    // name, NoName or Other
	Limit   Dimension = "Limit"   // name of the tightest limit, NoName or Other
	Tenant  Dimension = "Tenant"  // id of one of the busiest, NoName or Other
	Outcome Dimension = "Outcome" // what became of a request: allowed, refused, unauthorized
	Reason  Dimension = "Reason"  // the code of the answer, docs/answers.md
	Source  Dimension = "Source"  // what decided: memory, store, policy, none
	Store   Dimension = "Store"   // a table: buckets, strict, config
	Kind    Dimension = "Kind"    // of an unexpected error
	From    Dimension = "From"    // another Region, whose writes are awaited here
)

// Values of dimensions that are not from the configuration.
const (
	NoName = "-"     // there is none, as of a request that nobody was identified for
	Other  = "other" // all that are not listed by themselves
)

// Values of Outcome.
const (
	Allowed      = "allowed"
	Refused      = "refused"
	Unauthorized = "unauthorized"
)

// Values of Source.
const (
	FromMemory = "memory" // of the process: leases, remembered refusals
	FromStore  = "store"  // at least one bucket was asked
	FromPolicy = "policy" // a bucket could not be asked: the limit's onError decided
	FromNone   = "none"   // no limit was asked
)

// Values of Store.
const (
	Buckets = "buckets"
	Strict  = "strict"
	Config  = "config"
)

// Values of Kind.
const (
	Panic         = "panic"         // a bug, recovered
	Contradiction = "configuration" // a tenant's plan is missing
	Lookup        = "lookup"        // the directory did not answer for a caller who was not known
	Unsupported   = "event"         // the function is attached to something other than an authorizer
	Task          = "task"          // one that the reconciler does by schedule failed
)

// Metric is one metric.
type Metric struct {
	Name       string
	Unit       Unit
	Type       Type
	Dimensions [][]Dimension // each set is a metric of CloudWatch for every combination of values
	By         []Function
	Meaning    string // one sentence
	Action     string // what to do when it moves
}

// Is reports whether f emits the metric.
func (m Metric) Is(f Function) bool { return slices.Contains(m.By, f) }

// Key returns the dimension besides Region by which the instruments of m are told
// apart, "" if there is none.
func (m Metric) Key() Dimension {
	for _, set := range m.Dimensions {
		if len(set) > 1 {
			return set[1]
		}
	}
	return ""
}

// All returns every metric, in the order of the docs.
func All() []Metric {
	return append(authorizers(), reconcilers()...)
}
