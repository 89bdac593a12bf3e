package streampump

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// Options of a Pump.
type Options struct {
	Endpoint string // of the engine
	Region   string
	Table    string

	Filters   []string      // patterns of FilterCriteria; a record is delivered if one matches, or if there are none
	BatchSize int           // DefaultBatchSize if 0
	Partial   bool          // ReportBatchItemFailures
	Bisect    bool          // BisectBatchOnFunctionError
	Retries   int           // MaximumRetryAttempts; below 0 without end
	MaxAge    time.Duration // MaximumRecordAgeInSeconds; 0 without end

	Latest bool // StartingPosition LATEST: what was written before New is not delivered

	Poll  time.Duration // how often a stream is read that has nothing new; DefaultPoll if 0
	Pause time.Duration // before a failed batch is tried again; DefaultPause if 0

	// Shuffle, if set, changes what was read before it is delivered: it may repeat
	// records and put them in another order.
	Shuffle func([]Record) []Record
}

// Defaults.
const (
	DefaultBatchSize = 100
	DefaultPoll      = 20 * time.Millisecond
	DefaultPause     = 20 * time.Millisecond
)

// Invoke calls a function. An error, whether the function returned it or it could
// not be called, fails the batch.
type Invoke func(ctx context.Context, event []byte) (payload []byte, err error)

// Pump is one event source mapping. Its methods are safe for concurrent use.
type Pump struct {
	o       Options
	invoke  Invoke
	filters []filter
	client  *dynamodbstreams.Client
	stream  string  // ARN
	start   *string // iterator with which Run begins

	mu        sync.Mutex
	discarded []Discarded
	stats     Stats
	idle      int64         // when the last reading began that found nothing, ns since the Unix epoch
	moved     chan struct{} // closed and replaced after every reading
}

// Stats count what a Pump has done.
type Stats struct {
	Read      int // records of the stream
	Filtered  int // of those, that no filter matched
	Calls     int // of the function
	Delivered int // records given to it, repeated ones included
}

// New prepares the mapping of a table that exists and has a stream. Run begins
// with the oldest record, unless Latest says otherwise.
func New(ctx context.Context, o Options, invoke Invoke) (*Pump, error) {
	if o.BatchSize <= 0 {
		o.BatchSize = DefaultBatchSize
	}
	if o.Poll <= 0 {
		o.Poll = DefaultPoll
	}
	if o.Pause <= 0 {
		o.Pause = DefaultPause
	}
	p := &Pump{o: o, invoke: invoke, moved: make(chan struct{})}
	for _, pattern := range o.Filters {
		f, err := parseFilter(pattern)
		if err != nil {
			return nil, fmt.Errorf("streampump: %w", err)
		}
		p.filters = append(p.filters, f)
	}
	local := credentials.NewStaticCredentialsProvider("test", "test", "")
	// The engine may close an idle connection just when it is used again.
	pool := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) { t.IdleConnTimeout = 2 * time.Second })
	patient := retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = 5, 200*time.Millisecond })
	table := dynamodb.New(dynamodb.Options{Region: o.Region, BaseEndpoint: &o.Endpoint, Credentials: local, HTTPClient: pool, Retryer: patient})
	p.client = dynamodbstreams.New(dynamodbstreams.Options{Region: o.Region, BaseEndpoint: &o.Endpoint, Credentials: local, HTTPClient: pool, Retryer: patient})

	out, err := table.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &o.Table})
	if err != nil {
		return nil, fmt.Errorf("streampump: %w", err)
	}
	if out.Table.LatestStreamArn == nil {
		return nil, fmt.Errorf("streampump: table %s has no stream", o.Table)
	}
	p.stream = *out.Table.LatestStreamArn
	if p.start, err = p.iterator(ctx); err != nil {
		return nil, fmt.Errorf("streampump: table %s: %w", o.Table, err)
	}
	return p, nil
}

// Run delivers until ctx is over, and then returns nil.
func (p *Pump) Run(ctx context.Context) error {
	iterator, err := p.start, error(nil)
	for err == nil {
		iterator, err = p.turn(ctx, iterator)
	}
	if ctx.Err() != nil {
		return nil //nolint:nilerr // told to end
	}
	return fmt.Errorf("streampump: table %s: %w", p.o.Table, err)
}

// turn reads a page, delivers it, and returns where the next begins.
func (p *Pump) turn(ctx context.Context, iterator *string) (next *string, err error) {
	start := time.Now().UnixNano()
	page, err := p.client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: iterator})
	if err != nil {
		return nil, err
	}
	records, err := p.wanted(page.Records)
	if err != nil {
		return nil, err
	}
	if p.o.Shuffle != nil {
		records = p.o.Shuffle(records)
	}
	for len(records) > 0 {
		n := min(len(records), p.o.BatchSize)
		if err := p.deliver(ctx, records[:n]); err != nil {
			return nil, err
		}
		records = records[n:]
	}
	if page.NextShardIterator == nil {
		return nil, errors.New("the stream has ended: was the table deleted?")
	}
	p.turned(start, len(page.Records) == 0)
	if len(page.Records) == 0 {
		timer := time.NewTimer(p.o.Poll)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-timer.C:
		}
	}
	return page.NextShardIterator, nil
}

// wanted converts the records that a filter matches.
func (p *Pump) wanted(page []streams.Record) ([]Record, error) {
	var out []Record
	for _, rec := range page {
		r, err := recordOf(rec, p.stream, p.o.Region)
		if err != nil {
			return nil, err
		}
		if p.matches(r) {
			out = append(out, r)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.Read += len(page)
	p.stats.Filtered += len(page) - len(out)
	return out, nil
}

func (p *Pump) matches(r Record) bool {
	for _, f := range p.filters {
		if f.matches(r.JSON) {
			return true
		}
	}
	return len(p.filters) == 0
}

func (p *Pump) iterator(ctx context.Context) (*string, error) {
	d, err := p.client.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: &p.stream})
	if err != nil {
		return nil, err
	}
	if n := len(d.StreamDescription.Shards); n != 1 {
		return nil, fmt.Errorf("%d shards, want 1", n)
	}
	from := streams.ShardIteratorTypeTrimHorizon
	if p.o.Latest {
		from = streams.ShardIteratorTypeLatest
	}
	out, err := p.client.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
		StreamArn:         &p.stream,
		ShardId:           d.StreamDescription.Shards[0].ShardId,
		ShardIteratorType: from,
	})
	if err != nil {
		return nil, err
	}
	return out.ShardIterator, nil
}

// Drain returns when every record of what was written before it was called has
// been delivered or given up. Run must be running.
func (p *Pump) Drain(ctx context.Context) error {
	start := time.Now().UnixNano()
	for {
		p.mu.Lock()
		done, moved := p.idle >= start, p.moved
		p.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("streampump: drain: %w", ctx.Err())
		case <-moved:
		}
	}
}

// Discarded returns what was given up so far.
func (p *Pump) Discarded() []Discarded {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Discarded(nil), p.discarded...)
}

// Stats returns what was done so far.
func (p *Pump) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}

func (p *Pump) count(records int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.Calls++
	p.stats.Delivered += records
}

// turned notes a reading that began at start, and that it is dealt with.
func (p *Pump) turned(start int64, empty bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if empty {
		p.idle = start
	}
	close(p.moved)
	p.moved = make(chan struct{})
}
