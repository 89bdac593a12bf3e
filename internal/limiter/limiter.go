// Package limiter decides whether a request may pass: from memory where it can,
// with one conditional write to a Store where it must.
//
// A process keeps, per bucket, what it knows: the row as last seen, tokens it has
// already charged (a lease, prepaid, so spending it can never over-admit) and the
// time before which another try is pointless (refusal memory, which may only
// refuse). No lock is held during I/O, and one process has one store call in
// flight per bucket; requests that arrive meanwhile share what it brings.
//
// Limits change while all of this goes on. A bucket is decided by the newest
// version of its limit that a Check or its row has said, whatever a goroutine
// still holds, and what was computed under the one before is carried over:
// inforce.go.
package limiter

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"weir/pkg/bucket"
)

// Check is one limit that a request must pass.
type Check struct {
	Name  string // of the limit, e.g. "api"
	Key   string // of the bucket
	Limit bucket.Limit
	Cost  int64 // tokens, >= 0

	// Ver is the version of Limit. Of two the larger is the newer, and what is in
	// force is the newest that a Check or the bucket's row has said: an older Check
	// is decided by that too. It is 0 for a limit whose bucket tenants of different
	// plans share: then each Check is decided by its own Limit.
	Ver   int64
	Carry bucket.Carry // what becomes of the level that the bucket had under an older version
	Since int64        // when Limit came into force, ns since the Unix epoch; 0 if not known

	Consistency Consistency
	Share       bool          // while other Regions cannot be heard, admit only this Region's share
	Hold        time.Duration // how long a request may wait for its token instead of being refused
	Initial     int64         // tokens that a process which never saw the bucket may spend before it charges them
	Mode        Mode
	OnError     OnError
}

// Mode says what becomes of a limit's refusals.
type Mode int

const (
	Enforce Mode = iota
	Shadow       // decide and count as if enforced, refuse nothing
	Off          // do not even count
)

// OnError says what becomes of a request while the store cannot tell.
type OnError int

const (
	Admit      OnError = iota // let it pass
	AdmitLocal                // hold this process to its part of the limit, by its own count
	Deny                      // refuse it
)

// Consistency says among whom a limit is one.
type Consistency int

const (
	Global   Consistency = iota // all Regions, merged: see bucket.Merge
	Regional                    // each Region by itself
	Strict                      // all Regions, exactly: one row in the strict store
)

// Result is what one Check came to.
type Result struct {
	Name       string
	Limit      bucket.Limit // that decided: the Check's, or that of a newer version
	Ver        int64        // newest that is known; above Check.Ver, the plan should be read again
	Allowed    bool
	FromMemory bool          // decided without the store
	Unknown    bool          // the store could not tell; Remaining is -1
	Mode       Mode          // of the Check: a Shadow that is not Allowed refuses nothing
	Remaining  int64         // whole tokens left; -1 if unknown
	Wait       time.Duration // until it would be allowed; 0 if it was, may be bucket.Never
	Full       time.Duration // until the bucket is full again
	Hold       time.Duration // that the request was held for its token
	Calls      int           // of the store, for this request
	Units      float64       // write units they were billed for
}

// Decision is the answer for a request: allowed only if every enforced Check
// allows it.
type Decision struct {
	Allowed  bool
	Results  []Result // in the order of the Checks
	Tightest int      // index into Results of the enforced one to report; -1 if there are none
}

// DefaultTimeout bounds the store work of one request.
const DefaultTimeout = 100 * time.Millisecond

// Options of a Limiter. The zero value is a single-Region limiter with defaults.
type Options struct {
	Timeout time.Duration  // of store work per request; DefaultTimeout if 0
	Rand    func() float64 // jitter in [0, 1); math/rand if nil

	Region  string        // this Region's name, as rows carry it
	Regions int           // how many Regions there are; up to 1, other rows are never read
	Grace   time.Duration // see bucket.Merge; DefaultGrace if 0
	Strict  Store         // of Strict limits; where nil they are Regional
	Serial  bool          // do everything on the calling goroutine, for simulation
	NoLease bool          // charge no more than requests ask for

	// MaxBuckets is how many buckets are kept in mind; DefaultMaxBuckets if 0.
	MaxBuckets int

	// Processes is how many processes serve, about, in all Regions: while the
	// store cannot tell, an AdmitLocal limit admits one part in Processes here.
	// DefaultProcesses if 0.
	Processes int64

	// Sleep holds a request for d, or until ctx is done; a timer if nil.
	Sleep func(ctx context.Context, d time.Duration) error
}

