package replicator

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// region is the table in one Region.
type region struct {
	name    string
	table   *dynamodb.Client
	streams *dynamodbstreams.Client
	stream  string // ARN

	// Guarded by Replicator.mu.
	items  map[string]*item
	readTo int64 // every write before this time, ns since the Unix epoch, has been read
	held   int   // changes held by items
}

// open finds the table and its stream.
func (r *Replicator) open(ctx context.Context, name string) (*region, error) {
	reg := &region{
		name: name, items: map[string]*item{},
		table: tableClient(r.o.Endpoint, name), streams: streamsClient(r.o.Endpoint, name),
	}
	out, err := reg.table.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &r.o.Table},
		func(o *dynamodb.Options) { o.Retryer = patient() })
	if err != nil {
		return nil, err
	}
	if len(out.Table.Replicas) > 0 {
		return nil, errors.New("it is a global table, which the engine replicates itself: create it in each Region")
	}
	if out.Table.LatestStreamArn == nil {
		return nil, errors.New("it has no stream: create it with NEW_AND_OLD_IMAGES")
	}
	reg.stream = *out.Table.LatestStreamArn
	return reg, nil
}

// read follows the Region's stream until ctx is over.
func (r *Replicator) read(ctx context.Context, reg *region) error {
	iterator, err := reg.iterator(ctx)
	if err != nil {
		return fmt.Errorf("read the stream of %s: %w", reg.name, err)
	}
	tick := time.NewTicker(r.o.Poll)
	defer tick.Stop()
	for {
		start := time.Now().UnixNano()
		page, err := reg.streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: iterator})
		if err != nil {
			return fmt.Errorf("read the stream of %s: %w", reg.name, err)
		}
		if err := r.observe(reg, start, page.Records); err != nil {
			return fmt.Errorf("read the stream of %s: %w", reg.name, err)
		}
		if iterator = page.NextShardIterator; iterator == nil {
			return fmt.Errorf("the stream of %s has ended: was the table deleted?", reg.name)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// iterator returns where the stream begins. The engine has one shard, for good.
func (reg *region) iterator(ctx context.Context) (*string, error) {
	d, err := reg.streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: &reg.stream})
	if err != nil {
		return nil, err
	}
	if n := len(d.StreamDescription.Shards); n != 1 {
		return nil, fmt.Errorf("%d shards, want 1", n)
	}
	out, err := reg.streams.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
		StreamArn:         &reg.stream,
		ShardId:           d.StreamDescription.Shards[0].ShardId,
		ShardIteratorType: streams.ShardIteratorTypeTrimHorizon,
	})
	if err != nil {
		return nil, err
	}
	return out.ShardIterator, nil
}

// observe takes in records of a Region's stream, from a reading that began at
// start.
func (r *Replicator) observe(reg *region, start int64, records []streams.Record) error {
	readTo := start
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rec := range records {
		c, err := parse(rec)
		if err != nil {
			return err
		}
		readTo = c.at // there may be more than fitted the page
		r.hear(reg, c)
	}
	reg.readTo = max(reg.readTo, readTo)
	r.wake()
	return nil
}

// hear takes a change in, now or once it is known what comes of the write that
// is being applied.
func (r *Replicator) hear(reg *region, c change) {
	it := reg.item(c.write)
	if it.busy {
		it.held = append(it.held, c)
		reg.held++
		return
	}
	r.take(reg, it, c)
}

// take sends a change on to the other Regions if it is the Region's own.
func (r *Replicator) take(reg *region, it *item, c change) {
	if it.isEcho(c) {
		return
	}
	it.version, it.image = c.version, c.image
	r.stats.Writes++
	for name, l := range r.links {
		if name.From == reg.name {
			r.stats.Coalesced += l.queue.push(c.write)
		}
	}
}

// parse reads a record of MiniStack: see the package comment for its numbers.
func parse(rec streams.Record) (change, error) {
	d := rec.Dynamodb
	if d == nil || len(d.Keys) == 0 {
		return change{}, errors.New("a record without keys")
	}
	var c change
	var err error
	if c.version, c.at, err = number(aws.ToString(d.SequenceNumber)); err != nil {
		return change{}, err
	}
	if c.key, err = attributevalue.FromDynamoDBStreamsMap(d.Keys); err != nil {
		return change{}, err
	}
	c.item = text(c.key)
	if c.image, err = image(d.NewImage, rec.EventName == streams.OperationTypeRemove); err != nil {
		return change{}, fmt.Errorf("new image: %w", err)
	}
	if c.old, err = image(d.OldImage, rec.EventName == streams.OperationTypeInsert); err != nil {
		return change{}, fmt.Errorf("old image: %w", err)
	}
	return c, nil
}

// image converts one; nil if there was no item.
func image(m map[string]streams.AttributeValue, none bool) (map[string]types.AttributeValue, error) {
	switch {
	case none:
		return nil, nil
	case len(m) == 0:
		return nil, errors.New("not in the stream: create the table with NEW_AND_OLD_IMAGES")
	}
	return attributevalue.FromDynamoDBStreamsMap(m)
}

// number splits the engine's number of a write: 20 digits of ms since the Unix
// epoch, and 10 digits that count the writes of all tables in all Regions.
func number(s string) (version, at int64, err error) {
	if len(s) == 30 {
		ms, err1 := strconv.ParseInt(s[:20], 10, 64)
		n, err2 := strconv.ParseInt(s[20:], 10, 64)
		if err1 == nil && err2 == nil {
			return n, ms * int64(time.Millisecond), nil
		}
	}
	return 0, 0, fmt.Errorf("sequence number %q is not one of MiniStack's: 20 digits of time and 10 of count", s)
}
