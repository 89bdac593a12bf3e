package ddbstore_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"weir/internal/testengine"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

const t0 = int64(4_000_000_000) * int64(time.Second) // the year 2096

func tenPerSecond(t *testing.T) bucket.Limit {
	t.Helper()
	l, err := bucket.NewLimit(bucket.Rate{Count: 10, Period: time.Second}, 10)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func take(l bucket.Limit, now, n int64) bucket.Charge {
	return bucket.Charge{Limit: l, Now: now, Tokens: n, Inc: l.Time(n), Ver: 1}
}

var keys atomic.Int64

func newKey(t *testing.T) string { return fmt.Sprintf("%s/%d", t.Name(), keys.Add(1)) }

// TestLostAnswerIsNotRepeated: a charge whose answer is lost has been sent once
// and is reported as an error, even by a client that would rather retry (D4).
func TestLostAnswerIsNotRepeated(t *testing.T) {
	e := tables(t)
	p := e.Proxy(t)
	key, l := newKey(t), tenPerSecond(t)
	s := ddbstore.New(client(p.Endpoint(), func(o *dynamodb.Options) {
		o.Retryer, o.RetryMaxAttempts = nil, 5
	}), buckets, region)
	p.Set(testengine.LoseAnswer)
	out, err := s.Charge(t.Context(), key, take(l, t0, 3))
	if !errors.Is(err, ddbstore.ErrUnavailable) || out.Calls != 1 || out.Units != 1 {
		t.Errorf("Charge = %+v, %v, want ErrUnavailable after one call of one unit", out, err)
	}
	if p.Calls() != 1 {
		t.Errorf("%d requests were sent, want 1", p.Calls())
	}
	p.Set(nil)
	rows, err := s.Rows(t.Context(), key)
	if err != nil || len(rows) != 1 || rows[0].Spent != 3 {
		t.Errorf("Rows = %+v, %v, want 3 spent once", rows, err)
	}
}

// TestCallsAreRequests: Calls counts what goes over the wire.
func TestCallsAreRequests(t *testing.T) {
	p := tables(t).Proxy(t)
	s := ddbstore.New(client(p.Endpoint()), buckets, region)
	key, l := newKey(t), tenPerSecond(t)
	for i, c := range []bucket.Charge{
		take(l, t0, 11), // never fits: no call
		take(l, t0, 4),  // a new row: one
		take(l, t0, 4),  // Known is nil, so it is taken for another new one: two
		take(l, t0, 4),  // the same, and refused: one
	} {
		before := p.Calls()
		out, err := s.Charge(t.Context(), key, c)
		if err != nil {
			t.Fatal(err)
		}
		want := []int{0, 1, 2, 1}[i]
		if sent := p.Calls() - before; out.Calls != want || sent != want || out.Units != float64(want) {
			t.Errorf("charge %d: %d calls, %d requests, %v units, want %d of each", i, out.Calls, sent, out.Units, want)
		}
	}
}

// TestConflictAfterThreeLostRaces changes the row before every attempt into what
// the attempt does not expect.
func TestConflictAfterThreeLostRaces(t *testing.T) {
	e := tables(t)
	p := e.Proxy(t)
	direct := e.Client(region)
	s := ddbstore.New(client(p.Endpoint()), buckets, region)
	key, l := newKey(t), tenPerSecond(t)
	lose := 3
	tats := []int64{t0 + 1, t0 - 1, t0 + 1} // busy, idle, busy
	p.Set(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if i := 3 - lose; lose > 0 {
			lose--
			put(t, direct, key, map[string]string{"tat": fmt.Sprint(tats[i]), "es": fmt.Sprint(t0), "ver": "1", "lim": "10/1000000000/10"})
		}
		next.ServeHTTP(w, r)
	})
	out, err := s.Charge(t.Context(), key, take(l, t0, 1))
	if !errors.Is(err, ddbstore.ErrConflict) || out.Calls != 3 || out.Units != 3 {
		t.Errorf("Charge = %+v, %v, want ErrConflict after 3 calls", out, err)
	}
	if rows, err := s.Rows(t.Context(), key); err != nil || rows[0].Spent != 0 {
		t.Errorf("Rows = %+v, %v, want nothing spent", rows, err)
	}
	lose = 2
	tats = []int64{0, t0 + 1, t0 - 1} // two lost races, then none
	known := bucket.Row{TAT: t0 - 1, Epoch: bucket.Epoch{Start: t0}, Ver: 1, Limit: l}
	c := take(l, t0, 1)
	c.Known = &known
	if out, err = s.Charge(t.Context(), key, c); err != nil || out.Calls != 3 || out.Status != bucket.Charged {
		t.Errorf("Charge = %+v, %v, want success at the third call", out, err)
	}
}

// put writes a row as a number of numbers; lim is none.
func put(t *testing.T, c *dynamodb.Client, key string, numbers map[string]string) {
	t.Helper()
	it := map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: key},
		"sk": &types.AttributeValueMemberS{Value: region},
	}
	for name, v := range numbers {
		it[name] = &types.AttributeValueMemberN{Value: v}
		if name == "lim" {
			it[name] = &types.AttributeValueMemberS{Value: v}
		}
	}
	_, err := c.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: ptr(buckets), Item: it})
	if err != nil {
		t.Error(err)
	}
}

func ptr[T any](v T) *T { return &v }

