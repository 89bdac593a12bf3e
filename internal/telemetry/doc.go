// Package telemetry accounts for every decision at a bounded cost: metrics in
// CloudWatch's embedded format (EMF), refusals in the log, by sample, and an
// interface for traces.
//
// # The way of a decision
//
//	authorizer -> Observer.Answered
//	    -> Recorder     counts it: stripe.go, series.go, tenants.go, values.go
//	    -> refusals     logs it, if it is a refusal and one of the sample
//	    -> Span         annotates its trace, if it is sampled (package xray)
//
// Counting takes one uncontended lock and no allocation. Nothing is written on
// the way: what was counted goes out in lines, once a [Options.Interval].
//
// # When lines are written
//
// Lambda freezes a process between requests, so there is no ticker. The clock is
// cut into intervals, aligned as CloudWatch's minutes are. The first decision of a
// new interval closes the one before, and a goroutine writes it, in one call,
// while the request goes on: a standard output that blocks holds up nobody. Each
// line bears the time of the last decision in it, so what happened before a freeze
// of an hour is not counted as happening after it.
//
// Three things bring the lines forward, to a second after the last ones at the
// soonest: many decisions ([Options.MostDecisions]); a store that stops answering,
// or answers again; the first unexpected error of an interval. On SIGTERM,
// [Recorder.Flush] writes what is left. A process that is killed without one loses
// an interval.
//
// # What is bounded
//
//	lines an interval        plans x limits x outcomes, at most maxSeries pairs; tenants; a few more
//	tenants by name          the busiest, Options.Tenants of them; twice as many an hour
//	memory                   a few hundred KiB, whatever comes
//
// What is not listed by itself is counted under [metric.Other]: sums are exact by
// every dimension. The tenants are kept by space-saving (Metwally et al. 2005): one
// with more than 1/64 of the decisions is always among them. One that was taken in
// later is counted from then on, and as other before.
package telemetry
