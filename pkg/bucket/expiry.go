package bucket

// MaxRegions is how many Regions may hold rows of one bucket, for Expiry.
const MaxRegions = 32

// Expiry returns when the row that c writes may be forgotten, in seconds since
// the Unix epoch: a day after the bucket is full again in every Region, whatever
// else happened in the others.
//
// A row's TAT is at most Now + tau once c is written. Regions that cannot see
// each other may together fill the bucket once each, and those spends are then
// repaid one after the other, so no level that contains this row's spend lasts
// beyond Now + MaxRegions*tau. The day is for clocks and for what replicates
// late.
func (c Charge) Expiry() int64 { return expiry(c.Now, c.Limit.tau) }

// expiry returns the expiry of a row whose TAT lies at most depth after now.
func expiry(now, depth int64) int64 {
	const second, day = 1_000_000_000, 24 * 60 * 60
	return now/second + 1 + MaxRegions*((depth-1)/second+1) + day
}
