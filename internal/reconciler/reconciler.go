package reconciler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"weir/internal/directory"
)

// Config is the config table of this Region, read consistently and written in
// this Region's name. *ddbstore.Config is one.
type Config interface {
	jobs
	beats
	list
	counts
	changes
}

// Options of a Reconciler. Config, Source, Rows, Region and Regions are required.
type Options struct {
	Region  string
	Regions []string // all, this one included
	Config  Config
	Source  directory.Source // plans and tenants in Config, read consistently
	Rows    Rows             // of this Region
	Strict  Rows             // rows of strict limits; nil keeps those with the others
	Grace   time.Duration    // as the authorizers have it

	// Sweep removes expired rows of the strict table; nil without one.
	Sweep func(ctx context.Context, now int64) (removed int, err error)
	// Alarms says whether an alarm is on; nil knows none.
	Alarms Alarms

	Parallel int          // rows in work at a time; DefaultParallel if 0
	Observer Observer     // nil is nobody
	Log      *slog.Logger // nil discards
	Now      func() int64 // ns since the Unix epoch; the clock if nil
	Jitter   func() float64
	Sleep    func(ctx context.Context, d time.Duration) error // a timer if nil
}

// DefaultParallel is for Options.Parallel.
const DefaultParallel = 16

// Reconciler is the handler of one process. It is safe for concurrent use.
type Reconciler struct {
	region  string
	regions []string
	config  Config
	source  source
	rows    Rows
	strict  Rows
	grace   int64
	sweep   func(ctx context.Context, now int64) (removed int, err error)
	alarms  Alarms
	observe Observer
	log     *slog.Logger
	now     func() int64
	pace    pace
	page    int // tenants that are worked on between two savings
	slice   int // pages of a round, in one run
}

// New returns a Reconciler. It makes no call.
func New(o Options) *Reconciler {
	r := &Reconciler{
		region: o.Region, regions: o.Regions, config: o.Config, source: o.Source, rows: o.Rows, strict: o.Strict,
		grace: int64(o.Grace), sweep: o.Sweep, alarms: o.Alarms, observe: o.Observer, log: o.Log, now: o.Now,
		page: pageSize, slice: slicePages, pace: pace{parallel: o.Parallel, jitter: o.Jitter, sleep: o.Sleep},
	}
	if r.pace.parallel <= 0 {
		r.pace.parallel = DefaultParallel
	}
	if r.pace.jitter == nil {
		r.pace.jitter = rand.Float64
	}
	if r.pace.sleep == nil {
		r.pace.sleep = sleep
	}
	if r.observe == nil {
		r.observe = nobody{}
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	if r.now == nil {
		r.now = func() int64 { return time.Now().UnixNano() } //nolint:forbidigo // the edge
	}
	return r
}

// sources of events that are a schedule: EventBridge rules, EventBridge Scheduler,
// and an operator.
var schedules = map[string]bool{"aws.events": true, "aws.scheduler": true, "weir.schedule": true}

// Handle handles an event: a batch of the config table's stream, or a tick of the
// schedule. It answers the one with the records that failed, and the other with
// what was done; an error says that the event is neither, or that the scheduled
// run could not do all it should.
func (r *Reconciler) Handle(ctx context.Context, event json.RawMessage) (any, error) {
	var e struct {
		Records []json.RawMessage `json:"Records"`
		Source  string            `json:"source"`
	}
	if err := json.Unmarshal(event, &e); err != nil {
		return nil, errors.New("reconciler: the event is no JSON object with Records or a source: want a batch of the config table's stream, or a schedule's event")
	}
	ctx, cancel := shift(ctx)
	defer cancel()
	switch {
	case len(e.Records) > 0:
		return r.stream(ctx, e.Records)
	case schedules[e.Source]:
		return r.schedule(ctx)
	}
	return nil, fmt.Errorf("reconciler: an event with source %.40q and no Records: want a batch of the config table's stream, or an event from aws.events", e.Source)
}

// shift returns ctx with less time: what is left is for the answer. What is
// unfinished when it ends has been saved as far as it got.
func shift(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	const most = 5 * time.Second
	return context.WithDeadline(ctx, end.Add(-min(most, time.Until(end)/5)))
}
