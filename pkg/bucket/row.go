package bucket

// Row is one Region's item of one bucket. All times are ns since the Unix epoch.
// The zero Row is that of a Region that has never charged.
type Row struct {
	Region string
	TAT    int64             // this Region's view of the bucket
	Spent  int64             // tokens ever charged by this Region since Born
	At     int64             // time of this Region's last charge
	Epoch  Epoch             // start of the current epoch
	Epochs [EpochsKept]Epoch // the last of them, the current one too, by EpochSlot
	Seen   map[string]Seen   // what TAT contains of every other Region's spend
	Base   Base              // what TAT grew from since Seen was last replaced
	Fold   int64             // number of folds so far; guards Seen against concurrent folds
	Born   int64             // when the row was created
	Ver    int64             // version of the limit TAT was computed with
	Limit  Limit             // that limit; the zero Limit if the row does not say
	Prior  Prior             // the limit before
}

// Seen is how much of another Region's row has been folded into a TAT.
type Seen struct {
	Born  int64 // of the row that was folded
	Spent int64 // of the row that was folded
	At    int64 // of the row that was folded
}

// Prior is the limit that a row had before Limit, in as far as it matters for what
// was spent under it and others have yet to see: all tokens up to Spent. It is zero
// until the limit changes; Burst and Depth are zero if it had no rate.
type Prior struct {
	Burst int64 // tokens
	Depth int64 // time in which Burst refilled, ns
	At    int64 // when the limit changed
	Spent int64 // as it was then
}

// Base is a row's TAT and Spent right after its last fold: all that Seen stands
// for is in this TAT, and what the Region has spent up to this Spent. It is zero
// until the first fold or change of limit. Whoever changes a TAT by other means
// than a Charge sets Base to what the row is then.
type Base struct {
	TAT   int64
	Spent int64
}
