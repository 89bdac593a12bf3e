package bucket

// EpochLength is how long an epoch lasts at least: a charge later than that
// after the last Start opens a new one.
const EpochLength = int64(1_000_000_000)

// EpochsKept is how many epochs a row remembers.
const EpochsKept = 4

// Epoch dates spend: Spent was the row's Spent when the epoch opened at Start,
// so all up to it was spent by then. The zero Epoch dates nothing.
type Epoch struct {
	Start int64
	Spent int64
}

// EpochSlot returns which of a row's Epochs an epoch is that starts at the given
// time. It follows from the time alone, so processes agree on it without reading
// the row, and no two epochs within EpochsKept-1 times EpochLength share one.
func EpochSlot(start int64) int {
	return int(uint64(start/EpochLength) % EpochsKept)
}
