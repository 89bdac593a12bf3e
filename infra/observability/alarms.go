package observability

import (
	"weir/infra/config"
	"weir/internal/telemetry/metric"
)

// IDs of the alarms that say that clients are hurt: an experiment stops at them.
const (
	SoftLimitMode      = "soft-limit-mode"
	UnexpectedErrors   = "unexpected-errors"
	AuthorizerThrottle = "authorizer-throttled"
)

// alarms returns those of one Region. docs/operations.md has a heading for each.
func alarms(c *config.Config, r config.Region) []alarm {
	region := r.Name
	authorizer, reconciler := []string{"FunctionName", c.AuthorizerName()}, []string{"FunctionName", c.ReconcilerName()}
	all := []alarm{
		{
			id: SoftLimitMode, means: "Limits cannot be checked: each follows its onError.",
			metrics: []series{of(c, metric.SoftLimitMode, region)}, bound: 1, late: 1, minutes: 1,
		},
		{
			id: "config-unread", means: "The config table has not answered for a minute: callers who are not in memory are refused.",
			metrics: []series{of(c, metric.ConfigAge, region)}, bound: 60, late: 2, minutes: 3,
		},
		{
			// Not Lambda's Errors: each 401 of a REST API is one.
			id: UnexpectedErrors, means: "The authorizer or the reconciler met what it should not.",
			metrics: []series{of(c, metric.UnexpectedErrors, region)}, bound: 1, late: 2, minutes: 5,
		},
		{
			id: AuthorizerThrottle, means: "Lambda does not start enough authorizers: those requests are 500.",
			metrics: []series{aws("Lambda", "Throttles", "Sum", authorizer...)}, bound: 1, late: 1, minutes: 1,
		},
		{
			id: "authorizer-slow", means: "The authorizer comes near its timeout, beyond which requests are 500.",
			metrics: []series{aws("Lambda", "Duration", "p99", authorizer...)},
			bound:   0.7 * float64(c.Authorizer.Timeout.Milliseconds()), late: 3, minutes: 5,
		},
		{
			id: "table-throttled", means: "DynamoDB throttles charges or look-ups.",
			expression: "FILL(m1, 0) + FILL(m2, 0)",
			metrics: []series{
				of(c, metric.StoreThrottles, region, string(metric.Store), metric.Buckets),
				of(c, metric.StoreThrottles, region, string(metric.Store), metric.Config),
			}, bound: 10, late: 2, minutes: 3,
		},
		{
			id: "mostly-refused", means: "More than half of all requests have been refused for a quarter of an hour.",
			expression: "IF(m1 > 100, 100 * FILL(m2, 0) / m1, 0)",
			metrics:    []series{of(c, metric.Decisions, region), of(c, metric.Decisions, region, string(metric.Outcome), metric.Refused)},
			bound:      50, late: 15, minutes: 15,
		},
		{
			id: "reconciler-silent", means: "The reconciler has not run for five minutes, although it should every minute.",
			metrics: []series{aws("Lambda", "Invocations", "Sum", reconciler...)}, bound: 0, below: true, late: 5, minutes: 5, silence: true,
		},
		{
			id: "reconciler-errors", means: "The reconciler fails: plan changes reach rows late.",
			metrics: []series{aws("Lambda", "Errors", "Sum", reconciler...)}, bound: 1, late: 3, minutes: 5,
		},
		{
			id: "changes-given-up", means: "Changes of configuration were given up on and lie in the queue.",
			metrics: []series{aws("SQS", "ApproximateNumberOfMessagesVisible", "Maximum", "QueueName", c.Name+"-failures")},
			bound:   1, late: 1, minutes: 1,
		},
	}
	if len(c.Regions) > 1 {
		all = append(all, alarm{
			id: "regions-cut", means: "Another Region's writes do not arrive: limits hold per Region only, or to shares.",
			metrics: []series{of(c, metric.RegionsCut, region)}, bound: 1, late: 2, minutes: 3,
		})
	}
	for _, other := range c.RegionNames() {
		if other != region {
			all = append(all, replication(c, other)...)
		}
	}
	return all
}

// replication returns the alarms on what this Region sends to another. Both are
// DynamoDB's own measure, so they hold with Weir's functions down.
func replication(c *config.Config, to string) []alarm {
	latency := func(table string) series {
		return aws("DynamoDB", "ReplicationLatency", "Average", "TableName", table, "ReceivingRegion", to)
	}
	late := alarm{
		id: "replication-late", to: to, means: "Writes take longer than " + c.Observability.Lag.String() + " to reach " + to + ".",
		// The later of the two tables; without writes there is no data, and nothing late.
		expression: "MAX([FILL(m1, 0), FILL(m2, 0)])",
		metrics:    []series{latency(c.ConfigTable()), latency(c.BucketsTable())},
		bound:      float64(c.Observability.Lag.Milliseconds()), late: 3, minutes: 5,
	}
	stalled := alarm{
		id: "replication-stalled", to: to, means: "Nothing is replicated to " + to + " any more.",
		// The config table has a heartbeat a minute, so no data is no replication.
		expression: "FILL(m1, 0)",
		metrics:    []series{latency(c.ConfigTable())},
		bound:      0, below: true, late: 5, minutes: 5, silence: true,
	}
	return []alarm{late, stalled}
}
