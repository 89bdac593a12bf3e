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
// # Reading order
//
// limit.go, take.go, bucket.go; then row.go and charge.go for buckets in a
// store. Example shows a trace.
package bucket
