// Package ddbstore keeps Weir's state in two DynamoDB tables: the rows of
// buckets (Store) and the configuration (Config). A third, for limits that hold
// exactly across Regions, is optional (NewStrict). All have the primary key
// pk, sk (strings); CreateTables makes them for development and tests.
//
// # Model: buckets
//
// A bucket is an item collection: pk is the bucket's key, sk a Region, and each
// Region writes its own item only, because a global table keeps the last version
// of an item and drops what another Region wrote meanwhile. An item is a
// bucket.Row:
//
//	tat    N   theoretical arrival time, ns since the Unix epoch
//	spent  N   tokens charged since born
//	at     N   time of the last charge, ns
//	es, ep N   start of the current epoch, ns, and spent as it was then
//	s0, c0 N   the same of the last epoch that began in a second divisible by 4,
//	.. s3, c3  or with that remainder: bucket.EpochSlot
//	bt, bs N   tat and spent right after the last fold; absent before the first
//	seen   M   Region -> [born, spent, at] of its row as last folded into tat
//	fold   N   number of folds; absent is 0
//	born   N   when the row was created, ns
//	ver    N   version of the limit that tat was computed with
//	lim    S   that limit: count/period/burst, the period in ns; or "unlimited"
//	pb, pd N   the limit before: its burst, and its depth, ns; absent until it changes
//	pa, ps N   when it changed, ns, and spent as it was then
//	ttl    N   when the item may be removed, s: bucket.Charge.Expiry
//
// A charge is one conditional UpdateItem. UpdateItem can add but has neither max
// nor if, so each case of bucket.Charge.Apply is a form of its own whose
// condition is that case (here without the fold):
//
//	busy  SET tat = tat + :inc   IF tat > :now AND tat <= :now + tau - :inc
//	idle  SET tat = :now + :inc  IF attribute_not_exists(tat) OR tat <= :now
//
//	each, in an epoch that is over   ..., es = #s = :now, ep = #c = spent   IF es <= :now - 1 s
//	each, in one that is not                                                IF es >  :now - 1 s
//	each, on a row that exists       ..., ver = :ver, lim = :lim            IF ver = :ver AND lim = :lim
//
// A fold sets bt and bs beside fold and seen. What an item lacks of all this
// reads as 0, so one written before there were slots or a base is charged like
// any other and gets them as it goes.
//
// For one row and time exactly one form applies, or none if the bucket holds too
// little or the row is of another version. The caller's Known row says which to
// try. A failed condition returns the row, which says which form is right, or that
// it is a refusal and how long to wait, or that the charge is outdated. Nothing is
// read before it is written.
//
// What becomes of a level when the limit changes is a multiplication, which no
// update expression can do. So the charge that meets a row of an older version
// computes the row that is to be, and writes it
//
//	swap  SET tat, spent, at, ver, lim, ... = what they are to be
//	                             IF tat, spent, at, fold, ver and lim are as found
//
// It is one charge per bucket, Region and change; the next find the new version. A
// Rescale is a swap that spends nothing, after a consistent read. It moves ttl out
// if the new limit is deeper, never in. A charge without a version (ver = 0) asks
// for ver = 0 and sets lim, whatever that was. An item without lim was written
// before there was one: it is swapped, keeping its tat.
//
// # Model: strict rows
//
// A strict table is a global table with multi-Region strong consistency: what is
// written in one Region is what conditions see in all. There a bucket has one
// row, sk = "*", charged by every Region with the same forms and never folded.
// Only one Region at a time can write an item: another gets
// ReplicatedWriteConflictException, which the SDK does not retry. Charge does,
// because nothing was written: after a pause drawn from 10 ms, doubling up to
// 100 ms, and only while an answer can come before the deadline. Then it ends in
// ErrConflict.
//
// Such a table cannot have a TTL. Rows carry one all the same, and Sweep removes
// what is past it; one process, about daily, is to call it. Until it does, an
// expired row takes space and changes nothing (D5).
//
// # Model: configuration
//
// What plans, tenants and credentials are, and what they were:
//
//	PLAN#name      / CURRENT   body, carry, next
//	TENANT#id      / CURRENT   plan, status, overrides, carry
//	CRED#hash      / CURRENT   tenant, label, created, expires, last4, status    hash: SHA-256, hex
//	each of them   / V#0000000007   the same item as it was at version 7
//
// Each has ver, stamp, author, reason and changed, those of its last change. An
// empty text may be absent, and is then the default: a credential without a
// status is active. Ids are not escaped, and may contain anything that is UTF-8:
// the first "#" of a key ends what this package put there.
//
// The lists, the feed, and what orders it:
//
//	PLANS          / name      all plans
//	TENANTS        / id        all tenants
//	PLAN#name      / T#id      the tenants on a plan
//	TENANT#id      / K#hash    the credentials of a tenant, complete
//	CHANGES        / <stamp, 20 digits>#<n>   kind, id, ver, stamp, author, reason, changed: kept for good
//	META           / CLOCK     stamp: the last one
//	META           / HOME      home, stamp, author, reason, changed: the Region that writes all this
//
// A change is one transaction: the current version, on condition that the one it
// replaces is still there; the copy for the history; an entry in the feed; what
// has to change in lists; the clock, on condition that its stamp is lower; and
// the home, on condition that it is the writer's Region, or none. It is made as a
// whole or not at all. A stamp is the writer's time where that is above the last
// stamp, else the next one: a hybrid logical clock. Stamps are even, for those
// who mark what a schedule has made of a change with the last bit.
//
// The conditions of a transaction hold within a Region, so configuration is
// written in one at a time, its home. A change reaches other Regions item by
// item, in any order, usually within a second; at home, too, who reads several
// items may see them change one after the other, within milliseconds. So the feed
// may show a change before its item, or after a later one: who follows it looks
// back by more than replication takes, and reads what it names until it finds
// that stamp.
//
// Items from before there were stamps are read as they are. Their first change
// adds the stamp, the lists and the history from there on.
//
// What the reconcilers keep here, each Region for itself, without a stamp and
// outside the home's rule:
//
//	HEARTBEAT#region / CURRENT       at, lag, cut, rows, drift
//	HEARTBEAT#region / SEEN#other    at, lag: of the other's heartbeat as it came in
//	JOB#region       / id            plan, stamp, cursor, seen, changed, skipped, failed, started, updated, finished
//	USAGE#tenant     / month#region  limits: name -> [tokens, born, spent], at
//
// Jobs and usage have ver, and once, which tells a write from another that says
// the same. In the table's stream, sk = CURRENT is what others must hear of:
// plans, tenants, credentials and heartbeats.
//
// Every access, and what a role must be allowed for it:
//
//	Plan, Tenant, Credential, PlanAt, TenantAt,   GetItem
//	Home, Job, Usage, Heartbeats
//	Changes, Plans, Tenants, TenantsOn,           Query
//	CredentialsOf, Jobs, UsageOf, SeenBy
//	PlanHistory, TenantHistory                    Query, GetItem
//	Write, PutPlan, PutTenant, PutCredential      GetItem, PutItem, ConditionCheckItem; DeleteItem for a tenant
//	                                              that changes its plan, a credential that changes its tenant
//	MoveHome                                      GetItem, PutItem
//	PutJob, PutUsage, PutHeartbeat, PutSeen       PutItem
//
// There is no action for TransactWriteItems; those of its parts count.
//
// # Invariants
//
//	D1  A charge does to a row exactly what bucket.Charge.Apply does,
//	    and a Rescale what bucket.Rescale.Apply does                     (FuzzCharge)
//	D2  Whatever races, admitted tokens never exceed what the bucket
//	    holds, and spent is their sum                                    (storetest: ColdBucket, LastTokens)
//	D3  The same spend is never folded twice                             (storetest: RacingFolders)
//	D4  A request is sent once, unless DynamoDB said that nothing was
//	    written; a lost answer never becomes two charges                 (TestLostAnswerIsNotRepeated,
//	                                                                     TestStrictLostAnswerIsNotRepeated)
//	D5  A row past its ttl that is still there changes no decision       (storetest: ExpiredRow)
//	D6  A credential is stored as its SHA-256 and at most four of its
//	    characters                                                       (TestNoCredentialInTable)
//	D7  A strict row admits exactly what its bucket holds, whoever
//	    collides; nothing is tried again that the deadline would cut off (TestStrictCrowd, TestBackoffKeepsTheDeadline)
//	D8  A version never goes back, and no charge of an older one changes a
//	    row of a newer; a row is carried over once per change           (storetest: Versions, RacingVersions,
//	                                                                     RacingCarries, TestRescaleLosesRaces)
//	D9  A change of configuration is made as a whole or not at all, once,
//	    and only on the version that it is based on                      (TestWriteAllOrNothing, TestWriteRaces,
//	                                                                     TestWriteLostAnswer)
//	D10 A later change has a higher stamp, whatever the clocks say       (TestWriteStamps)
//	D11 What is in the table is what this page says, item by item, and
//	    costs what it says                                               (TestWriteLayout, TestConfigCost)
//	D12 A Region that has heard that it is not the home writes nothing   (TestHome, TestHomeIsClaimedOnce,
//	                                                                     TestTakeOver)
//
// # Concurrency
//
// Any number of processes may charge one row; DynamoDB orders them, and no
// charge is lost or needs the one before it. All processes of a Region are taken
// to share one clock: one that is behind gets fewer tokens, never more; one that
// is ahead by d gets up to rate*d tokens early, which the others then lack.
//
// A charge loses a race only to a change that makes its form wrong: the first
// charge on an idle bucket, the opening of an epoch, another fold, another
// version. It then takes a second round trip, hardly ever a third, and after that
// ends in ErrConflict. A swap loses to any other write. While a change spreads,
// those who charge an item hundreds of times a second may have to be told more
// than once; the first that gets through makes it plain for the others.
//
// A strict row is charged by all Regions, whose clocks may differ by more than
// those in one: the Region that is ahead by d gets up to rate*d tokens early, the
// others lack them, and the total stays exact. At most one Region at a time can
// write the row, each for about the round trip to its nearest neighbour: some
// tens of charges a second and bucket. It is for small limits.
//
// # Cost
//
//	call                     round trips        units
//	Charge                   1 in steady state  1 WRU per KB of the row and attempt, failed conditions
//	                         at most 3          included, and a written one again in every other Region
//	Charge, older row        at most 2          the same; once per Region and change of the limit
//	Rescale                  2                  1 RRU, and a Charge's; nothing is written if there is no row
//	Row                      1                  1 RRU per 4 KB
//	Charge, strict           the same, and one  the same in every Region of the table; a conflict is
//	                         a conflict         counted as 1 WRU, though AWS does not say that it is billed
//	Rows                     1                  0.5 RRU per 4 KB of all rows; strict 1 RRU
//	Sweep                    1 per MB and row   0.5 RRU per 4 KB of the table, 1 WRU per row removed
//	Plan, Tenant, Credential 1                  0.5 RRU per 4 KB
//	Changes                  1                  0.5 RRU per 4 KB of entries (about 20); 0.5 RRU if there are none
//	lists, PlanHistory ...   1 per MB           0.5 RRU per 4 KB of items
//	a new plan               1                  8 WRU, and 4 per KB of it
//	a plan's change          2                  1 RRU per 4 KB; 6 WRU, and 4 per KB of it
//	a new tenant             1                  14 WRU
//	a tenant's change        2                  1 RRU; 10 WRU, 14 if it changes its plan
//	a credential, or change  1 or 2             1 RRU if it exists; 12 WRU
//	MoveHome                 2                  1 RRU; 6 WRU
//	PutJob, PutUsage,        1                  1 WRU per KB
//	PutHeartbeat, PutSeen
//
// The WRU of a change are those of a transaction, which counts double: 2 per item
// and KB, the check of the home included. All but that check are paid again in
// every other Region of the table, at most as much. Changes made together share
// the 4 WRU of clock and home. One that is refused by its transaction costs the
// same as one that is made, here only; most refusals come from the read before
// it. Consistent readers cost twice as much.
//
// Whoever follows the feed makes about one poll a second while busy: 1.3 million
// RRU a month if it always is, $0.16. The feed is one item collection, good for
// 3,000 RRU a second: 6,000 processes in each Region. More would be throttled,
// and see changes later.
//
// docs/cost.md has what was measured, case by case, in one Region and in three.
//
// A row takes about 250 bytes, its key, and 50 for every Region it has seen: with
// a key of 40 bytes some 290 in one Region, 520 in five and 750 in ten, so that a
// write is one unit (TestRowFitsAUnit). One item takes 1,000 writes a second and
// no more, failed ones included; callers charge for many requests at once and do
// not repeat refusals.
//
// # Failures
//
// Errors are few and typed: ErrThrottled, ErrUnavailable, ErrConflict,
// ErrNotFound, ErrHome, or that of the context. The SDK's retries are off. Reads
// and writes of configuration are tried once more, at once, if the connection
// failed, a transaction under the same token; charges never are, see D4. A change
// of configuration that lost to one of something else is tried again, after a
// pause, as a charge of a strict row is; one that lost to a change of the same
// thing is not.
//
// # What it does not promise
//
// After ErrUnavailable or a deadline a charge may have been done; then the tenant
// has lost those tokens. Rows may be about a second old, or as old as the
// replication of the table. Nothing is known about a Region that cannot be seen.
package ddbstore
