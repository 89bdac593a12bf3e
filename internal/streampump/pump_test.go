package streampump

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"weir/internal/testengine"
	"weir/pkg/ddbstore"
)

const region = "eu-west-1"

// function is a function whose calls a test looks at.
type function struct {
	mu    sync.Mutex
	calls []string // the keys of each call, joined
	fail  func(keys []string, sequence []string) ([]byte, error)
}

func (f *function) invoke(_ context.Context, event []byte) ([]byte, error) {
	var in struct {
		Records []struct {
			DynamoDB struct {
				Keys           map[string]struct{ S string }
				SequenceNumber string
			} `json:"dynamodb"`
		}
	}
	if err := json.Unmarshal(event, &in); err != nil {
		return nil, err
	}
	var keys, sequence []string
	for _, r := range in.Records {
		keys = append(keys, r.DynamoDB.Keys["pk"].S)
		sequence = append(sequence, r.DynamoDB.SequenceNumber)
	}
	f.mu.Lock()
	f.calls = append(f.calls, strings.Join(keys, ""))
	f.mu.Unlock()
	if f.fail == nil {
		return []byte(`{}`), nil
	}
	return f.fail(keys, sequence)
}

// failures is a partial batch response that reports the records with the keys.
func failures(poison string) func(keys, sequence []string) ([]byte, error) {
	return func(keys, sequence []string) ([]byte, error) {
		var items []map[string]string
		for i, k := range keys {
			if strings.Contains(poison, k) {
				items = append(items, map[string]string{"itemIdentifier": sequence[i]})
			}
		}
		return json.Marshal(map[string]any{"batchItemFailures": items})
	}
}

// crash is a function that dies of a record.
func crash(poison string) func(keys, sequence []string) ([]byte, error) {
	return func(keys, _ []string) ([]byte, error) {
		if slices.Contains(keys, poison) {
			return nil, errors.New("killed")
		}
		return []byte(`{}`), nil
	}
}

var tables atomic.Int64

// run writes one item for each letter of items, then pumps them through f. Those
// after a '|' are written when the pump has been made.
func run(t *testing.T, f *function, o Options, items string) *Pump {
	t.Helper()
	e := testengine.Start(t)
	client := e.Client(region)
	n := tables.Add(1)
	o.Endpoint, o.Region, o.Table = e.Endpoint(), region, fmt.Sprint("pumped-", n)
	if err := ddbstore.CreateTables(t.Context(), client, fmt.Sprint("beside-", n), o.Table); err != nil {
		t.Fatal(err)
	}
	put := func(c rune) {
		t.Helper()
		_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &o.Table, Item: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: string(c)},
			"sk": &types.AttributeValueMemberS{Value: "CURRENT"},
			"m": &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{
				"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberN{Value: "1"}}},
			}},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	first, then, _ := strings.Cut(items, "|")
	for _, c := range first {
		put(c)
	}
	o.Pause = time.Millisecond
	p, err := New(t.Context(), o, f.invoke)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range then {
		put(c)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	ran := make(chan error, 1)
	go func() { ran <- p.Run(ctx) }()
	if err := p.Drain(ctx); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	return p
}

