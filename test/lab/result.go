package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"weir/internal/testworld"
	"weir/pkg/bucket"
)

// result is what became of a story.
type result struct {
	o        options
	limit    bucket.Limit
	chapters []chapter
	rows     []map[string]int64 // of each Region's table: tokens spent, by the row's Region

	behind time.Duration // by how much lags were longer than asked for, on average

	requests  []*request // those that were decided, in order of time
	undecided int
	ideal     map[*request]bool // would one bucket that sees everything at once admit it?
	simulated []float64         // admitted in each chapter by the simulator
}

// finish computes what follows from the chapters.
func (r *result) finish() {
	for _, c := range r.chapters {
		for _, q := range c.requests {
			if q.err != nil {
				r.undecided++
				continue
			}
			r.requests = append(r.requests, q)
		}
	}
	slices.SortFunc(r.requests, func(a, b *request) int { return cmp.Compare(a.at, b.at) })
	r.ideal = map[*request]bool{}
	var b bucket.Bucket
	for _, q := range r.requests {
		var d bucket.Decision
		b, d = b.Take(r.limit, int64(time.Hour+q.at), 1) // any epoch will do
		r.ideal[q] = d.Allowed
	}
}

// tally counts decisions.
type tally struct {
	offered, admitted, ideal int
	falsely                  int // refused, although ideal admits
	unchecked                int
	moved                    int // decided by another Region than they were first sent to
	late                     time.Duration
	byRegion                 [3]int // admitted
}

func (t tally) ratio() float64 {
	if t.ideal == 0 {
		return 0
	}
	return float64(t.admitted) / float64(t.ideal)
}

// between counts the requests that were sent in a time of the story.
func (r *result) between(from, to time.Duration) tally {
	var t tally
	for _, q := range r.requests {
		if q.at < from || q.at >= to {
			continue
		}
		t.offered++
		t.late = max(t.late, q.late)
		if q.attempts > 1 {
			t.moved++
		}
		if r.ideal[q] {
			t.ideal++
		}
		switch {
		case q.verdict.allowed:
			t.admitted++
			t.byRegion[q.region]++
			if q.verdict.unchecked {
				t.unchecked++
			}
		case r.ideal[q]:
			t.falsely++
		}
	}
	return t
}

// chapter returns the chapter that begins with something, and its counts.
func (r *result) chapter(what happening) (chapter, tally) {
	i := slices.IndexFunc(r.chapters, func(c chapter) bool { return c.what == what })
	c := r.chapters[i]
	return c, r.between(c.from, c.to)
}

func (r *result) all() tally { return r.between(0, r.chapters[len(r.chapters)-1].to) }

// writeLog writes every request as a line "SECONDS REGION", which sim.ReadLog
// reads: when and where it was decided.
func (r *result) writeLog(file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := r.log(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func (r *result) log(w io.Writer) error {
	for _, q := range r.requests {
		if _, err := fmt.Fprintf(w, "%.6f %d\n", q.at.Seconds(), q.region+1); err != nil {
			return err
		}
	}
	return nil
}

// readRows returns the tokens spent in a Region's table, by the row's Region.
func (l *lab) readRows(ctx context.Context, region string) (map[string]int64, error) {
	out, err := l.world.Engine.Client(region).Scan(ctx, &dynamodb.ScanInput{
		TableName: aws.String(testworld.BucketsTable), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, err
	}
	rows := map[string]int64{}
	for _, item := range out.Items {
		sk, ok1 := item["sk"].(*types.AttributeValueMemberS)
		spent, ok2 := item["spent"].(*types.AttributeValueMemberN)
		if !ok1 || !ok2 {
			return nil, fmt.Errorf("no row: %v", item)
		}
		n, err := strconv.ParseInt(spent.Value, 10, 64)
		if err != nil {
			return nil, err
		}
		rows[sk.Value] += n
	}
	return rows, nil
}