// TestTTL: every charge moves the time at which DynamoDB may remove the row.
func TestTTL(t *testing.T) {
	direct, key := tables(t).Client(region), newKey(t)
	s := ddbstore.New(direct, buckets, region)
	for i, c := range []bucket.Charge{
		take(tenPerSecond(t), t0, 1),
		take(tenPerSecond(t), t0+5e9, 1),
		take(tenPerSecond(t), t0+5e9+1, 1),
	} {
		if _, err := s.Charge(t.Context(), key, c); err != nil {
			t.Fatal(err)
		}
		out, err := direct.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: ptr(buckets), Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: key},
			"sk": &types.AttributeValueMemberS{Value: region},
		}})
		if err != nil {
			t.Fatal(err)
		}
		got, _ := out.Item["ttl"].(*types.AttributeValueMemberN)
		if got == nil || got.Value != fmt.Sprint(c.Expiry()) {
			t.Errorf("charge %d: ttl %v, want %d", i, got, c.Expiry())
		}
	}
}

// TestRowThatIsNotOurs: what this version cannot read is reported, not guessed.
func TestRowThatIsNotOurs(t *testing.T) {
	direct := tables(t).Client(region)
	s := ddbstore.New(direct, buckets, region)
	for name, v := range map[string]types.AttributeValue{
		"tat":   &types.AttributeValueMemberS{Value: "soon"},
		"spent": &types.AttributeValueMemberN{Value: "99999999999999999999"},
		"fold":  &types.AttributeValueMemberN{Value: "1.5"},
		"seen":  &types.AttributeValueMemberL{},
		"lim":   &types.AttributeValueMemberS{Value: "100/s"},
	} {
		key := newKey(t)
		_, err := direct.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: ptr(buckets), Item: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: key},
			"sk": &types.AttributeValueMemberS{Value: region},
			"es": &types.AttributeValueMemberN{Value: "0"},
			name: v,
		}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Rows(t.Context(), key); !errors.Is(err, ddbstore.ErrUnavailable) || !strings.Contains(err.Error(), name) {
			t.Errorf("Rows with a bad %s: %v, want an error that names it", name, err)
		}
		c := take(tenPerSecond(t), t0, 1)
		c.Known = &bucket.Row{TAT: t0 + 1, Epoch: bucket.Epoch{Start: t0}} // so that the first form fails
		if out, err := s.Charge(t.Context(), key, c); !errors.Is(err, ddbstore.ErrUnavailable) {
			t.Errorf("Charge with a bad %s = %+v, %v, want ErrUnavailable", name, out, err)
		}
	}
}

// TestRowsOfManyPages: DynamoDB answers a Query with at most 1 MB.
func TestRowsOfManyPages(t *testing.T) {
	direct := tables(t).Client(region)
	p := tables(t).Proxy(t)
	key := newKey(t)
	for i := range 7 {
		_, err := direct.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: ptr(buckets), Item: map[string]types.AttributeValue{
			"pk":    &types.AttributeValueMemberS{Value: key},
			"sk":    &types.AttributeValueMemberS{Value: fmt.Sprint("region-", i)},
			"spent": &types.AttributeValueMemberN{Value: fmt.Sprint(i)},
			"pad":   &types.AttributeValueMemberS{Value: strings.Repeat("x", 390<<10)},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	rows, err := ddbstore.New(client(p.Endpoint()), buckets, region).Rows(t.Context(), key)
	if err != nil || len(rows) != 7 {
		t.Fatalf("%d rows, %v, want 7", len(rows), err)
	}
	if p.Calls() < 2 {
		t.Errorf("the engine answered in %d page, so this test shows nothing", p.Calls())
	}
	spent := int64(0)
	for _, r := range rows {
		spent += r.Spent
	}
	if spent != 0+1+2+3+4+5+6 {
		t.Errorf("rows %+v, want each once", rows)
	}
}

// TestReadsReconnect: a read survives a connection that fails once; a charge does
// not try.
func TestReadsReconnect(t *testing.T) {
	p := tables(t).Proxy(t)
	s := ddbstore.New(client(p.Endpoint()), buckets, region)
	key := newKey(t)
	failOnce := func() {
		var failed atomic.Bool
		p.Set(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if failed.CompareAndSwap(false, true) {
				panic(http.ErrAbortHandler)
			}
			next.ServeHTTP(w, r)
		})
	}
	failOnce()
	if _, err := s.Rows(t.Context(), key); err != nil {
		t.Errorf("Rows: %v, want a second try", err)
	}
	failOnce()
	if _, err := s.Charge(t.Context(), key, take(tenPerSecond(t), t0, 1)); !errors.Is(err, ddbstore.ErrUnavailable) {
		t.Errorf("Charge: %v, want ErrUnavailable", err)
	}
}

// TestUnitsAreThoseBilled compares with what the engine says a write consumed.
func TestUnitsAreThoseBilled(t *testing.T) {
	direct := tables(t).Client(region)
	s := ddbstore.New(direct, buckets, region)
	l := tenPerSecond(t)
	for regions := range 60 {
		key := newKey(t)
		c := take(l, t0, 1)
		c.Fold = &bucket.Fold{Seen: map[string]bucket.Seen{}}
		for i := range regions {
			c.Fold.Seen[fmt.Sprint("region-", i)] = bucket.Seen{Born: t0, Spent: 1, At: t0}
		}
		out, err := s.Charge(t.Context(), key, c)
		if err != nil {
			t.Fatal(err)
		}
		res, err := direct.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName: ptr(buckets), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
			Key: map[string]types.AttributeValue{
				"pk": &types.AttributeValueMemberS{Value: key}, "sk": &types.AttributeValueMemberS{Value: region},
			},
			UpdateExpression:          ptr("SET spent = :one"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if out.Units != *res.ConsumedCapacity.CapacityUnits {
			t.Errorf("%d Regions seen: %v units, the engine says %v", regions, out.Units, *res.ConsumedCapacity.CapacityUnits)
		}
	}
}
