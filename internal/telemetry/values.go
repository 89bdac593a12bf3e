package telemetry

import "math/bits"

// Values of a distribution are kept in buckets, four to an octave: what is
// reported of a value is within an eighth of it, and exact below 8.
const (
	bucketsPerOctave = 4
	buckets          = 96 // EMF takes 100 values at most; the last begins at 29,360,128
)

// values is a distribution of whole numbers.
type values struct {
	counts   [buckets]uint64
	n        uint64
	sum      int64
	min, max int64 // of those that are there
}

func (v *values) add(x int64) {
	x = max(x, 0)
	v.counts[bucketOf(x)]++
	if v.n == 0 || x < v.min {
		v.min = x
	}
	v.max = max(v.max, x)
	v.sum += x
	v.n++
}

// merge adds what o holds.
func (v *values) merge(o *values) {
	if o.n == 0 {
		return
	}
	for i, n := range o.counts {
		v.counts[i] += n
	}
	if v.n == 0 || o.min < v.min {
		v.min = o.min
	}
	v.max = max(v.max, o.max)
	v.sum += o.sum
	v.n += o.n
}

// quantile returns the value below or at which a fraction q of all are, 0 if there
// are none.
func (v *values) quantile(q float64) int64 {
	rank := uint64(q*float64(v.n) + 0.5)
	for i, n := range v.counts {
		if n > 0 && rank <= n {
			return v.value(i)
		}
		rank -= min(n, rank)
	}
	return v.max
}

// value returns what stands for the values of a bucket: its middle, but nothing
// that lies beyond all of them.
func (v *values) value(bucket int) int64 { return min(max(middleOf(bucket), v.min), v.max) }

func bucketOf(x int64) int {
	if x < bucketsPerOctave {
		return int(x)
	}
	octave := bits.Len64(uint64(x)) - 1 //nolint:gosec // x >= 4
	i := (octave-1)*bucketsPerOctave + int(x>>(octave-2))&(bucketsPerOctave-1)
	return min(i, buckets-1)
}

func middleOf(bucket int) int64 {
	if bucket < 2*bucketsPerOctave {
		return int64(bucket)
	}
	octave, part := bucket/bucketsPerOctave+1, bucket%bucketsPerOctave
	width := int64(1) << (octave - 2)
	return (bucketsPerOctave+int64(part))*width + width/2
}
