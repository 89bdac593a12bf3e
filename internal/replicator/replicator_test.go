package replicator

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"weir/internal/testengine"
)

func TestRowsConverge(t *testing.T) {
	w := start(t, Options{})
	for i, region := range regions {
		w.add(region, "bucket", region, 10+i)
	}
	w.drain()
	for i, region := range regions {
		w.add(region, "bucket", region, 100) // on a row that has been replicated
		w.drain()
		w.want("bucket", region, 110+i)
	}
	// Six writes, each to two other Regions; what was applied is not sent on.
	if s := w.Stats(); s.Writes != 6 || s.Applied != 12 || s.Older != 0 || s.Coalesced != 0 {
		t.Errorf("%+v, want 6 writes, 12 applied", s)
	}
}

func TestImagesSurvive(t *testing.T) {
	w := start(t, Options{})
	item := key("bucket", dublin)
	item["seen"] = &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{
		tokyo: &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{
			"at": &types.AttributeValueMemberN{Value: "1800000000123456789"},
		}},
	}}
	item["none"] = &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{}}
	item["list"] = &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberBOOL{Value: true}}}
	item["raw"] = &types.AttributeValueMemberB{Value: []byte{0, 255}}
	for range 2 { // the second writes nothing new
		if _, err := w.client[dublin].PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &w.table, Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	w.drain()
	for _, region := range regions {
		if got := w.get(region, "bucket", dublin); !reflect.DeepEqual(got, item) {
			t.Errorf("in %s: %v, want %v", region, got, item)
		}
	}
	w.add(dublin, "bucket", dublin, 3) // the whole image is the condition of the next
	w.drain()
	w.want("bucket", dublin, 3)
}

func TestDeletesReplicate(t *testing.T) {
	w := start(t, Options{})
	w.add(dublin, "bucket", "row", 1)
	w.drain()
	w.remove(tokyo, "bucket", "row")
	w.drain()
	w.want("bucket", "row", -1)
	w.add(virginia, "bucket", "row", 5)
	w.drain()
	w.want("bucket", "row", 5)
}

func TestPauseHoldsAndResumeDeliversTheNewest(t *testing.T) {
	w := start(t, Options{})
	w.add(dublin, "bucket", dublin, 1)
	w.drain()
	w.Pause(w.Around(dublin)...)
	for range 4 {
		w.add(dublin, "bucket", dublin, 1)
	}
	w.add(virginia, "bucket", virginia, 7) // Virginia to Tokyo is open
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := w.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), dublin) {
		t.Errorf("drain across a cut: %v, want one that names %s", err, dublin)
	}
	for region, want := range map[string][2]int{dublin: {5, -1}, virginia: {1, 7}, tokyo: {1, 7}} {
		got := [2]int{count(w.get(region, "bucket", dublin)), count(w.get(region, "bucket", virginia))}
		if got != want {
			t.Errorf("during the cut %s has %v, want %v", region, got, want)
		}
	}
	before := w.Stats()
	w.Resume()
	w.drain()
	w.want("bucket", dublin, 5)
	w.want("bucket", virginia, 7)
	// One write of Dublin's to two Regions, one of Virginia's to Dublin.
	if got := w.Stats().Applied - before.Applied; got != 3 {
		t.Errorf("%d writes applied after the cut, want 3: only the newest", got)
	}
}

func TestTheLastWriterWins(t *testing.T) {
	w := start(t, Options{})
	w.Pause()
	w.add(dublin, "bucket", "row", 1)
	w.add(tokyo, "bucket", "row", 3)
	w.add(virginia, "bucket", "row", 2) // the last
	w.Resume()
	w.drain()
	w.want("bucket", "row", 2)
	if s := w.Stats(); s.Older == 0 {
		t.Errorf("%+v: nothing was dropped as older", s)
	}

	w.Pause()
	w.remove(dublin, "bucket", "row")
	w.add(tokyo, "bucket", "row", 40) // after the delete, which Tokyo has not seen
	w.Resume()
	w.drain()
	w.want("bucket", "row", 42)

	w.Pause()
	w.add(tokyo, "bucket", "row", 1)
	w.remove(dublin, "bucket", "row") // after the write
	w.Resume()
	w.drain()
	w.want("bucket", "row", -1)
}

