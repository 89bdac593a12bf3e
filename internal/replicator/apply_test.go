package replicator

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func img(n int) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"spent": number64(n)}
}

// TestTheStreamMayBeFasterThanTheAnswer shows the stream of a Region, while a
// write is being applied there, what may come of it.
func TestTheStreamMayBeFasterThanTheAnswer(t *testing.T) {
	foreign := change{write: write{item: "a", image: img(9), version: 3}, old: img(1)}
	echo := change{write: write{item: "a", image: img(9), version: 4}, old: img(1)}
	before := change{write: write{item: "a", image: img(2), version: 4}, old: img(1)}
	after := change{write: write{item: "a", image: img(10), version: 5}, old: img(9)}
	for name, c := range map[string]struct {
		heard            []change
		written, refused bool
		applied          bool
		writes           int   // of the Region's own
		version          int64 // of the item then
	}{
		"answered":               {[]change{echo}, true, false, true, 0, 3},
		"answered, then changed": {[]change{echo, after}, true, false, true, 1, 5},
		"changed before":         {[]change{before}, false, true, false, 1, 4},
		"no answer, done":        {[]change{echo, after}, false, false, true, 1, 5},
		"no answer, not done":    {nil, false, false, false, 0, 1},
		"no answer, changed":     {[]change{before}, false, false, false, 1, 4},
	} {
		r := &Replicator{moved: make(chan struct{})}
		reg := &region{items: map[string]*item{}}
		it := reg.item(foreign.write)
		it.version, it.image, it.busy = 1, img(1), true
		for _, h := range c.heard {
			r.hear(reg, h)
		}
		applied := r.settle(reg, it, foreign, c.written, c.refused)
		if applied != c.applied || r.stats.Writes != c.writes || it.version != c.version || len(it.echoes) > 0 || reg.held != 0 {
			t.Errorf("%s: applied %v, %d writes, version %d, %d echoes, %d held; want %v, %d, %d, none",
				name, applied, r.stats.Writes, it.version, len(it.echoes), reg.held, c.applied, c.writes, c.version)
		}
	}
}
