package telemetry

import "hash/maphash"

const (
	// maxTenants is how many tenants a stripe keeps an eye on.
	maxTenants = 64

	// indexSize is the size of the index to them; a power of two.
	indexSize = 4 * maxTenants
)

// tenant is one that is kept an eye on.
type tenant struct {
	id     string
	recent [2]*series // that its decisions were counted in last
	hash   uint64
	rank   uint64 // space-saving: how often it was seen, at most, in this interval and, halved for each, those before

	// Since it was taken in, and in this interval.
	counts [outcomes]uint64
}

// tenants are the busiest, and the sum of all others. What is counted of them and
// of the others is exact in sum: who gives way is added to the others.
type tenants struct {
	seed   maphash.Seed
	index  [indexSize]uint8 // by hash, open-addressed: 1 more than the place in all; 0 if free
	all    []tenant         // in no order; at most maxTenants
	others [outcomes]uint64

	// The search for who has the lowest rank: of those before cursor none has.
	lowest uint64
	cursor int
}

func newTenants() tenants {
	return tenants{seed: maphash.MakeSeed(), all: make([]tenant, 0, maxTenants)}
}

// of returns the entry of a tenant, taking the place of the least busy one if
// there is none left. The newcomer inherits its rank, as it may have been seen as
// often before.
func (t *tenants) of(id string) *tenant {
	h := maphash.String(t.seed, id)
	i := h % indexSize
	for t.index[i] != 0 {
		if x := &t.all[t.index[i]-1]; x.id == id {
			return x
		}
		i = (i + 1) % indexSize
	}
	if len(t.all) < maxTenants {
		t.all = append(t.all, tenant{id: id, hash: h})
		t.index[i] = uint8(len(t.all)) //nolint:gosec // at most maxTenants
		return &t.all[len(t.all)-1]
	}
	place := t.leastBusy()
	x := &t.all[place]
	for o, n := range x.counts {
		t.others[o] += n
	}
	t.unindex(x.hash, uint8(place+1)) //nolint:gosec // at most maxTenants
	x.id, x.hash, x.counts = id, h, [outcomes]uint64{}
	for i = h % indexSize; t.index[i] != 0; {
		i = (i + 1) % indexSize
	}
	t.index[i] = uint8(place + 1) //nolint:gosec // at most maxTenants
	return x
}

// unindex takes an entry out of the index and closes the gap, so that a search
// never meets one.
func (t *tenants) unindex(hash uint64, entry uint8) {
	i := hash % indexSize
	for t.index[i] != entry {
		i = (i + 1) % indexSize
	}
	for j := i; ; {
		j = (j + 1) % indexSize
		if t.index[j] == 0 {
			break
		}
		home := t.all[t.index[j]-1].hash % indexSize
		if (j-home)%indexSize >= (j-i)%indexSize { // it may move up to the gap
			t.index[i] = t.index[j]
			i = j
		}
	}
	t.index[i] = 0
}

// leastBusy returns the place of an entry of the lowest rank. Ranks only rise, so
// one pass finds all that have it: a flood of tenants that come once costs a step
// each.
func (t *tenants) leastBusy() int {
	for {
		for ; t.cursor < len(t.all); t.cursor++ {
			if t.all[t.cursor].rank <= t.lowest {
				return t.cursor // looked at again: its rank is about to rise
			}
		}
		t.cursor, t.lowest = 0, t.all[0].rank
		for i := range t.all {
			t.lowest = min(t.lowest, t.all[i].rank)
		}
	}
}

// age begins an interval: what was counted is forgotten and ranks are halved, so
// that the tenants who are busy now take over from those who were.
func (t *tenants) age() {
	for i := range t.all {
		x := &t.all[i]
		x.counts = [outcomes]uint64{}
		x.rank /= 2
	}
	t.others = [outcomes]uint64{}
	t.lowest, t.cursor = 0, 0
}
