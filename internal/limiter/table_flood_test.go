package limiter

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"weir/pkg/bucket"
)

// heap returns the bytes of reachable objects.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what a finalizer or the first one's sweep held on to
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A flood of random keys neither grows the table nor costs an active bucket a
// token of its lease.
func TestFloodOfRandomKeys(t *testing.T) {
	flood := 5_000_000
	if testing.Short() || raceEnabled {
		flood = 120_000
	}
	const active = 1000
	before := heap()
	tab := newTableOf(DefaultMaxBuckets, 1)
	spent := [active]int64{}
	for i := range active {
		e := tab.lock(keyOf(i), t0)
		e.demand.add(t0, 1)
		e.credit, e.creditUntil = 1_000_000, t0+tSec
		e.mu.Unlock()
	}
	rng := rand.New(rand.NewPCG(1, 2))
	key := make([]byte, 0, 32)
	for i := range flood {
		now := t0 + int64(i)*(tSec-1)/int64(flood)
		key = strconv.AppendUint(strconv.AppendUint(key[:0], rng.Uint64(), 36), rng.Uint64(), 36)
		if _, kept := use(tab, string(key), now); !kept {
			t.Fatalf("key %d of the flood not kept, although 99 of 100 entries are idle", i)
		}
		if k := i % (7 * active); k < active {
			e := tab.lock(keyOf(k), now)
			e.credit--
			spent[k]++
			e.mu.Unlock()
			if e.temp {
				t.Fatalf("active bucket %d not kept", k)
			}
		}
	}
	checkTable(t, tab)
	if n := tab.size.Load(); n != min(DefaultMaxBuckets, int64(flood+active)) {
		t.Errorf("%d buckets after the flood, want %d", n, DefaultMaxBuckets)
	}
	for i := range active {
		e := tab.lock(keyOf(i), t0)
		if e.credit != 1_000_000-spent[i] {
			t.Errorf("bucket %d: lease of %d after %d were spent of a million", i, e.credit, spent[i])
		}
		e.mu.Unlock()
	}
	t.Logf("%d bytes a bucket at the end of a flood within a second", (heap()-before)/tab.size.Load())
	runtime.KeepAlive(tab)
}

// forgetful is a Store that keeps the rows of buckets whose key has the prefix,
// and makes up what it says of others. In Regions other than the first, nobody
// is active.
type forgetful struct {
	prefix  string
	regions []string

	mu   sync.Mutex
	rows map[string]bucket.Row
	gone bool // it cannot tell
}

func (s *forgetful) Charge(_ context.Context, key string, c bucket.Charge) (bucket.Outcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return bucket.Outcome{}, ErrUnavailable
	}
	row, found := s.rows[key]
	row.Region = s.regions[0]
	row, status := c.Apply(row, found)
	if strings.HasPrefix(key, s.prefix) {
		s.rows[key] = row
	}
	return bucket.Outcome{Status: status, Row: row, Calls: 1, Units: 1}, nil
}

func (s *forgetful) Rows(_ context.Context, _ string) ([]bucket.Row, error) {
	var out []bucket.Row
	for _, r := range s.regions[1:] {
		row := bucket.Row{Region: r, TAT: 1, Spent: 1, At: 1, Born: 1, Epoch: bucket.Epoch{Start: 1}, Seen: map[string]bucket.Seen{}}
		for _, m := range s.regions {
			if m != r {
				row.Seen[m] = bucket.Seen{Born: 1, Spent: 1, At: 1}
			}
		}
		out = append(out, row)
	}
	return out, nil
}

