package streampump

import (
	"context"
	"encoding/json"
	"slices"
	"time"
)

// Discarded is what goes to the on-failure destination: where in the stream the
// records are that were given up.
type Discarded struct {
	Reason      string // RetryAttemptsExhausted or MaximumRecordAgeExceeded
	First, Last string // sequence numbers
	Records     int
}

// The reasons, in Lambda's words.
const (
	Exhausted = "RetryAttemptsExhausted"
	TooOld    = "MaximumRecordAgeExceeded"
)

// batch is records that are delivered together, and how often they have failed.
type batch struct {
	records []Record
	failed  int
}

// deliver calls the function until every record has succeeded or been given up.
// It returns early only when ctx is over.
func (p *Pump) deliver(ctx context.Context, records []Record) error {
	todo := []batch{{records: records}}
	for len(todo) > 0 {
		b := todo[0]
		todo = todo[1:]
		if b = p.dropOld(b); len(b.records) == 0 {
			continue
		}
		from, err := p.call(ctx, b.records)
		if err != nil {
			return err
		}
		n := len(b.records)
		switch {
		case from == n:
			continue
		case from < 0 && p.o.Bisect && n > 1:
			todo = append([]batch{{b.records[:n/2], b.failed}, {b.records[n/2:], b.failed}}, todo...)
			continue
		}
		b.records, b.failed = b.records[max(from, 0):], b.failed+1
		if p.o.Retries >= 0 && b.failed > p.o.Retries {
			p.discard(Exhausted, b.records)
			continue
		}
		todo = append([]batch{b}, todo...)
		if err := p.rest(ctx); err != nil {
			return err
		}
	}
	return nil
}

// call calls the function and returns from which record on the batch failed: its
// length if it succeeded, -1 if the function did not say. The error is that of
// ctx.
func (p *Pump) call(ctx context.Context, records []Record) (from int, err error) {
	event, err := Event(records)
	if err != nil {
		return 0, err
	}
	payload, fault := p.invoke(ctx, event)
	p.count(len(records))
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if fault != nil {
		return -1, nil
	}
	return p.failedFrom(records, payload), nil
}

// failedFrom returns where an answer says that the batch failed.
func (p *Pump) failedFrom(records []Record, payload []byte) int {
	if !p.o.Partial {
		return len(records)
	}
	var answer struct {
		BatchItemFailures []struct {
			ItemIdentifier *string `json:"itemIdentifier"`
		} `json:"batchItemFailures"`
	}
	if json.Unmarshal(payload, &answer) != nil {
		return -1
	}
	from := len(records)
	for _, f := range answer.BatchItemFailures {
		if f.ItemIdentifier == nil {
			return -1
		}
		i := slices.IndexFunc(records, func(r Record) bool { return r.Sequence == *f.ItemIdentifier })
		if i < 0 {
			return -1
		}
		from = min(from, i)
	}
	return from
}

// dropOld gives up the records at the batch's head that are too old to be tried.
func (p *Pump) dropOld(b batch) batch {
	if p.o.MaxAge <= 0 {
		return b
	}
	oldest := time.Now().Add(-p.o.MaxAge).UnixNano()
	n := 0
	for n < len(b.records) && b.records[n].At < oldest {
		n++
	}
	if n > 0 {
		p.discard(TooOld, b.records[:n])
	}
	return batch{b.records[n:], b.failed}
}

func (p *Pump) discard(reason string, records []Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.discarded = append(p.discarded, Discarded{
		Reason: reason, First: records[0].Sequence, Last: records[len(records)-1].Sequence, Records: len(records),
	})
}

// rest is the pause before a batch is tried again.
func (p *Pump) rest(ctx context.Context) error {
	timer := time.NewTimer(p.o.Pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
