package sim

import (
	"context"

	"weir/pkg/bucket"
)

// prealloc is how many tokens a process is given at a time under Prealloc.
const prealloc = 20

// allocate charges a block for a process, if the bucket holds one.
func (r *region) allocate(p *process, at int64) {
	inc, _ := r.w.stages[0].limit.Charge(prealloc, 0)
	out, err := (*counted)(r).Charge(context.Background(), key, bucket.Charge{
		Limit: r.w.stages[0].limit, Now: Start + at + r.skew, Tokens: prealloc, Inc: inc,
	})
	if err == nil && out.Status == bucket.Charged {
		p.block = prealloc
	}
}

// spend serves a request from a process's block.
func (r *region) spend(p *process, at int64) bool {
	if p.block == 0 {
		r.allocate(p, at)
	}
	if p.block == 0 {
		return false
	}
	p.block--
	return true
}
