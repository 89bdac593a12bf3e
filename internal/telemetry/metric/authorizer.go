package metric

// Sets of dimensions that several metrics have.
var (
	byRegion = [][]Dimension{{Region}}
	byStore  = [][]Dimension{{Region, Store}}
	byKind   = [][]Dimension{{Region}, {Region, Kind}}
	byLimit  = [][]Dimension{{Region, Plan, Limit}}

	authorizer = []Function{Authorizer}
	reconciler = []Function{Reconciler}
	both       = []Function{Authorizer, Reconciler}
)

// Decisions.
var (
	Decisions = Metric{
		Name: "Decisions", Unit: Count, Type: Counter, By: authorizer,
		Dimensions: [][]Dimension{
			{Region},
			{Region, Outcome},
			{Region, Plan, Outcome},
			{Region, Plan, Limit, Outcome},
			{Region, Reason},
			{Region, Source},
			{Region, Tenant, Outcome},
		},
		Meaning: "Requests that were answered, counted under the tightest limit.",
		Action:  "More `refused`: `Plan` and `Limit` say of what, `Tenant` whose; then `weir explain TENANT`. None at all: is the authorizer attached, is its cache 0 (`weir doctor`)?",
	}
	DecisionTime = Metric{
		Name: "DecisionTime", Unit: Microseconds, Type: Values, By: authorizer,
		Dimensions: [][]Dimension{{Region}, {Region, Source}},
		Meaning:    "From the event to the answer, without the time a request was held.",
		Action:     "`store` slow: look at `StoreTime`. `memory` slow: the function has too little memory, and with it CPU.",
	}
	HoldTime = Metric{
		Name: "HoldTime", Unit: Milliseconds, Type: Values, By: authorizer, Dimensions: byRegion,
		Meaning: "How long requests were held for their token; SampleCount is how many were.",
		Action:  "Held requests keep a Lambda environment busy: if they are many, raise the rate or lower `hold`.",
	}
	LeaseHits = Metric{
		Name: "LeaseHits", Unit: Count, Type: Counter, By: authorizer, Dimensions: byRegion,
		Meaning: "Requests allowed from tokens that the process had charged before. LeaseHits / (LeaseHits + LeaseMisses) is the lease hit rate.",
		Action:  "A falling rate costs writes: traffic is spread over more processes than it is worth, or over more keys.",
	}
	LeaseMisses = Metric{
		Name: "LeaseMisses", Unit: Count, Type: Counter, By: authorizer, Dimensions: byRegion,
		Meaning: "Requests that had to ask a bucket.",
		Action:  "See LeaseHits.",
	}
	ShadowRefusals = Metric{
		Name: "ShadowRefusals", Unit: Count, Type: Counter, By: authorizer, Dimensions: byLimit,
		Meaning: "Requests that a limit in shadow would have refused.",
		Action:  "What enforcing it would do. Compare with Decisions of the plan before you do.",
	}
)

// What is degraded.
var (
	SoftLimitMode = Metric{
		Name: "SoftLimitMode", Unit: None, Type: Gauge, By: authorizer, Dimensions: byRegion,
		Meaning: "1 while some limit could not be checked and its `onError` decided; else 0.",
		Action:  "The buckets table is away, or throttles: StoreErrors and StoreThrottles say which. docs/failure.md says what clients see.",
	}
	SoftLimitDecisions = Metric{
		Name: "SoftLimitDecisions", Unit: Count, Type: Counter, By: authorizer, Dimensions: byRegion,
		Meaning: "Decisions in which some limit could not be checked.",
		Action:  "How many requests no limit has seen, or only a process's own part of it.",
	}
	BreakerOpen = Metric{
		Name: "BreakerOpen", Unit: None, Type: Gauge, By: authorizer, Dimensions: byStore,
		Meaning: "1 while a process leaves a table alone because it did not answer; else 0.",
		Action:  "DynamoDB in this Region, the table's name, the role's permissions, the network of the function.",
	}
	UnexpectedErrors = Metric{
		Name: "UnexpectedErrors", Unit: Count, Type: Counter, By: both, Dimensions: byKind,
		Meaning: "What should not happen, by kind; the log has a line for each.",
		Action:  "`panic`: report it, with the log's stack. `configuration`: a tenant's plan is missing. `lookup`: StoreErrors of `config`. `event`: the function is attached to something else. `task`: the reconciler's log names it.",
	}
)