// TestConvergesUnderFire writes one item in all Regions at once, so that local
// writes keep coming between a reading of a stream and the write that follows.
func TestConvergesUnderFire(t *testing.T) {
	w := start(t, Options{Lag: 20 * time.Millisecond, Jitter: 1})
	const each = 60
	var wg sync.WaitGroup
	for _, region := range regions {
		for range 3 {
			wg.Go(func() {
				for range each / 3 {
					w.add(region, "bucket", "row", 1)
				}
			})
		}
	}
	wg.Wait()
	w.drain()
	w.drain() // what was applied while the first waited
	first := count(w.get(dublin, "bucket", "row"))
	w.want("bucket", "row", first)
	if first >= 3*each {
		t.Errorf("count %d of %d: nothing was lost, so nothing was written at once", first, 3*each)
	}
	if s := w.Stats(); s.Writes != 3*each {
		t.Errorf("%+v: want %d writes, none of them the replicator's own", s, 3*each)
	}
}

// TestLostAnswers loses the answer to every other replicated write, done or not.
func TestLostAnswers(t *testing.T) {
	proxy := testengine.Start(t).Proxy(t)
	w := start(t, Options{Endpoint: proxy.Endpoint()})
	var puts atomic.Int64
	proxy.Set(func(rw http.ResponseWriter, req *http.Request, next http.Handler) {
		if !strings.HasSuffix(req.Header.Get("X-Amz-Target"), ".PutItem") {
			next.ServeHTTP(rw, req)
			return
		}
		switch puts.Add(1) % 4 {
		case 1:
			testengine.LoseAnswer(rw, req, next)
		case 3:
			panic(http.ErrAbortHandler) // not done either
		}
		next.ServeHTTP(rw, req)
	})
	const writes = 8
	for range writes {
		w.add(dublin, "bucket", dublin, 1) // not through the proxy
		w.drain()
	}
	w.want("bucket", dublin, writes)
	if s := w.Stats(); s.Writes != writes || s.Applied != 2*writes {
		t.Errorf("%+v after %d puts, want %d writes, each applied twice", s, puts.Load(), writes)
	}
	if puts.Load() <= 2*writes {
		t.Errorf("%d puts for %d writes: no answer was lost", puts.Load(), writes)
	}
}

func TestLagIsRespected(t *testing.T) {
	const lag = 400 * time.Millisecond
	w := start(t, Options{Lag: lag, Jitter: 0.5})
	for i := range 10 {
		w.add(dublin, "bucket", strconv.Itoa(i), 1)
	}
	w.drain()
	s := w.Stats()
	if s.Applied != 20 {
		t.Errorf("%+v, want 20 applied", s)
	}
	// Later than half the mean, certainly. How much later is the machine's affair.
	if s.LagMean < lag/2 || s.LagMax < s.LagMean || s.BehindMean <= 0 || s.BehindMean > s.LagMean-lag/2 {
		t.Errorf("lag %v, at most %v, %v of it not asked for: want %v or more that was", s.LagMean, s.LagMax, s.BehindMean, lag/2)
	}
}

func TestCoalescing(t *testing.T) {
	w := start(t, Options{Lag: time.Second, Coalesce: time.Hour})
	w.Pause() // so that it does not depend on how fast the writes are
	for range 20 {
		w.add(dublin, "bucket", dublin, 1)
	}
	w.Resume()
	w.drain()
	w.want("bucket", dublin, 20)
	if s := w.Stats(); s.Writes != 20 || s.Applied+s.Coalesced != 40 || s.Applied > 4 {
		t.Errorf("%+v, want 20 writes that became one or two for each of two Regions", s)
	}
}

func TestNewSaysWhatIsWrong(t *testing.T) {
	e := testengine.Start(t)
	create(t, e.Client(dublin), "no-stream", false)
	for _, region := range []string{dublin, virginia} {
		create(t, e.Client(region), "half", true)
	}
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"one Region": {Options{Table: "half", Regions: []string{dublin}}, "two or more"},
		"jitter":     {Options{Table: "half", Regions: regions, Jitter: 2}, "0 to 1"},
		"no table":   {Options{Table: "half", Regions: regions}, tokyo},
		"no stream":  {Options{Table: "no-stream", Regions: regions}, "no stream"},
	} {
		c.o.Endpoint = e.Endpoint()
		if _, err := New(t.Context(), c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.want)
		}
	}
}

func TestRunReportsALostStream(t *testing.T) {
	e := testengine.Start(t)
	for _, region := range regions {
		create(t, e.Client(region), "lost", true)
	}
	r, err := New(t.Context(), Options{Endpoint: e.Endpoint(), Table: "lost", Regions: regions})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Client(tokyo).DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("lost")}); err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context()); err == nil || !strings.Contains(err.Error(), tokyo) {
		t.Errorf("Run = %v, want an error that names %s", err, tokyo)
	}
}
