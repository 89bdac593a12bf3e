package limiter

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"weir/pkg/bucket"
)

const (
	t0     = int64(1_800_000_000_000_000_000)
	tSec   = int64(time.Second)
	tLater = t0 + 3600*tSec
	quiet  = t0 + (quietSlots+1)*demandSlot // for a bucket last used at t0
)

func perSecond(t *testing.T, n int64) bucket.Limit {
	t.Helper()
	l, err := bucket.NewLimit(bucket.Rate{Count: n, Period: time.Second}, n)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func keyOf(i int) string { return fmt.Sprintf("api|tenant-%08d:%06d", i, i) }

// use does what a request does first: it asks for a token of a bucket.
func use(t *table, key string, now int64) (*entry, bool) {
	e := t.lock(key, now)
	e.demand.add(now, 1)
	e.mu.Unlock()
	return e, !e.temp
}

func touch(t *table, key string, now int64) *entry {
	e, _ := use(t, key, now)
	return e
}

// checkTable fails unless t is what it should be: every node is found, and they
// are as many as t says and no more than it may have.
func checkTable(t *testing.T, tab *table) {
	t.Helper()
	n, entries := 0, 0
	for i := range tab.shards {
		s := &tab.shards[i]
		s.mu.Lock()
		held := 0
		if all := s.slots.Load(); all != nil {
			for j := range *all {
				if node := (*all)[j].Load(); node != nil {
					held++
					if node.entry.Load() != nil {
						entries++
					}
					if all.find(node.hash, node.key) != node {
						t.Errorf("shard %d holds %q, but does not find it", i, node.key)
					}
				}
			}
		}
		if held != s.n {
			t.Errorf("shard %d holds %d nodes and counts %d", i, held, s.n)
		}
		n += held
		s.mu.Unlock()
	}
	if size := tab.size.Load(); int64(n) != size || size > tab.max {
		t.Errorf("%d nodes, size %d, at most %d", n, size, tab.max)
	}
	if count := tab.entries.Load(); int64(entries) != count || count > tab.most {
		t.Errorf("%d entries, counted %d, at most %d", entries, count, tab.most)
	}
}

// A table that is large enough has one entry for each key, for good.
func TestTableHasOneEntryPerKey(t *testing.T) {
	tab := newTableOf(50_000, 1)
	want := map[string]*entry{}
	for i := range 20_000 {
		want[keyOf(i)] = touch(tab, keyOf(i), t0)
	}
	checkTable(t, tab)
	seen := map[*entry]bool{}
	for key, e := range want {
		got := tab.lock(key, t0)
		got.mu.Unlock()
		if got != e || e.temp {
			t.Fatalf("%q has another entry now (temp %v)", key, got.temp)
		}
		if seen[e] {
			t.Fatalf("%q shares its entry", key)
		}
		seen[e] = true
	}
}

// Small tables too hold as many as they may, wherever the keys fall.
func TestTableIsFullOnlyWhenItIs(t *testing.T) {
	for _, most := range []int{1, 2, 3, 10, 100, 1000} {
		tab := newTableOf(most, 1)
		for i := range 20 * most {
			if _, kept := use(tab, keyOf(i), t0); !kept {
				t.Fatalf("at most %d: key %d not kept although all others are idle", most, i)
			}
			if want := int64(min(i+1, most)); tab.size.Load() != want {
				t.Fatalf("at most %d: %d nodes after %d keys, want %d", most, tab.size.Load(), i+1, want)
			}
		}
		checkTable(t, tab)
	}
}

// What an entry may not be forgotten for, and from when on it may.
func TestTableKeepsWhatIsNotIdle(t *testing.T) {
	for _, tt := range []struct {
		name    string
		set     func(*entry)
		free    int64        // from when on it may go
		release func(*entry) // what must be done then; nil if time is enough
	}{
		{"a lease", func(e *entry) { e.credit, e.creditUntil = 5, t0+tSec }, t0 + tSec, nil},
		{"a refusal", func(e *entry) { e.denyUntil = t0 + tSec }, t0 + tSec, nil},
		{"first tokens", func(e *entry) { e.first, e.limit = 2, intern(perSecond(t, 1)) }, t0 + 2*tSec, nil},
		{"many first tokens", func(e *entry) { e.first, e.limit = 3600, intern(perSecond(t, 1)) }, quiet, nil},
		{"its own count", func(e *entry) { e.offline = t0 + tSec }, t0 + tSec, nil},
		{"its own count of a slow limit", func(e *entry) { e.offline = tLater }, quiet, nil},
		{"a call", func(e *entry) { e.busy = true }, tLater, func(e *entry) { e.busy = false }},
		{"waiters", func(e *entry) { e.queue = []*waiter{{}} }, tLater, func(e *entry) { e.queue = nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const most = 100
			tab := newTableOf(most, 1)
			e := tab.lock("it", t0)
			e.demand.add(t0, 1)
			tt.set(e)
			e.mu.Unlock()
			flood := func(now int64) {
				for i := range 20 * most {
					if _, kept := use(tab, keyOf(rand.Int()), now); !kept {
						t.Fatalf("newcomer %d not kept, but only one entry is active", i)
					}
				}
			}
			flood(tt.free - 1)
			if got := tab.lock("it", tt.free-1); got != e {
				t.Fatal("forgotten in a flood")
			}
			e.mu.Unlock()
			if tt.release != nil {
				e.mu.Lock()
				tt.release(e)
				e.mu.Unlock()
			}
			flood(tt.free)
			if touch(tab, "it", tt.free) == e {
				t.Error("kept in a flood although it is idle")
			}
			checkTable(t, tab)
		})
	}
}

// An entry that somebody has locked is in use, whatever is in it.
func TestTableKeepsWhatIsLocked(t *testing.T) {
	tab := newTableOf(10, 1)
	e := tab.lock("it", t0)
	for i := range 1000 {
		touch(tab, keyOf(i), tLater)
	}
	e.mu.Unlock()
	if got := touch(tab, "it", tLater); got != e {
		t.Error("forgotten while it was locked")
	}
}

// If nothing may go, the newcomer is not kept, and nothing else changes.
func TestTableFullOfActiveEntries(t *testing.T) {
	const most = 200
	tab := newTableOf(most, 1)
	all := map[string]*entry{}
	for i := range most {
		e := tab.lock(keyOf(i), t0)
		e.credit, e.creditUntil = 1, t0+tSec
		e.mu.Unlock()
		all[keyOf(i)] = e
	}
	first, kept := use(tab, "new", t0)
	second, kept2 := use(tab, "new", t0)
	if kept || kept2 || first == second {
		t.Errorf("kept %v and %v, same entry %v: want two entries that are not kept", kept, kept2, first == second)
	}
	if n := tab.overflow.Load(); n != 2 {
		t.Errorf("%d counted as not kept, want 2", n)
	}
	for key, e := range all {
		if touch(tab, key, t0) != e {
			t.Fatalf("%q was forgotten", key)
		}
	}
	checkTable(t, tab)
	if _, kept := use(tab, "new", t0+tSec); !kept {
		t.Error("not kept after the leases ran out")
	}
}

// With several Regions entries are heavy, and there are fewer than buckets.
func TestTableHasFewerEntriesThanBuckets(t *testing.T) {
	const most = 20_000
	tab := newTableOf(most, 3)
	if tab.most >= most/3 || newTableOf(most, 1).most != most*2/5 || newTableOf(100, 3).most != 100 {
		t.Fatalf("%d entries of %d buckets", tab.most, most)
	}
	for i := range most { // all idle
		if _, kept := use(tab, keyOf(i), t0); !kept {
			t.Fatalf("bucket %d not kept, although the others are idle", i)
		}
	}
	checkTable(t, tab)
	if n := tab.size.Load(); n != most {
		t.Errorf("%d buckets, want %d", n, most)
	}
	lease := func(key string) (*entry, bool) {
		e := tab.lock(key, t0)
		e.demand.add(t0, 1)
		e.credit, e.creditUntil = 1, t0+tSec
		e.mu.Unlock()
		return e, !e.temp
	}
	held, refused := map[string]*entry{}, 0
	for i := range 2 * int(tab.most) {
		if e, kept := lease(keyOf(i)); kept {
			held[keyOf(i)] = e
		} else {
			refused++
		}
	}
	if len(held) < int(tab.most)*9/10 || refused < int(tab.most) {
		t.Errorf("%d leases held and %d not kept with room for %d", len(held), refused, tab.most)
	}
	for key, e := range held {
		if touch(tab, key, t0) != e {
			t.Fatalf("%q lost its lease", key)
		}
	}
	checkTable(t, tab)
	if _, kept := use(tab, "new", t0+tSec); !kept {
		t.Error("not kept after the leases ran out")
	}
	checkTable(t, tab)
}

// Buckets in use outlive a flood of keys that come once.
func TestTableResistsScans(t *testing.T) {
	const most, hot = 1000, 200
	tab := newTableOf(most, 1)
	want := make([]*entry, hot)
	for i := range want {
		want[i] = touch(tab, keyOf(-i-1), t0)
		touch(tab, keyOf(-i-1), t0)
	}
	lost := 0
	for i := range 30 * most {
		touch(tab, keyOf(i), t0)
		if j := i % (hot * 2); j < hot { // each twice while the flood fills the table
			if e := touch(tab, keyOf(-j-1), t0); e != want[j] {
				want[j] = e
				lost++
			}
		}
	}
	if requests := 30 * most / 2; lost > requests/20 { // first in, first out: two in five
		t.Errorf("hot buckets were forgotten %d times in %d requests for them", lost, requests)
	}
}

// A dormant entry is dropped, and what its tat was is remembered.
func TestTableDropsWhatIsDormant(t *testing.T) {
	tab := newTableOf(25_000, 1)
	e := tab.lock("it", t0)
	e.demand.add(t0, 1)
	e.tat, e.credit, e.creditUntil = 42, 3, t0+tSec
	e.mu.Unlock()
	sweepAll := func(now int64) {
		for range 4096 {
			touch(tab, keyOf(rand.Int()), now)
		}
	}
	sweepAll(t0)
	at := func(now int64) *entry { // looks without asking
		e := tab.lock("it", now)
		e.mu.Unlock()
		return e
	}
	sweepAll(quiet - 1)
	if at(quiet-1) != e {
		t.Fatal("dropped before it was dormant")
	}
	now := quiet + demandSlot // it was looked at a moment ago
	sweepAll(now)
	got := at(now)
	if got == e || got.tat != 42 || got.credit != 0 {
		t.Errorf("same entry %v, tat %d, credit %d; want another that knows the tat", got == e, got.tat, got.credit)
	}
	checkTable(t, tab)
}

// A process that has few buckets forgets nothing about them.
func TestTableLeavesFewEntriesAlone(t *testing.T) {
	tab := newTableOf(DefaultMaxBuckets, 3)
	var all [fewEntries]*entry
	for i := range all {
		all[i] = touch(tab, keyOf(i), t0+int64(i)*tSec)
	}
	for i, e := range all {
		if touch(tab, keyOf(i), tLater) != e {
			t.Fatalf("bucket %d of %d was dropped", i, len(all))
		}
	}
}

// What requests owe is not forgotten by the passing of time alone.
func TestTableKeepsWhatIsOwed(t *testing.T) {
	tab := newTableOf(25_000, 1)
	set := func(key string, f func(*entry)) *entry {
		e := tab.lock(key, t0)
		e.demand.add(t0, 1)
		f(e)
		e.mu.Unlock()
		return e
	}
	want := map[string]*entry{
		"first":   set("first", func(e *entry) { e.first, e.limit = 3600, intern(perSecond(t, 1)) }),
		"offline": set("offline", func(e *entry) { e.offline = t0 + 3600*tSec }),
	}
	for i := range 8192 {
		touch(tab, keyOf(i), t0+3599*tSec)
	}
	for key, e := range want {
		if got := tab.lock(key, t0); got != e {
			t.Errorf("%s: dropped", key)
		} else {
			e.mu.Unlock()
		}
	}
}

// What can never be charged is no reason to keep a bucket.
func TestNothingIsOwedAtRateZero(t *testing.T) {
	e := newEntry(0)
	e.first = 3
	if e.owes(t0) {
		t.Error("owed under a limit that admits nothing")
	}
	if e.limit = intern(perSecond(t, 1)); !e.owes(tSec) {
		t.Error("not owed under a limit that does")
	}
}

// Many goroutines on few keys of a table that is too small: nobody has the entry
// of a key while somebody else has another one of it.
func TestTableGivesOutOneEntryAtATime(t *testing.T) {
	const keys, most = 60, 20
	tab := newTableOf(most, 1)
	var owner [keys]sync.Mutex
	var tokens [keys]int64 // in the key's lease; owner is held
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(g)))
			for range 10_000 {
				k := rng.IntN(keys)
				e := tab.lock(keyOf(k), t0)
				if !e.temp {
					if !owner[k].TryLock() {
						t.Errorf("two entries of key %d", k)
						e.mu.Unlock()
						return
					}
					if e.credit != tokens[k] {
						t.Errorf("key %d: lease of %d, want %d", k, e.credit, tokens[k])
					}
					e.credit, e.creditUntil = rng.Int64N(2), t0+tSec // half are idle
					tokens[k] = e.credit
					owner[k].Unlock()
				}
				e.mu.Unlock()
			}
		})
	}
	wg.Wait()
	checkTable(t, tab)
}
