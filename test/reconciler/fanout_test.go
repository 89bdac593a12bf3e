package reconciler_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"weir/internal/streampump"
	"weir/internal/testengine"
	"weir/pkg/ddbstore"
)

// crowd is how many tenants are on one plan.
const crowd = 5000

// calls counts what passes a proxy, by operation and table.
type calls struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *calls) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	c.mu.Lock()
	c.n[op]++
	c.mu.Unlock()
	next.ServeHTTP(w, r)
}

func (c *calls) take() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.n
	c.n = map[string]int{}
	return n
}

// seed puts n tenants on a plan, each with a row of which 60 tokens are used: the
// first as anybody would, the others as copies of what that has written.
func (w *world) seed(plan string, n int) {
	w.t.Helper()
	const first = "tenant-00000"
	w.putPlan(ddbstore.Plan{Name: plan, Body: api(100, 100)})
	w.putTenant(ddbstore.Tenant{ID: first, Plan: plan})
	w.spend(first, 60)
	var wg sync.WaitGroup
	for _, table := range []string{w.tables, w.buckets} {
		originals := w.itemsOf(table, first)
		var writes []types.WriteRequest
		for i := 1; i < n; i++ {
			for _, it := range originals {
				writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: renamed(it, first, fmt.Sprintf("tenant-%05d", i))}})
			}
		}
		for chunk := range slices.Chunk(writes, 25*((len(writes)+25*8-1)/(25*8))) {
			wg.Go(func() {
				for batch := range slices.Chunk(chunk, 25) {
					in := &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: batch}}
					if out, err := w.client.BatchWriteItem(w.t.Context(), in); err != nil || len(out.UnprocessedItems) > 0 {
						w.t.Errorf("copy items: %v, %v", out, err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
}

// itemsOf returns the items whose keys name a tenant.
func (w *world) itemsOf(table, tenant string) (items []map[string]types.AttributeValue) {
	w.t.Helper()
	out, err := w.client.Scan(w.t.Context(), &dynamodb.ScanInput{
		TableName: &table, FilterExpression: aws.String("contains(pk, :id) OR contains(sk, :id)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":id": &types.AttributeValueMemberS{Value: tenant}},
	})
	if err != nil || len(out.Items) == 0 {
		w.t.Fatalf("%d items of %s in %s, %v", len(out.Items), tenant, table, err)
	}
	return out.Items
}

// renamed returns a copy of an item in whose keys a tenant has another id.
func renamed(it map[string]types.AttributeValue, from, to string) map[string]types.AttributeValue {
	it = maps.Clone(it)
	for _, key := range []string{"pk", "sk"} {
		value := it[key].(*types.AttributeValueMemberS).Value
		it[key] = &types.AttributeValueMemberS{Value: strings.ReplaceAll(value, from, to)}
	}
	return it
}

// TestFiveThousandTenants: a plan change reaches the rows of all its tenants, though
// the reconciler is killed half-way; what was done before is not done again.
func TestFiveThousandTenants(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	proxy := testengine.Start(t).Proxy(t)
	counted := &calls{n: map[string]int{}}
	proxy.Set(counted.serve)
	w := newWorld(t, proxy.Endpoint(), nil)
	w.seed("pro", crowd)
	w.follow()
	w.start()

	began := time.Now()
	p := w.putPlan(ddbstore.Plan{Name: "pro", Body: api(200, 200)})
	half := w.await("pro", func(j ddbstore.Job) bool { return j.Seen >= crowd*2/5 })
	w.replace()
	w.drain()
	took := time.Since(began)
	n := counted.take()

	job, err := w.config.Job(t.Context(), region, "pro")
	if err != nil || job.Finished == 0 || job.Stamp != p.Stamp || job.Seen != crowd || job.Failed != 0 || half.Finished != 0 {
		t.Fatalf("killed at %+v, ended at %+v, %v\n%s", half, job, err, w.function.Log())
	}
	if right := w.rowsLike(w.row("tenant-00000").Ver); right != crowd {
		t.Errorf("%d of %d rows are as they should be", right, crowd)
	}
	if n["UpdateItem"] != crowd {
		t.Errorf("%d writes of rows, want one for each of %d", n["UpdateItem"], crowd)
	}
	if lost := w.pump.Discarded(); lost != nil {
		t.Errorf("given up: %+v", lost)
	}
	t.Logf("%d tenants in %v, killed at %d: %d GetItem, %d Query, %d UpdateItem, %d PutItem; %d calls of the function",
		crowd, took.Round(10*time.Millisecond), half.Seen, n["GetItem"], n["Query"], n["UpdateItem"], n["PutItem"], w.pump.Stats().Calls)
}

// TestDeadline: a function that has no time left for all tenants says so before it
// is ended, and goes on when it is called again.
func TestDeadline(t *testing.T) {
	proxy := testengine.Start(t).Proxy(t)
	proxy.Set(testengine.Slow(40 * time.Millisecond))
	w := newWorld(t, proxy.Endpoint(), nil, "AWS_LAMBDA_FUNCTION_TIMEOUT=3", "WEIR_PARALLEL=8")
	w.seed("pro", 400)
	w.follow()
	w.start()
	w.putPlan(ddbstore.Plan{Name: "pro", Body: api(200, 200)})
	w.drain()
	job, err := w.config.Job(t.Context(), region, "pro")
	if err != nil || job.Finished == 0 || job.Seen != 400 || job.Failed != 0 {
		t.Errorf("got %+v, %v", job, err)
	}
	if calls := w.pump.Stats().Calls; calls < 2 {
		t.Errorf("%d calls, so there was time enough", calls)
	}
	if log := w.function.Log(); strings.Contains(log, "Task timed out") || !strings.Contains(log, "not finished yet") {
		t.Errorf("want it to end by itself\n%s", log)
	}
	if right := w.rowsLike(w.row("tenant-00000").Ver); right != 400 {
		t.Errorf("%d of 400 rows are as they should be", right)
	}
}

// follow makes the stream begin with what is written from now on.
func (w *world) follow() {
	w.t.Helper()
	o := mapping(w.t)
	o.Endpoint, o.Region, o.Table, o.Latest = testengine.Start(w.t).Endpoint(), region, w.tables, true
	var err error
	if w.pump, err = streampump.New(w.t.Context(), o, w.invoke); err != nil {
		w.t.Fatal(err)
	}
}

// await waits for a job to be as it is said.
func (w *world) await(id string, reached func(ddbstore.Job) bool) ddbstore.Job {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	for {
		j, err := w.config.Job(ctx, region, id)
		if err == nil && reached(j) {
			return j
		}
		if ctx.Err() != nil {
			w.t.Fatalf("job %s: %+v, %v\n%s", id, j, err, w.function.Log())
		}
	}
}

// rowsLike counts the rows that are under the new limit and a version, with what
// was spent of them.
func (w *world) rowsLike(ver int64) (n int) {
	w.t.Helper()
	in := &dynamodb.ScanInput{TableName: &w.buckets}
	for {
		out, err := w.client.Scan(w.t.Context(), in)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, it := range out.Items {
			attr := func(name string) string {
				switch v := it[name].(type) {
				case *types.AttributeValueMemberN:
					return v.Value
				case *types.AttributeValueMemberS:
					return v.Value
				}
				return ""
			}
			if attr("ver") == fmt.Sprint(ver) && attr("lim") == fmt.Sprintf("200/%d/200", 24*time.Hour) && attr("spent") == "60" {
				n++
			}
		}
		if len(out.LastEvaluatedKey) == 0 {
			return n
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}
