// Package streampump does for a table of a test engine what Lambda's event
// source mappings do in AWS: it reads the table's stream and calls a function
// with what it finds, batch by batch and in order.
//
// # What it keeps of an event source mapping
//
//   - Records that no filter matches are dropped before the function is called.
//     Filters are the patterns of FilterCriteria, so those of a template can be
//     given to it as they stand.
//   - One batch of a shard is under way at a time. Nothing later is delivered
//     before it has succeeded or been given up.
//   - With ReportBatchItemFailures the batch begins again at the lowest sequence
//     number reported, and what comes after it is delivered again too. An
//     identifier that is no sequence number of the batch fails all of it.
//   - An error of the function fails the whole batch. With
//     BisectBatchOnFunctionError it is split in two, which does not count as a
//     retry.
//   - After MaximumRetryAttempts, or once a record is older than
//     MaximumRecordAge, what is left of the batch goes to the on-failure
//     destination: its place in the stream, not its records.
//
// Where AWS does not say whether a batch that was cut short keeps the attempts it
// has used, it does here: the stricter reading for a function.
//
// The engine's streams have one shard, so there is one mapping without
// parallelization.
package streampump
