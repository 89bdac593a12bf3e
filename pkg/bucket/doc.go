// Package bucket is the arithmetic of a token bucket that is kept as one
// integer. It reads no clock and does no I/O: the time is a parameter, and
// everything is a value.
//
// # Model
//
//	R    rate, tokens per ns: Rate.Count / Rate.Period
//	B    burst, tokens
//	T    1/R, time per token, ns
//	tau  B*T, depth of the bucket in time, ns
//	tat  theoretical arrival time: when the bucket is full again, ns since the Unix epoch
//	now  the caller's clock, ns since the Unix epoch
//
// A token bucket refills at R up to B. Instead of tokens and the time they were
// counted, it is enough to keep tat; this is GCRA, the cell rate algorithm of
// ATM, told as a bucket:
//
//	missing(now) = max(0, tat-now) / T          tokens(now) = B - missing(now)
//	take n:        t = max(tat, now) + n*T      allowed if t <= now + tau; then tat = t
//	wait for n:    max(tat, now) + n*T - tau - now
//
// Time refills the bucket by passing, so an idle bucket needs no work, and a
// charge is one addition under one condition: a single conditional write.
//
// A cost of 0 takes nothing and asks whether the bucket is overdrawn. A cost
// above B is never allowed, nor is anything at rate 0; their wait is Never. An
// unlimited Limit allows everything and keeps nothing.
//
// # Rounding
//
// T is rarely a whole number of nanoseconds: 7 per minute is 8571428571.43 ns.
// Three forms of the same bucket deal with it differently.
//
//   - Bucket keeps the fraction beside the TAT and compares it too. It is exact.
//   - A row is charged by many processes. Each rounds its increments up and
//     carries what it paid in excess into its next one (Limit.Charge), so that
//     its increments add up to the exact time, rounded up once.
//   - Limit.Take has a TAT alone and rounds every take up.
//
// The last two may hold up to 1 ns too much per process or per take. A burst
// would then lose its last token: of 7 processes with one token each, the last
// would be refused by 4 ns, and a client told to wait. So where T is not whole,
// Limit.Depth has a slack on top of tau: 1 us, but at most a thousandth of T.
//
// # Invariants
//
//	I1  in any interval of length t at most B + R*t tokens are admitted:        TestBucketIsRational, FuzzBucket
//	    exactly for Bucket, else within slack + 1 ns per process               TestTakeProperties, TestManyProcessesOneRow
//	I2  a refusal changes nothing                                              TestBucketIsRational, TestTake, TestApply
//	I3  a clock that steps back mints nothing                                  TestClockBackwardsMintsNothing, FuzzBucket
//	I4  Wait is exact: 1 ns earlier is refused, after Wait is allowed          TestBucketIsRational, TestTakeProperties
//	I5  at saturation exactly R is admitted in the long run (within 1e-6)      TestLongRunRate, TestChargeAddsUp
//	I6  a full bucket serves B, in whatever pieces and by however many         TestBurstIsWhole, TestBurstIsWholeAcrossProcesses
//	I7  Charge.Apply admits what Take admits                                   TestApplyIsTake
//
// The rest is about Merge:
//
//	I8   one active Region, or instant replication, is one plain bucket        TestOneActiveRegionIsAPlainBucket, TestInstantReplicationIsOneBucket
//	I9   the global TAT is not below any row's, nor below now                  TestMergeOfAnything, FuzzMerge
//	I10  a token spent elsewhere is folded into a row once                     TestTwoRegionsFoldOnce, TestManyRegionsFoldOnce, FuzzFold
//	I11  the order of rows, duplicates, and leftovers of a row do not matter   TestMergeOfAnything, TestMerge
//	I12  any rows give a TAT from now to now + MaxDepth                        TestMergeOfAnything, FuzzMerge, TestMerge
//	I13  admitted in any interval: at most B + R*t and what was not visible    TestRegionsReproduceThePrototype, TestInstantReplicationIsOneBucket
//	I14  a complete TAT is at least that of one bucket that holds the visible  TestEstimateIsBetweenBounds
//
// And this about limits that change:
//
//	I15  a level is kept as its mode has it, rounded up to 1 ns, and back again TestCarryKeepsTheLevel, FuzzCarry
//	I16  a change admits no second burst: B, R*t, what raises add; Reset: B    TestChangesKeepTheBound
//	I17  rows end at the newest version; an older one never changes a newer    TestChangesInAnyOrder, TestChangesAcrossRegions
//	I18  while a change spreads, I16 and what was not visible, a change        TestChangesAcrossRegions
//	I19  I14 holds across a change, up to an empty bucket at that moment       TestEstimateAcrossAChange
//
// # Why I1 and I3 hold
//
// Let take i and a later take j be allowed, at now_i and now_j, with n_i..n_j
// tokens. No take lowers tat, and each adds its n*T, so after j
//
//	tat >= max(tat, now_i) + (n_i + ... + n_j)*T >= now_i + (n_i + ... + n_j)*T
//
// and j was allowed, so tat <= now_j + B*T. Together
//
//	n_i + ... + n_j <= B + R*(now_j - now_i)
//
// Nothing was assumed of the clock: now_j may lie before now_i, and then the
// bound is below B. That is I3. I5 is the same with equality: while somebody
// waits for every token, tat never falls to now, so it only grows, by T a token.
//
// # Several Regions
//
// Each Region keeps a row of its own and sees copies of the others', a little
// late. Row k contains, in its TAT, its Region's own spend and what it has folded
// in of the others' (Seen). What the others have spent beyond that is put in at
// its date, by computing tat_k again from what it was at the last fold (Base):
//
//	date       no sooner than the spend: the start of the next epoch, or at_m for the last
//	own(s)     T times what k's Region has spent since its base, dated s or later; own: all of it
//	others(s)  T times what others have spent and row k has not seen, likewise
//
//	estimate(k) = max( min(base_k.tat + own, tat_k) + others,
//	                   max(s, min(s + own(s), tat_k)) + others(s)   for every date s )
//
//	global tat  = max( now, all tat_k, the least complete estimate; or if there is none, the least estimate )
//
// An epoch lasts a second or the pause after it, so that spend is dated to within
// a second; a row keeps the last four, and dates what is older by the oldest.
//
// If row k has not seen spend of row m from before m's current epoch, and some of
// it may have been made more than grace before that epoch began, charging it now
// could lock a tenant out for as long as Regions were cut off from each other:
// then it is left out, and the estimate is not complete. Spend made since m's row
// was born, or since k saw it last, is no older than that. The span that counts
// is the whole one, not the gaps between epochs: those are never long.
//
// A row without a Base, because it was folded before rows had one, is taken to
// have been folded just now. Then all that it has not seen comes on top of tat_k,
// though the bucket has been refilling since: the rule that all rows had before
// docs/adr/0006, and the upper bound of this one.
//
// # Why I14 holds
//
// The busy period of a bucket that lasts until tat began with some arrival, and
// since then each token has moved tat by T. So, for arrivals of n_i tokens at a_i,
//
//	tat = max over i of a_i + T * (sum of n_j with a_j >= a_i)
//
// and adding an arrival or moving one later never lowers it. Let the busy period
// of all that is visible have begun at s. If that was after the fold, own(s) and
// others(s) have come since, and s + own(s) is at most tat_k, as this is the
// greatest of such sums over what the row contains; or s itself is later, and own(s)
// is nothing. If it was before the fold, what the row contains has brought at
// most base_k.tat + own, and again at most tat_k, and the others at most all that
// is unseen. Each is a term of the estimate, and late dates only raise it.
//
// # Why I13 holds
//
// A complete estimate is at least the true level of what is visible (I14), and so
// is the least of them. If V tokens are visible that were
// spent since some time t0, a Region that admits another at now therefore has
//
//	t0 + V*T <= global tat <= now + tau          V <= B + R*(now - t0)
//
// and all that was admitted is V and what it could not see yet, because of
// replication, cuts or forgiveness. That is not admitted again: it is visible
// later, and then part of V.
//
// The other side. The TAT of a row holds each token once, those from elsewhere as
// if they had come when they were folded, or earlier. The greatest TAT is there
// for what only that row knows yet. So the global TAT is never above that of a
// bucket that every token enters when it becomes visible; with one active Region,
// that is the plain bucket (I8).
//
// # Folding
//
// A Region folds when it charges: its TAT becomes the global one plus the charge,
// and Seen what it saw. The write is conditional on the row's Fold number, so two
// processes that computed the same fold cannot both write it (I10), while
// charges that fold nothing never conflict. The fold is the difference to the
// row's TAT as the process knows it. Charges in between do no harm, unless a peer
// has already folded them: so there is no Fold where a peer's Seen is ahead of
// own. Tokens handed back lower Spent; until it has passed what others saw, they
// see nothing new and charge nothing.
//
// A row's TAT may contain, by way of a third Region, tokens that are not visible
// in the row they come from. Rows that do see them keep the least estimate right;
// should every row miss others, some tokens are charged twice, once.
//
// Tokens handed back that had been folded elsewhere or are part of a Base stay
// there until the next fold; what is spent again is dated as the later spend.
//
// # Changes of limit
//
// A TAT means nothing without the limit that it was computed with, so a row says
// which that was, and of which version (Limit, Ver). Whoever meets a row of an older
// version brings it to the one in force: a Rescale, or a Charge, which does the same
// first. A charge of an older version than the row's is Outdated, and the row tells
// what to go by instead. Versions only have to grow.
//
// What becomes of the level is the Carry: see Carry.TAT for the formulas. It is
// carried over as of the time when the limit came into force (Since), or of the
// row's last charge under the old one if that came later; not of whoever notices.
// So the result does not depend on who does it and when, and a row that nobody
// touches for hours has been refilling at the new pace. A row that has missed
// several changes goes from the limit it knows to the newest at once.
//
// With u of B1 tokens used, and so r = B1-u left, the modes leave
//
//	Proportional   r * B2/B1, or r if that is below 0       <= r + max(0, B2-B1)
//	AsIs           min(r, B2)                               <= r
//	Additive       r + B2 - B1
//	a full bucket  B2                                        = r + B2 - B1
//	Reset          B2
//
// so that a change adds to what may be admitted at once no more than the burst was
// raised by, but for a Reset: I16. Time adds R, that of the limit in force.
//
// In several Regions some of what was spent before a change is seen after it. In
// the modes Proportional and Additive the change is the same for every TAT of the
// past: what lies x before or after it, lies x*tau2/tau1 before or after it then, or
// x*T2/T1. Read like that, the past of a bucket is one of a bucket under the new
// limit, whose tokens took
//
//	T1 * tau2/tau1 = T2 * B2/B1          (Proportional)
//	T1 * T2/T1     = T2                  (Additive)
//
// each. So a row keeps of the limit before (Prior) its burst, its depth, when it
// ended, and how many tokens were spent by then; Base is carried over like TAT; and
// an estimate takes such tokens at that price and that date. I14 then holds as
// before: this is I19. In the other modes tokens come or go by the change alone. The
// row is then as if it had just been folded, and what it has not seen comes on top,
// at T2 a token (AsIs) or for nothing (Reset).
//
// There is one exception. What is used beyond the burst is a debt, and a debt stays
// as many tokens as it was, whatever the new burst is. Of spend that comes to be
// seen late nobody can say how much of it was one, and at the price above it would
// grow with the burst: a raise would lock out who was overdrawn. So, but for
// Additive, whose price is by the token, it counts until the bucket was empty when
// its limit changed:
//
//	estimate(k) = min( as above, max( the same without what is late,
//	                                  change + tau2 + T2 * (all that was spent since) ))
//
// Until all Regions know of a change, each admits by the limit it knows, and its
// tokens are priced by that. What is admitted in all is then within
//
//	B at the first + all raises + the sum of R*t for the faster of the limits in force
//	+ for every change (regions-1) * (B + R * (replication + until the last knows))
//
// which is I18: the last line is what could not be seen, once for every change, as
// debts of that kind are not carried over a change.
//
// A version of 0 is none: there is no saying which of two limits is the newer, and a
// charge takes the TAT as it is. A row that does not say its limit, because it was
// written before rows did, is older than any, and keeps its TAT.
//
// # Clocks
//
// A peer's row from the future is read with all its times moved back by what its
// At is ahead, so that a fast clock does not lock others out; Global.Skew reports
// it. A row that has recorded own spend as seen before it was made has a clock
// that is behind. Between its times and those of own it would seem to have been
// refilling, so its estimate counts as not complete. What is left is what lag
// hides: at saturation up to some 12 % more than R, if a clock is about one lag off.
//
// # Concurrency
//
// All functions are pure; any number of goroutines may share a Limit. Who keeps
// a TAT in a store makes the write conditional: Charge.Apply is what it must do
// as one atomic step.
//
// # What it does not promise
//
// Fairness between callers of one bucket. Order: a small take may pass while a
// larger one waits. Sense, if clocks differ by more than tau: a caller whose
// clock is ahead sees the bucket fuller than it is.
//
// Across Regions, the bound I1: until Regions see each other's spend, each may
// admit what the bucket holds, so a burst may pass once in every Region, and
// while they are cut off from each other so may R. Nor is every admissible
// request admitted where tau is shorter than the time it takes to see spend: what
// comes late finds the room gone that it would have had, and what comes a second
// at a time is dated to the end of it.
//
// After a change, a level to the token: what is dated by the second is, times the
// new burst over the old, a second's part of the bucket. And a row goes back in its
// limits by one: what was spent before the last but one change and is still not seen
// is priced as if spent under the last.
//
// # Reading order
//
// limit.go, take.go, bucket.go; then row.go and charge.go for buckets in a
// store; then merge.go, view.go, estimate.go and fold.go for several Regions;
// then carry.go, rescale.go and prior.go for limits that change. Example shows a
// trace.
package bucket
