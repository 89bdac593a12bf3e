// Package replicator does for the tables of a test engine what DynamoDB global
// tables do in AWS: it carries every write of a table in one Region to the
// tables of that name in the others. Lag, jitter, coalescing and cuts are the
// test's to choose.
//
// # What it keeps of multi-Region eventual consistency
//
//   - Items replicate one by one, as whole images, deletes too; in order for one
//     item on one link, in no order otherwise.
//   - The version of an item that was written last wins, whole. What the others
//     wrote is lost without a word: nobody who wrote it gets an error.
//   - Several writes of an item in a short time may become one replicated write:
//     within Coalesce, while a link is cut, or where the later has the shorter lag.
//   - A replicated write is in its target's stream like any other, and is not
//     replicated again.
//
// # Which write is the last
//
// MiniStack numbers the writes of all tables and Regions from one counter, in
// the order it makes them, and puts their time in ms before it. The counter is
// the internal timestamp here: clocks in perfect agreement, as close as an
// engine comes to the atomic clocks of AWS. Neither a record's creation time,
// which has whole seconds, nor a time that the writer put into the item would
// do: the first cannot tell, the second is only as right as the writer's clock.
//
// # How a write is applied
//
// By a conditional put or delete that requires the target's item to be what the
// target's stream last said it was. If it is not, the target has a write of its
// own that has not been read yet: the replicator reads it, and compares again.
// So a local write is never replaced by an older one, however close they are.
// (Writes that take an item away from an image and back to the very same within
// one reading go unnoticed. Weir's rows count upwards; they cannot.)
//
// The engine's own replication must be off: tables are created in each Region by
// themselves, with a stream of new images, and not joined to a global table.
package replicator

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Options of a Replicator.
type Options struct {
	Endpoint string   // of the engine
	Table    string   // name of the table in every Region
	Regions  []string // two or more

	Lag      time.Duration // mean, from a write to its replicas
	Jitter   float64       // lags are uniform in Lag * (1 ± Jitter); 0 to 1
	Coalesce time.Duration // later writes of an item within this join its first, if that is still on its way
	Poll     time.Duration // how often streams are read; DefaultPoll if 0
	Seed     uint64        // of the jitter
}

// DefaultPoll is how often a stream is read that has nothing new.
const DefaultPoll = 50 * time.Millisecond

// Link is one direction between two Regions.
type Link struct{ From, To string }

// Replicator replicates one table. Its methods are safe for concurrent use.
type Replicator struct {
	o       Options
	regions map[string]*region
	links   map[Link]*link

	mu    sync.Mutex
	stats Stats
	rand  *rand.Rand
	moved chan struct{} // closed and replaced whenever a wait may be over
}

// New prepares the replication of a table that exists in every Region. It
// begins, once Run is called, with what was written first.
func New(ctx context.Context, o Options) (*Replicator, error) {
	if o.Poll <= 0 {
		o.Poll = DefaultPoll
	}
	switch {
	case len(o.Regions) < 2:
		return nil, fmt.Errorf("replicator: %d Regions: name two or more", len(o.Regions))
	case o.Jitter < 0 || o.Jitter > 1:
		return nil, fmt.Errorf("replicator: jitter %v: want 0 to 1", o.Jitter)
	}
	r := &Replicator{
		o: o, regions: map[string]*region{}, links: map[Link]*link{},
		rand: rand.New(rand.NewPCG(o.Seed, 3)), moved: make(chan struct{}),
	}
	for _, name := range o.Regions {
		reg, err := r.open(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("replicator: table %s in %s: %w", o.Table, name, err)
		}
		r.regions[name] = reg
	}
	for _, from := range o.Regions {
		for _, to := range o.Regions {
			if from != to {
				l := Link{From: from, To: to}
				r.links[l] = r.newLink(l)
			}
		}
	}
	return r, nil
}

// Run replicates until ctx is over, and then returns nil. It returns an error if
// a stream can no longer be read or a write cannot be applied.
func (r *Replicator) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	start := func(f func(context.Context) error) {
		wg.Go(func() {
			if err := f(ctx); err != nil && ctx.Err() == nil {
				cancel(err)
			}
		})
	}
	for _, reg := range r.regions {
		start(func(ctx context.Context) error { return r.read(ctx, reg) })
	}
	for _, l := range r.links {
		start(l.run)
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, ctx.Err()) {
		return err
	}
	return nil
}

// Links returns all links.
func (r *Replicator) Links() []Link {
	var out []Link
	for l := range r.links {
		out = append(out, l)
	}
	return out
}

// Around returns the links to and from a Region.
func (r *Replicator) Around(region string) []Link {
	return slices.DeleteFunc(r.Links(), func(l Link) bool { return l.From != region && l.To != region })
}

// Pause stops links, all if none are named: nothing arrives over them, what is
// on its way included, until Resume. Of an item only the newest version waits.
func (r *Replicator) Pause(links ...Link) { r.pause(links, true) }

// Resume opens links, all if none are named. What waits there arrives after the
// usual lag from now.
func (r *Replicator) Resume(links ...Link) { r.pause(links, false) }

func (r *Replicator) pause(links []Link, paused bool) {
	if len(links) == 0 {
		links = r.Links()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range links {
		r.stats.Coalesced += r.links[l].queue.setPaused(time.Now().UnixNano(), paused)
	}
	r.wake()
}

// Drain returns when everything that was written before it was called has been
// applied in every Region. On a paused link that waits for Resume. Run must be
// running.
func (r *Replicator) Drain(ctx context.Context) error {
	start := time.Now().UnixNano()
	if err := r.await(ctx, func() bool {
		for _, reg := range r.regions {
			if reg.readTo < start || reg.held > 0 {
				return false
			}
		}
		return true
	}); err != nil {
		return fmt.Errorf("drain: read the streams: %w", err)
	}
	var waits []Link
	if err := r.await(ctx, func() bool {
		waits = waits[:0]
		for name, l := range r.links {
			if l.queue.oldest() < start {
				waits = append(waits, name)
			}
		}
		return len(waits) == 0
	}); err != nil {
		return fmt.Errorf("drain: writes wait on %v: %w", waits, err)
	}
	return nil
}

// await waits until done, which is called under r.mu, says so.
func (r *Replicator) await(ctx context.Context, done func() bool) error {
	for {
		r.mu.Lock()
		ok, moved := done(), r.moved
		r.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-moved:
		}
	}
}

// wake makes everybody who awaits something look again; r.mu is held.
func (r *Replicator) wake() {
	close(r.moved)
	r.moved = make(chan struct{})
}

// lag draws the lag of one write; r.mu is held.
func (r *Replicator) lag() int64 {
	f := 1 + r.o.Jitter*(2*r.rand.Float64()-1)
	return int64(float64(r.o.Lag) * f)
}

// write is one version of one item.
type write struct {
	item    string // the key, as text
	key     map[string]types.AttributeValue
	image   map[string]types.AttributeValue // nil if the item was deleted
	version int64                           // the engine's number of it: the last wins
	at      int64                           // when it was made, ns since the Unix epoch, to the ms
}