// DefaultProcesses is for Options.Processes.
const DefaultProcesses = 10

// DefaultGrace is four times the replication lag that is worth an alarm.
const DefaultGrace = 5 * time.Second

// Limiter decides against buckets kept in a Store. It is safe for concurrent use.
type Limiter struct {
	store     Store
	timeout   time.Duration
	rand      func() float64
	table     *table
	processes int64
	sleep     func(ctx context.Context, d time.Duration) error

	region        string
	regions       int
	grace         int64
	strict        Store
	serial        bool
	noLease       bool
	presence      *presence
	skew          atomic.Int64 // largest clock difference seen, ns
	units, wasted atomic.Int64 // write units; see Costs
}

// New returns a Limiter on store s.
func New(s Store, o Options) *Limiter {
	l := &Limiter{
		store: s, timeout: o.Timeout, rand: o.Rand, table: newTableOf(o.MaxBuckets, o.Regions),
		region: o.Region, regions: o.Regions, grace: int64(o.Grace), strict: o.Strict, serial: o.Serial, noLease: o.NoLease,
		presence: newPresence(), processes: o.Processes, sleep: o.Sleep,
	}
	if l.grace <= 0 {
		l.grace = int64(DefaultGrace)
	}
	if l.timeout <= 0 {
		l.timeout = DefaultTimeout
	}
	if l.processes <= 0 {
		l.processes = DefaultProcesses
	}
	if l.sleep == nil {
		l.sleep = sleep
	}
	if l.rand == nil {
		l.rand = rand.Float64
	}
	return l
}

// SkewSeen returns by how much another Region's clock was seen ahead of this
// one's, at most, since the process started.
func (l *Limiter) SkewSeen() time.Duration { return time.Duration(l.skew.Load()) }

// Decide decides a request at time now (ns since the Unix epoch). Tokens of a
// request that is refused stay with the process and are spent by the next one:
// a refusal charges no limit. It never fails: a store that cannot tell makes a
// Result Unknown.
func (l *Limiter) Decide(ctx context.Context, now int64, checks []Check) Decision {
	return l.DecideInto(ctx, now, checks, make([]Result, 0, len(checks)))
}

// DecideInto is Decide with the Results appended to buf[:0], so that a caller on
// the hot path need not allocate.
func (l *Limiter) DecideInto(ctx context.Context, now int64, checks []Check, buf []Result) Decision {
	results := buf[:0]
	asks, refused := 0, false
	most := int64(-1)
	for i := range checks {
		c := &checks[i]
		if c.Hold > 0 && most < 0 { // asked for once, and only if it matters
			most = l.longest(ctx, now)
		}
		results = append(results, Result{})
		verdict := l.local(now, c, &results[i], most)
		switch {
		case verdict == ask:
			asks++
		case verdict == refuse && c.Mode == Enforce:
			refused = true
		}
	}
	if asks > 0 && !refused {
		l.remote(ctx, now, checks, results, most)
		for i := range results {
			refused = refused || !results[i].Allowed && checks[i].Mode == Enforce
		}
	}
	if !refused && most >= 0 {
		refused = l.hold(ctx, results) != nil
	}
	if refused {
		l.handBack(now, checks, results)
	}
	return Decision{Allowed: !refused, Results: results, Tightest: tightest(results)}
}

// handBack returns the tokens that a refused request took from other limits.
func (l *Limiter) handBack(now int64, checks []Check, results []Result) {
	for i := range results {
		c, r := &checks[i], &results[i]
		if r.Allowed && !r.Unknown && c.Cost > 0 && c.Mode != Off && !r.Limit.IsUnlimited() {
			e := l.table.lock(c.Key, now)
			e.handBack(now, c, r)
			e.mu.Unlock()
		}
	}
}

// tightest returns the index of the enforced result to report: of refusals the
// one that lasts longest, else the one with the fewest tokens left. A limit
// nothing is known about counts as the tightest of those that allow.
func tightest(results []Result) int {
	best := -1
	for i := range results {
		r := &results[i]
		if r.Mode != Enforce {
			continue
		}
		if best < 0 || tighter(r, &results[best]) {
			best = i
		}
	}
	return best
}

func tighter(a, b *Result) bool {
	switch {
	case a.Allowed != b.Allowed:
		return !a.Allowed
	case !a.Allowed:
		return a.Wait > b.Wait
	}
	return a.Remaining < b.Remaining
}
