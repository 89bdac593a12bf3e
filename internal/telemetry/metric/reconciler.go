package metric

// What the reconciler does.
var (
	Records = Metric{
		Name: "Records", Unit: Count, Type: Counter, By: reconciler, Dimensions: byRegion,
		Meaning: "Records of the config table's stream that were read.",
		Action:  "None after a change: is the event source mapping of this Region's replica enabled?",
	}
	RecordsFailed = Metric{
		Name: "RecordsFailed", Unit: Count, Type: Counter, By: reconciler, Dimensions: byRegion,
		Meaning: "Of these, what could not be handled and is delivered again.",
		Action:  "If it goes on, the log says which change, and why; IteratorAge rises until it is handled or given up.",
	}
	ChangesApplied = Metric{
		Name: "ChangesApplied", Unit: Count, Type: Counter, By: reconciler, Dimensions: byRegion,
		Meaning: "Changes of plans, tenants and credentials that were carried out here.",
		Action:  "Compare with the history: `weir plan history`.",
	}
	RowsRescaled = Metric{
		Name: "RowsRescaled", Unit: Count, Type: Counter, By: reconciler, Dimensions: byRegion,
		Meaning: "Rows of buckets brought to a new limit.",
		Action:  "As many as the plan has active tenants and limits, after a change.",
	}
	RowsSkipped = Metric{
		Name: "RowsSkipped", Unit: Count, Type: Counter, By: reconciler, Dimensions: byRegion,
		Meaning: "Rows that needed nothing: they were at the new version already, or at a newer one. A row that is not there is not counted.",
		Action:  "None needed.",
	}
	RowsFailed = Metric{
		Name: "RowsFailed", Unit: Count, Type: Counter, By: reconciler, Dimensions: byRegion,
		Meaning: "Tenants of a changed plan whose rows could not be rescaled; they are tried again, by the next round at the latest.",
		Action:  "If it goes on: the log says which tenants, and why: overrides that cannot be read, the buckets table, or permissions. A row rescales with its next charge anyway.",
	}
	RowsDrifted = Metric{
		Name: "RowsDrifted", Unit: Count, Type: Counter, By: reconciler, Dimensions: byRegion,
		Meaning: "Rows that the round found with a limit other than the configuration's, and repaired.",
		Action:  "More than a handful: changes are lost on the way. Look at RowsFailed and IteratorAge.",
	}
	IteratorAge = Metric{
		Name: "IteratorAge", Unit: Milliseconds, Type: Values, By: reconciler, Dimensions: byRegion,
		Meaning: "How old records were when they were read.",
		Action:  "Rising: the function fails or is throttled; the log says which record.",
	}
	ChangeToEffect = Metric{
		Name: "ChangeToEffect", Unit: Milliseconds, Type: Values, By: reconciler, Dimensions: byRegion,
		Meaning: "From a change to the last row rescaled for it, replication included.",
		Action:  "High in one Region: ReplicationLag there. High everywhere: IteratorAge, or a plan with very many tenants.",
	}
	ReplicationLag = Metric{
		Name: "ReplicationLag", Unit: Milliseconds, Type: Gauge, By: reconciler, Dimensions: [][]Dimension{{Region}, {Region, From}},
		Meaning: "How long a write of another Region took to be seen here.",
		Action:  "Above 2 s: what a tenant may get too much grows with it (package comment of `pkg/bucket`). DynamoDB's health page; nothing to do in Weir.",
	}
	RegionsCut = Metric{
		Name: "RegionsCut", Unit: Count, Type: Gauge, By: reconciler, Dimensions: byRegion,
		Meaning: "How many other Regions have not been heard of for more than three minutes.",
		Action:  "Replication is cut. Limits with `onPartition: share` hold each Region to its share, others over-admit until it is back.",
	}
	CredentialsExpired = Metric{
		Name: "CredentialsExpired", Unit: Count, Type: Counter, By: reconciler, Dimensions: byRegion,
		Meaning: "Credentials that were marked as expired.",
		Action:  "None needed.",
	}
)

func reconcilers() []Metric {
	return []Metric{
		Records, RecordsFailed, ChangesApplied, RowsRescaled, RowsSkipped, RowsFailed, RowsDrifted,
		IteratorAge, ChangeToEffect, ReplicationLag, RegionsCut, CredentialsExpired,
	}
}