// Through a flood of random keys an active bucket admits exactly its burst: no
// lease is lost, none is spent twice.
func TestFloodLeavesAdmissionExact(t *testing.T) {
	const burst, clients = 5000, 4
	flood := 200_000
	if testing.Short() || raceEnabled {
		flood = 8_000
	}
	store := &forgetful{prefix: "active", regions: []string{"a"}, rows: map[string]bucket.Row{}}
	l := New(store, Options{Region: "a", Timeout: time.Minute, MaxBuckets: 1000})
	slow, err := bucket.NewLimit(bucket.Rate{Count: 1, Period: time.Hour}, burst)
	if err != nil {
		t.Fatal(err)
	}
	var admitted, done atomic.Int64
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			c := []Check{{Name: "active", Key: "active|acme", Limit: slow, Cost: 1}}
			for range burst {
				if l.Decide(context.Background(), t0, c).Allowed {
					admitted.Add(1)
				}
			}
		})
		wg.Go(func() {
			limit := perSecond(t, 100)
			for i := range flood / clients {
				now := t0 + int64(i)*tSec/int64(flood)
				l.Decide(context.Background(), now, []Check{{Name: "flood", Key: keyOf(rand.Int()), Limit: limit, Cost: 1}})
			}
			done.Add(1)
		})
	}
	wg.Wait()
	c := []Check{{Name: "active", Key: "active|acme", Limit: slow, Cost: 1}}
	for i := range int64(100) { // what leases still hold, and the store
		if l.Decide(context.Background(), t0+i*tSec, c).Allowed {
			admitted.Add(1)
		}
	}
	if admitted.Load() != burst {
		t.Errorf("%d admitted, want %d", admitted.Load(), burst)
	}
	checkTable(t, l.table)
}

// What a bucket that is not kept is let do is what the store says, or nothing.
func TestFullTableAdmitsNothingUncounted(t *testing.T) {
	store := &forgetful{prefix: "", regions: []string{"a"}, rows: map[string]bucket.Row{}}
	l := New(store, Options{Region: "a", Timeout: time.Minute, MaxBuckets: 1})
	e := l.table.lock("lease", t0)
	e.demand.add(t0, 1)
	e.credit, e.creditUntil = 1, tLater
	e.mu.Unlock()

	slow, err := bucket.NewLimit(bucket.Rate{Count: 5, Period: time.Hour}, 5)
	if err != nil {
		t.Fatal(err)
	}
	admitted := func(key string) (n int) {
		c := []Check{{Name: "api", Key: key, Limit: slow, Cost: 1, Initial: 5, OnError: AdmitLocal}}
		for range 50 {
			if l.Decide(context.Background(), t0, c).Allowed {
				n++
			}
		}
		return n
	}
	if n := admitted("first tokens"); n != 5 {
		t.Errorf("%d admitted of a burst of 5", n)
	}
	store.gone = true
	if n := admitted("own count"); n != 0 {
		t.Errorf("%d admitted while nobody counts", n)
	}
}

// 100,000 buckets in 32 MiB, at the pace of a thousand new ones a second or all at
// once.
func TestMemoryOfManyBuckets(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector changes what objects weigh")
	}
	const buckets, most = DefaultMaxBuckets, 32 << 20
	names := []string{"eu-central-1", "us-east-1", "ap-northeast-1", "eu-west-1", "us-west-2"}
	for _, tt := range []struct {
		regions int
		apart   time.Duration
	}{
		{1, time.Millisecond},
		{1, 0},
		{3, time.Millisecond},
		{2, 0},
		{5, 0},
	} {
		t.Run(fmt.Sprintf("%d Regions, %v apart", tt.regions, tt.apart), func(t *testing.T) {
			regions := names[:tt.regions]
			before := heap()
			l := New(&forgetful{prefix: "-", regions: regions}, Options{Region: regions[0], Regions: tt.regions, Serial: true})
			limit := perSecond(t, 100)
			for i := range buckets {
				now := t0 + int64(i)*int64(tt.apart)
				l.Decide(context.Background(), now, []Check{{Name: "api", Key: keyOf(i), Limit: limit, Cost: 1}})
			}
			grown := heap() - before
			t.Logf("%d bytes a bucket; %.1f MiB; %d entries", grown/buckets, float64(grown)/(1<<20), l.table.entries.Load())
			if grown > most {
				t.Errorf("%d buckets take %.1f MiB, want up to 32", buckets, float64(grown)/(1<<20))
			}
			if n := l.table.size.Load(); n != buckets {
				t.Errorf("%d of %d buckets kept", n, buckets)
			}
			runtime.KeepAlive(l)
		})
	}
	t.Logf("node %d, entry %d (of which Row %d, Limit %d), peers %d bytes", unsafe.Sizeof(node{}), unsafe.Sizeof(entry{}),
		unsafe.Sizeof(bucket.Row{}), unsafe.Sizeof(bucket.Limit{}), unsafe.Sizeof(peers{}))
}
