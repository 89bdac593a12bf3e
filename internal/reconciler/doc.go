// Package reconciler brings what plans and tenants say to the rows of buckets, in
// its own Region: as soon as it changes, told by the config table's stream, and
// once more in a round over all tenants, by a schedule.
//
// # Model
//
// A record of the stream says what has changed, not to what. The reconciler looks
// up what holds now and brings the rows to that:
//
//	plan P changed       for every tenant on P:  bring(tenant)      a job, saved page by page
//	tenant T changed     bring(T)
//	credential changed   bring(its tenant)
//
//	bring(T)             for every bucket whose key follows from T:
//	                     rescale its row to (limit, version, carry) of plan.Effective(P, T, now)
//
// So it does not matter how often a change is heard of, late or early, or after
// which other: see invariants.
//
// # Invariants
//
//	R1  When all that was written has arrived and been heard of, every row is at
//	    the version and the limit that the configuration says            (TestRandomSequences)
//	R2  A row is written once for a change, however often it is heard of (TestEveryChange, TestFiveThousandTenants)
//	R3  Nothing is spent and no row is made                              (TestRandomSequences, TestOnlyWhatIsAffected)
//	R4  A record that cannot be handled is reported by its sequence
//	    number, and holds up none of the others                          (TestPoison, TestPoisonRecord)
//	R5  A token is booked once                                           (TestUsage, TestUsageIsCountedOnce)
//
// R1 holds because versions are compared as (tenant's, plan's, in force): every
// mixture of old and new that a replica shows is older than what it will show in
// the end, so whatever comes last puts it right. Where a list of tenants arrives
// later than all that it is about, the round does.
//
// # Interfaces
//
// Config, Rows and Alarms are what it needs of the world; *ddbstore.Config,
// *ddbstore.Store and CloudWatch are them. Observer is for who counts.
//
// # Reading order
//
// reconciler.go (which event), record.go and batch.go (the stream), tenant.go,
// job.go, pace.go; then schedule.go and its tasks: heartbeat.go, idle.go,
// rollout.go, round.go, usage.go, expire.go, sweep.go. docs/reconciler.md is for
// operators.
package reconciler
