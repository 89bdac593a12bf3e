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
// The current version of everything is at sk = CURRENT:
//
//	PLAN#name    body
//	TENANT#id    plan, status, overrides
//	CRED#hash    tenant, label, created, expires, last4     hash: SHA-256, hex
//
// and each has ver, author, reason and changed, those of the last change.
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
//	PutPlan, PutTenant,      1                  1 WRU per KB, in every Region
//	PutCredential
//
// docs/cost.md has what was measured, case by case, in one Region and in three.
//
// A row takes about 215 bytes, its key, and 50 for every Region it has seen: with
// a key of 40 bytes some 255 in one Region, 480 in five and 710 in ten, so that a
// write is one unit (TestRowFitsAUnit). One item takes 1,000 writes a second and
// no more, failed ones included; callers charge for many requests at once and do
// not repeat refusals.
//
// # Failures
//
// Errors are few and typed: ErrThrottled, ErrUnavailable, ErrConflict,
// ErrNotFound, or that of the context. The SDK's retries are off. Reads and
// writes of configuration are tried once more, at once, if the connection
// failed; charges never are, see D4.
//
// # What it does not promise
//
// After ErrUnavailable or a deadline a charge may have been done; then the tenant
// has lost those tokens. Rows may be about a second old, or as old as the
// replication of the table. Nothing is known about a Region that cannot be seen.
package ddbstore