func TestDelivery(t *testing.T) {
	tests := []struct {
		name      string
		o         Options
		fail      func(keys, sequence []string) ([]byte, error)
		items     string
		want      []string // calls
		discarded []int    // records given up, each time
	}{
		{"in order, in batches", Options{BatchSize: 2}, nil, "abcde", []string{"ab", "cd", "e"}, nil},
		{"from the beginning", Options{}, nil, "ab|c", []string{"abc"}, nil},
		{"only what is new", Options{Latest: true}, nil, "ab|c", []string{"c"}, nil},
		{"filtered", Options{Filters: []string{`{"dynamodb":{"Keys":{"pk":{"S":["b","d"]}}}}`}}, nil, "abcd", []string{"bd"}, nil},
		{"the checkpoint is the lowest that failed", Options{Partial: true, Retries: 1}, failures("bd"), "abcde", []string{"abcde", "bcde"}, []int{4}},
		{"what is given up does not hold up what follows", Options{Partial: true, Retries: 1, BatchSize: 2}, failures("b"), "abcd", []string{"ab", "b", "cd"}, []int{1}},
		{"an answer without partial batches is a success", Options{Retries: 1}, failures("b"), "abc", []string{"abc"}, nil},
		{"a crash repeats the batch", Options{Retries: 1}, crash("b"), "abc", []string{"abc", "abc"}, []int{3}},
		{"a crash, bisected, costs one record", Options{Bisect: true, Retries: 1}, crash("b"), "abcd", []string{"abcd", "ab", "a", "b", "b", "cd"}, []int{1}},
		{"an unknown identifier fails all", Options{Partial: true, Retries: 0}, func([]string, []string) ([]byte, error) {
			return []byte(`{"batchItemFailures":[{"itemIdentifier":"7"}]}`), nil
		}, "ab", []string{"ab"}, []int{2}},
		{"no identifier fails all", Options{Partial: true, Retries: 0}, func([]string, []string) ([]byte, error) {
			return []byte(`{"batchItemFailures":[{}]}`), nil
		}, "ab", []string{"ab"}, []int{2}},
		{"too old", Options{MaxAge: time.Nanosecond}, nil, "ab", nil, []int{2}},
		{"repeated and out of order", Options{Shuffle: func(r []Record) []Record {
			out := slices.Concat(r, r)
			slices.Reverse(out)
			return out
		}}, nil, "ab", []string{"baba"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &function{fail: tt.fail}
			p := run(t, f, tt.o, tt.items)
			if !slices.Equal(f.calls, tt.want) {
				t.Errorf("calls %q, want %q", f.calls, tt.want)
			}
			var discarded []int
			for _, d := range p.Discarded() {
				discarded = append(discarded, d.Records)
				if d.First == "" || d.Last < d.First {
					t.Errorf("discarded from %q to %q", d.First, d.Last)
				}
			}
			if !slices.Equal(discarded, tt.discarded) {
				t.Errorf("discarded %v, want %v", discarded, tt.discarded)
			}
		})
	}
}

// TestRecordForm: a function gets records as Lambda writes them.
func TestRecordForm(t *testing.T) {
	var event []byte
	f := &function{}
	p := run(t, f, Options{}, "a")
	if p.Stats() != (Stats{Read: 1, Calls: 1, Delivered: 1}) {
		t.Errorf("got %+v", p.Stats())
	}
	p.invoke = func(_ context.Context, e []byte) ([]byte, error) { event = e; return []byte(`{}`), nil }
	iterator, err := p.iterator(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.turn(t.Context(), iterator); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Records []struct {
			EventSource, EventSourceARN, EventName, AWSRegion string
			DynamoDB                                          struct {
				Keys, NewImage              map[string]json.RawMessage
				ApproximateCreationDateTime int64
			}
		}
	}
	if err := json.Unmarshal(event, &got); err != nil || len(got.Records) != 1 {
		t.Fatalf("%v in %s", err, event)
	}
	r := got.Records[0]
	if r.EventSource != "aws:dynamodb" || r.EventName != "INSERT" || r.AWSRegion != region || r.EventSourceARN != p.stream {
		t.Errorf("got %+v", r)
	}
	if m := string(r.DynamoDB.NewImage["m"]); m != `{"M":{"l":{"L":[{"N":"1"}]}}}` {
		t.Errorf("a map is written %s", m)
	}
	if string(r.DynamoDB.Keys["sk"]) != `{"S":"CURRENT"}` || time.Now().Unix()-r.DynamoDB.ApproximateCreationDateTime > 3600 {
		t.Errorf("got %+v", r.DynamoDB)
	}
}