// The stores.
var (
	StoreCalls = Metric{
		Name: "StoreCalls", Unit: Count, Type: Counter, By: authorizer, Dimensions: byStore,
		Meaning: "Calls that were made.",
		Action:  "Per decision it should be some hundredths: see LeaseHits.",
	}
	StoreTime = Metric{
		Name: "StoreTime", Unit: Microseconds, Type: Values, By: authorizer, Dimensions: byStore,
		Meaning: "How long an operation on the table took; most are one call.",
		Action:  "Above a few milliseconds at p99: look at the table's throttling and at the health of DynamoDB; a hot item slows down at 1,000 writes/s.",
	}
	StoreErrors = Metric{
		Name: "StoreErrors", Unit: Count, Type: Counter, By: authorizer, Dimensions: byStore,
		Meaning: "Calls without a usable answer: timeouts, lost connections, errors of the server.",
		Action:  "As for BreakerOpen.",
	}
	StoreThrottles = Metric{
		Name: "StoreThrottles", Unit: Count, Type: Counter, By: authorizer, Dimensions: byStore,
		Meaning: "Calls that the table throttled.",
		Action:  "A new on-demand table takes 4,000 writes/s at first: warm it. One bucket takes 1,000/s: give its limit a narrower key.",
	}
	StoreSkips = Metric{
		Name: "StoreSkips", Unit: Count, Type: Counter, By: authorizer, Dimensions: byStore,
		Meaning: "Calls that were not made, because the table did not answer before.",
		Action:  "As for BreakerOpen.",
	}
	WriteUnits = Metric{
		Name: "WriteUnits", Unit: Count, Type: Counter, By: authorizer, Dimensions: byRegion,
		Meaning: "Write request units that decisions were billed for here, failed conditions included.",
		Action:  "docs/cost.md has the price. Written rows are billed once more in every other Region.",
	}
	RefusalWriteUnits = Metric{
		Name: "RefusalWriteUnits", Unit: Count, Type: Counter, By: authorizer, Dimensions: byRegion,
		Meaning: "Of these, what bought nothing but refusals.",
		Action:  "A flood that costs: `Tenant` of Decisions says whose.",
	}
)

// How current the process is.
var (
	ConfigAge = Metric{
		Name: "ConfigAge", Unit: Seconds, Type: Gauge, By: authorizer, Dimensions: byRegion,
		Meaning: "Since when a process has had no news of the configuration.",
		Action:  "Above some seconds under load: the config table does not answer here (StoreErrors of `config`). Tenants are served as last known.",
	}
	PlanChangeLatency = Metric{
		Name: "PlanChangeLatency", Unit: Milliseconds, Type: Values, By: authorizer, Dimensions: byRegion,
		Meaning: "For how long after a change of a plan, tenant or credential a process still decided by what was before it.",
		Action:  "Above 2 s and replication: ReplicationLag, then ConfigAge.",
	}
	ClockSkew = Metric{
		Name: "ClockSkew", Unit: Milliseconds, Type: Gauge, By: authorizer, Dimensions: byRegion,
		Meaning: "By how much another Region's clock was seen ahead of this one's, at most, since a process started.",
		Action:  "Above a second it shifts shares between Regions; the limit itself holds.",
	}
)

func authorizers() []Metric {
	return []Metric{
		Decisions, DecisionTime, HoldTime, LeaseHits, LeaseMisses, ShadowRefusals,
		SoftLimitMode, SoftLimitDecisions, BreakerOpen, UnexpectedErrors,
		StoreCalls, StoreTime, StoreErrors, StoreThrottles, StoreSkips, WriteUnits, RefusalWriteUnits,
		ConfigAge, PlanChangeLatency, ClockSkew,
	}
}
