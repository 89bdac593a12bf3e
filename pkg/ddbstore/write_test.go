package ddbstore_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"weir/internal/testengine"
	"weir/pkg/ddbstore"
)

// dumpItems returns all items of a table in a Region, by "pk / sk".
func dumpItems(t *testing.T, region, table string) map[string]map[string]types.AttributeValue {
	t.Helper()
	items := make(map[string]map[string]types.AttributeValue)
	pages := dynamodb.NewScanPaginator(tables(t).Client(region), &dynamodb.ScanInput{TableName: &table, ConsistentRead: ptr(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range page.Items {
			pk, sk := it["pk"].(*types.AttributeValueMemberS).Value, it["sk"].(*types.AttributeValueMemberS).Value
			items[pk+" / "+sk] = it
		}
	}
	return items
}

// dump is dumpItems as text, of the Region that most tests use.
func dump(t *testing.T, table string) map[string]string {
	t.Helper()
	return dumpIn(t, region, table)
}

func dumpIn(t *testing.T, region, table string) map[string]string {
	t.Helper()
	lines := make(map[string]string)
	for key, it := range dumpItems(t, region, table) {
		var attributes []string
		for _, name := range slices.Sorted(maps.Keys(it)) {
			switch v := it[name].(type) {
			case *types.AttributeValueMemberS:
				attributes = append(attributes, name+"="+v.Value)
			case *types.AttributeValueMemberN:
				attributes = append(attributes, name+":"+v.Value)
			default:
				t.Fatalf("attribute %s is a %T", name, v)
			}
		}
		lines[key] = strings.Join(attributes, " ")
	}
	return lines
}

// newConfig returns a Config, strongly consistent, on a table of its own.
func newConfig(t *testing.T) (*ddbstore.Config, string) {
	t.Helper()
	table := newTable(t)
	return ddbstore.NewConfig(client(tables(t).Endpoint()), table).Consistent(), table
}

// TestWriteLayout is the layout of the package comment, item by item.
func TestWriteLayout(t *testing.T) {
	ctx := t.Context()
	c, table := newConfig(t)
	h := ddbstore.Hash(sha256.Sum256([]byte("k")))
	ch := func(at int64) ddbstore.Change { return ddbstore.Change{Author: "ada", Reason: "why", At: at} }
	_, err := c.In(region).Write(ctx, ch(t0),
		ddbstore.Plan{Name: "free", Body: "{f}"},
		ddbstore.Plan{Name: "pro", Body: "{p}", Carry: "additive", Next: "{n}"},
		ddbstore.Tenant{ID: "acme", Plan: "free", Status: ddbstore.Active},
		ddbstore.Credential{Hash: h, Tenant: "acme", Label: "ci", Created: 5, Expires: 7, LastFour: "9f3c"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.In(region).Write(ctx, ch(t0+3),
		ddbstore.Tenant{ID: "acme", Plan: "pro", Status: ddbstore.Suspended, Overrides: "{o}", Carry: "reset", Version: 1},
		ddbstore.Credential{Hash: h, Tenant: "acme", Label: "ci", Status: ddbstore.CredentialRevoked, Version: 1})
	if err != nil {
		t.Fatal(err)
	}
	hash := fmt.Sprintf("%x", h)
	want := map[string]string{}
	add := func(pk, sk, attributes string) {
		list := append(strings.Fields(attributes), "pk="+pk, "sk="+sk)
		slices.SortFunc(list, func(a, b string) int {
			name := func(s string) string { return s[:strings.IndexAny(s, "=:")] }
			return strings.Compare(name(a), name(b))
		})
		want[pk+" / "+sk] = strings.Join(list, " ")
	}
	s1, s2 := fmt.Sprint(t0), fmt.Sprint(t0+4)
	first, second := " author=ada reason=why changed:"+s1+" stamp:"+s1, " author=ada reason=why changed:"+fmt.Sprint(t0+3)+" stamp:"+s2
	feed := func(stamp string, n int) string { return fmt.Sprintf("0%s#%02d", stamp, n) }
	for _, sk := range []string{"CURRENT", "V#0000000001"} {
		add("PLAN#free", sk, "ver:1 body={f}"+first)
		add("PLAN#pro", sk, "ver:1 body={p} carry=additive next={n}"+first)
	}
	add("TENANT#acme", "V#0000000001", "ver:1 plan=free status=active"+first)
	add("CRED#"+hash, "V#0000000001", "ver:1 tenant=acme label=ci created:5 expires:7 last4=9f3c"+first)
	for _, sk := range []string{"CURRENT", "V#0000000002"} {
		add("TENANT#acme", sk, "ver:2 plan=pro status=suspended overrides={o} carry=reset"+second)
		add("CRED#"+hash, sk, "ver:2 tenant=acme label=ci created:0 expires:0 last4= status=revoked"+second)
	}
	add("TENANT#acme", "K#"+hash, "ver:2 tenant=acme label=ci created:0 expires:0 last4= status=revoked"+second)
	add("PLANS", "free", "")
	add("PLANS", "pro", "")
	add("TENANTS", "acme", "")
	add("PLAN#pro", "T#acme", "")
	add("CHANGES", feed(s1, 0), "kind=plan id=free ver:1"+first)
	add("CHANGES", feed(s1, 1), "kind=plan id=pro ver:1"+first)
	add("CHANGES", feed(s1, 2), "kind=tenant id=acme ver:1"+first)
	add("CHANGES", feed(s1, 3), "kind=credential id="+hash+" ver:1"+first)
	add("CHANGES", feed(s2, 0), "kind=tenant id=acme ver:2"+second)
	add("CHANGES", feed(s2, 1), "kind=credential id="+hash+" ver:2"+second)
	add("META", "CLOCK", "stamp:"+s2)
	add("META", "HOME", "home="+region+first)

	got := dump(t, table)
	for key, it := range want {
		if got[key] != it {
			t.Errorf("%s\n got %s\nwant %s", key, got[key], it)
		}
		delete(got, key)
	}
	for key, it := range got {
		t.Errorf("%s is not in the layout: %s", key, it)
	}
}

// TestWriteAllOrNothing: of a change whose last part is based on an old version,
// nothing is written, and the error says what is in the way.
func TestWriteAllOrNothing(t *testing.T) {
	ctx := t.Context()
	c, table := newConfig(t)
	write(t, c, ddbstore.Plan{Name: "pro", Body: "1"})
	write(t, c, ddbstore.Plan{Name: "pro", Body: "2", Version: 1})
	acme := write(t, c, ddbstore.Tenant{ID: "acme", Plan: "pro", Status: ddbstore.Active})
	acme.Plan = "free"
	before := dump(t, table)

	by := ddbstore.Change{Author: "bob", At: t0}
	for name, last := range map[string]ddbstore.Plan{
		"based on an old version":   {Name: "pro", Body: "3", Version: 1},
		"based on none":             {Name: "pro", Body: "3"},
		"based on one yet to come":  {Name: "pro", Body: "3", Version: 3},
		"based on one that was not": {Name: "new", Body: "3", Version: 1},
	} {
		_, err := c.Write(ctx, by, ddbstore.Plan{Name: "free"}, acme, ddbstore.Credential{Hash: ddbstore.Hash{1}, Tenant: "acme"}, last)
		var conflict *ddbstore.ConflictError
		if !errors.As(err, &conflict) || !errors.Is(err, ddbstore.ErrConflict) {
			t.Errorf("%s: %v, want a ConflictError", name, err)
			continue
		}
		want := ddbstore.ConflictError{Kind: ddbstore.KindPlan, ID: last.Name, Base: last.Version}
		if last.Name == "pro" {
			want.Version, want.Change = 2, change
		}
		if *conflict != want {
			t.Errorf("%s: %+v, want %+v", name, *conflict, want)
		}
		if after := dump(t, table); !maps.Equal(after, before) {
			t.Errorf("%s: the table has changed:\n got %v\nwant %v", name, after, before)
		}
	}
}

// TestWriteRaces has writers from two clients change the same two things, each
// with something of its own beside them. One of them wins each time, and there is
// nothing of the others anywhere.
func TestWriteRaces(t *testing.T) {
	c, table := newConfig(t)
	const rounds, writers = 4, 6
	clients := []*ddbstore.Config{c, ddbstore.NewConfig(client(tables(t).Endpoint()), table)}
	winners := make(map[string]bool)
	for base := range int64(rounds) {
		var (
			wg  sync.WaitGroup
			mu  sync.Mutex
			won []string
		)
		for i := range writers {
			me := fmt.Sprintf("writer-%d-%d", base, i)
			puts := []ddbstore.Put{
				ddbstore.Plan{Name: me}, // that nobody else writes
				ddbstore.Tenant{ID: "acme", Plan: me, Status: ddbstore.Active, Version: base},
				ddbstore.Plan{Name: "pro", Body: me, Version: base},
			}
			if i%2 == 1 {
				slices.Reverse(puts)
			}
			wg.Go(func() {
				_, err := clients[i%2].Write(context.Background(), ddbstore.Change{Author: me, At: t0 + int64(i)}, puts...)
				switch conflict := (*ddbstore.ConflictError)(nil); {
				case err == nil:
					mu.Lock()
					won = append(won, me)
					mu.Unlock()
				case !errors.As(err, &conflict):
					t.Errorf("%s: %v", me, err)
				case conflict.Version != base+1 || !strings.HasPrefix(conflict.Change.Author, fmt.Sprintf("writer-%d-", base)):
					t.Errorf("%s lost to %+v", me, conflict)
				}
			})
		}
		wg.Wait()
		if len(won) != 1 {
			t.Fatalf("on version %d %q won, want one", base, won)
		}
		winners[won[0]] = true
	}
	for key, it := range dump(t, table) {
		for base := range rounds {
			for i := range writers {
				if me := fmt.Sprintf("writer-%d-%d", base, i); !winners[me] && strings.Contains(key+it, me) {
					t.Errorf("%s lost, and left %s: %s", me, key, it)
				}
			}
		}
	}
	ctx := t.Context()
	feed, more, err := c.Changes(ctx, 0, 1000)
	if err != nil || more || len(feed) != 3*rounds {
		t.Errorf("the feed has %d entries, %v, %v, want %d", len(feed), more, err, 3*rounds)
	}
	plan, err := c.Plan(ctx, "pro")
	if err != nil || plan.Version != rounds {
		t.Fatalf("Plan = %+v, %v", plan, err)
	}
	if got, err := c.TenantsOn(ctx, plan.Change.Author, "", 10); err != nil || !slices.Equal(got.IDs, []string{"acme"}) {
		t.Errorf("on the last winner's plan: %+v, %v", got, err)
	}
	stamp := plan.Stamp + 1
	history, err := c.PlanHistory(ctx, "pro", 100)
	if err != nil || len(history) != rounds {
		t.Errorf("history %+v, %v, want %d versions", history, err, rounds)
	}
	for i, p := range history {
		if p.Version != rounds-int64(i) || p.Stamp >= stamp || !winners[p.Change.Author] || p.Body != p.Change.Author {
			t.Errorf("history[%d] = %+v", i, p)
		}
		stamp = p.Stamp
	}
}

// TestWriteStamps: writers of different things at the same time all get their
// turn, and a stamp each; a clock that is behind or ahead never turns them back.
func TestWriteStamps(t *testing.T) {
	c, _ := newConfig(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if _, err := c.PutPlan(context.Background(), ddbstore.Plan{Name: fmt.Sprint(i)}, change); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	last := int64(0)
	for i, at := range []int64{0, t0 - 1e18, t0 + 1e17 + 1, t0, 0, t0 + 1e17 + 3} {
		p, err := c.PutPlan(t.Context(), ddbstore.Plan{Name: "clock", Version: int64(i)}, ddbstore.Change{Author: "ada", At: at})
		if err != nil || p.Stamp <= last || p.Stamp < at || p.Stamp%2 != 0 || p.Stamp > max(at, last)+2 && i > 0 || p.Change.At != at {
			t.Errorf("at %d after %d: %+v, %v; want the next even stamp", at, last, p, err)
		}
		last = p.Stamp
	}
	feed, _, err := c.Changes(t.Context(), 0, 100)
	if err != nil || len(feed) != 14 {
		t.Fatalf("%d entries, %v", len(feed), err)
	}
	for i := 1; i < len(feed); i++ {
		if feed[i].Stamp >= feed[i-1].Stamp {
			t.Errorf("stamps %d, %d: want each once", feed[i-1].Stamp, feed[i].Stamp)
		}
	}
}

// TestWriteStampsAfterATakeOver: should the table's clock be behind what it
// belongs to, as where two Regions wrote it and one of them won, a new version
// still has a higher stamp than the one before.
func TestWriteStampsAfterATakeOver(t *testing.T) {
	c, table := newConfig(t)
	pro := write(t, c, ddbstore.Plan{Name: "pro"})
	_, err := tables(t).Client(region).PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: "META"}, "sk": &types.AttributeValueMemberS{Value: "CLOCK"},
		"stamp": &types.AttributeValueMemberN{Value: fmt.Sprint(pro.Stamp - 100)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	late := change
	late.At = pro.Stamp - 50
	if p, err := c.PutPlan(t.Context(), pro, late); err != nil || p.Stamp <= pro.Stamp {
		t.Errorf("PutPlan = %+v, %v, want a stamp above %d", p, err, pro.Stamp)
	}
}

// TestWriteLostAnswer: a change of several things whose first answer is lost, or
// that is still in progress when it is asked for again, is made once.
func TestWriteLostAnswer(t *testing.T) {
	inProgress := testengine.Answer(http.StatusBadRequest, `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionInProgressException","Message":"m"}`)
	for name, answers := range map[string][]testengine.Fault{
		"lost":                  {testengine.LoseAnswer},
		"lost, then busy":       {testengine.LoseAnswer, inProgress},
		"lost, then busy twice": {testengine.LoseAnswer, inProgress, inProgress},
		"connection reset":      {testengine.Reset},
	} {
		t.Run(name, func(t *testing.T) {
			_, table := newConfig(t)
			p := tables(t).Proxy(t)
			c := ddbstore.NewConfig(client(p.Endpoint()), table).Consistent()
			var call atomic.Int64
			p.Set(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if i := int(call.Add(1)) - 1; i < len(answers) {
					answers[i](w, r, next)
					return
				}
				next.ServeHTTP(w, r)
			})
			written, err := c.Write(t.Context(), change,
				ddbstore.Plan{Name: "pro"}, ddbstore.Tenant{ID: "acme", Plan: "pro", Status: ddbstore.Active})
			if err != nil || len(written) != 2 || written[0].(ddbstore.Plan).Version != 1 || written[1].(ddbstore.Tenant).Version != 1 {
				t.Fatalf("Write = %+v, %v, want version 1 of both", written, err)
			}
			if want := len(answers) + 1; int(call.Load()) != want {
				t.Errorf("%d requests, want %d", call.Load(), want)
			}
			if got, err := c.Plan(t.Context(), "pro"); err != nil || got != written[0] {
				t.Errorf("Plan = %+v, %v, want %+v", got, err, written[0])
			}
			if feed, _, err := c.Changes(t.Context(), 0, 10); err != nil || len(feed) != 2 {
				t.Errorf("Changes = %+v, %v, want two", feed, err)
			}
		})
	}
}

// TestWriteCanceled has transactions canceled for all the reasons there are.
func TestWriteCanceled(t *testing.T) {
	canceled := func(codes ...string) testengine.Fault {
		var reasons []string
		for _, code := range codes {
			reasons = append(reasons, fmt.Sprintf(`{"Code":%q,"Message":"m"}`, code))
		}
		return testengine.Answer(http.StatusBadRequest,
			`{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"m","CancellationReasons":[`+strings.Join(reasons, ",")+`]}`)
	}
	var conflict *ddbstore.ConflictError
	for name, tt := range map[string]struct {
		answer testengine.Fault
		want   error
		calls  int // 0: several
	}{
		"throttled":             {canceled("None", "None", "ThrottlingError"), ddbstore.ErrThrottled, 1},
		"provisioned":           {canceled("None", "ProvisionedThroughputExceeded"), ddbstore.ErrThrottled, 1},
		"invalid":               {canceled("None", "TransactionConflict", "ValidationError"), ddbstore.ErrUnavailable, 1},
		"for no reason":         {canceled("None", "None", "None", "None"), ddbstore.ErrUnavailable, 1},
		"without reasons":       {canceled(), ddbstore.ErrUnavailable, 1},
		"more reasons":          {canceled("None", "None", "None", "None", "None", "None", "None", "Other"), ddbstore.ErrUnavailable, 1},
		"others all the time":   {canceled("None", "TransactionConflict"), ddbstore.ErrConflict, 0},
		"the clock is late":     {canceled("None", "ConditionalCheckFailed"), ddbstore.ErrConflict, 0},
		"a table that is gone":  {testengine.Answer(400, `{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","Message":"m"}`), ddbstore.ErrUnavailable, 1},
		"no permission":         {testengine.Answer(400, `{"__type":"com.amazonaws.dynamodb.v20120810#AccessDeniedException","Message":"m"}`), ddbstore.ErrUnavailable, 1},
		"throttled as a whole":  {testengine.Throttle, ddbstore.ErrThrottled, 1},
		"in progress for good":  {testengine.Answer(400, `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionInProgressException","Message":"m"}`), ddbstore.ErrUnavailable, 0},
		"another version, bare": {canceled("None", "None", "ConditionalCheckFailed"), ddbstore.ErrConflict, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := tables(t).Proxy(t)
			p.Set(tt.answer)
			c := ddbstore.NewConfig(client(p.Endpoint()), config)
			_, err := c.PutPlan(t.Context(), ddbstore.Plan{Name: "p"}, change)
			if !errors.Is(err, tt.want) || errors.As(err, &conflict) != strings.HasPrefix(name, "another version") {
				t.Errorf("%v, want %v", err, tt.want)
			}
			if p.Calls() != tt.calls && (tt.calls != 0 || p.Calls() < 2) {
				t.Errorf("%d calls, want %d", p.Calls(), tt.calls)
			}
		})
	}
	t.Run("given up", func(t *testing.T) {
		p := tables(t).Proxy(t)
		ctx, cancel := context.WithCancel(t.Context())
		p.Set(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			canceled("None", "TransactionConflict")(w, r, next)
			cancel()
		})
		_, err := ddbstore.NewConfig(client(p.Endpoint()), config).PutPlan(ctx, ddbstore.Plan{Name: "p"}, change)
		if !errors.Is(err, context.Canceled) || errors.Is(err, ddbstore.ErrConflict) {
			t.Errorf("%v, want that of the context", err)
		}
	})
}

// TestWriteRefusesWhatCannotBe: nothing of it reaches the table.
func TestWriteRefusesWhatCannotBe(t *testing.T) {
	c := ddbstore.NewConfig(client(nobody(t)), config)
	plan := func(name string) ddbstore.Plan { return ddbstore.Plan{Name: name} }
	var many, large []ddbstore.Put
	for i := range ddbstore.MaxWrite + 1 {
		many = append(many, plan(fmt.Sprint(i)))
	}
	for i := range 4 {
		large = append(large, ddbstore.Plan{Name: fmt.Sprint(i), Body: strings.Repeat("x", 380<<10)})
	}
	long := strings.Repeat("n", 1001)
	for want, tt := range map[string]struct {
		ch   ddbstore.Change
		puts []ddbstore.Put
	}{
		"0 changes together: want 1 to 16":          {change, nil},
		"17 changes together: want 1 to 16":         {change, many},
		"4 changes together: they come to":          {change, large},
		`plan "p": it is there twice`:               {change, []ddbstore.Put{plan("p"), plan("q"), plan("p")}},
		"a name of 1001 bytes is too long":          {change, []ddbstore.Put{plan(long)}},
		"an id of 1001 bytes is too long":           {change, []ddbstore.Put{ddbstore.Tenant{ID: long, Plan: "p", Status: ddbstore.Active}}},
		"a plan of 1001 bytes is too long":          {change, []ddbstore.Put{ddbstore.Tenant{ID: "t", Plan: long, Status: ddbstore.Active}}},
		"a tenant of 1001 bytes is too long":        {change, []ddbstore.Put{ddbstore.Credential{Hash: ddbstore.Hash{1}, Tenant: long}}},
		`a name that is not UTF-8: "\xff"`:          {change, []ddbstore.Put{plan("\xff")}},
		`status "stolen": want "active", "revoked"`: {change, []ddbstore.Put{ddbstore.Credential{Hash: ddbstore.Hash{1}, Tenant: "t", Status: "stolen"}}},
		`plan "p": its 411691 bytes are too many`:   {change, []ddbstore.Put{ddbstore.Plan{Name: "p", Body: strings.Repeat("x", 200<<10), Next: strings.Repeat("x", 200<<10)}}},
		"an author of 257 bytes":                    {ddbstore.Change{Author: strings.Repeat("a", 257)}, []ddbstore.Put{plan("p")}},
		"a reason of 4097 bytes":                    {ddbstore.Change{Author: "a", Reason: strings.Repeat("a", 4097)}, []ddbstore.Put{plan("p")}},
		"a change at -1: want ns":                   {ddbstore.Change{Author: "a", At: -1}, []ddbstore.Put{plan("p")}},
	} {
		_, err := c.Write(t.Context(), tt.ch, tt.puts...)
		if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, ddbstore.ErrUnavailable) {
			t.Errorf("%.300v, want %q", err, want)
		}
	}
}

// TestWriteLargest writes the most and the largest that Write takes.
func TestWriteLargest(t *testing.T) {
	c, _ := newConfig(t)
	id := func(i int) string { return fmt.Sprintf("%s%03d", strings.Repeat("ü", 498), i) } // 999 bytes
	var puts []ddbstore.Put
	for i := range ddbstore.MaxWrite {
		puts = append(puts, ddbstore.Tenant{ID: id(i), Plan: id(0), Status: ddbstore.Active})
	}
	puts, err := c.Write(t.Context(), change, puts...)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range puts {
		tenant := p.(ddbstore.Tenant)
		tenant.Plan = id(1)
		puts[i] = tenant
	}
	if puts, err = c.Write(t.Context(), change, puts...); err != nil {
		t.Fatal(err)
	}
	if got, err := c.TenantsOn(t.Context(), id(1), "", 100); err != nil || len(got.IDs) != ddbstore.MaxWrite || got.IDs[1] != id(1) {
		t.Errorf("TenantsOn = %+v, %v", got, err)
	}
	if got, err := c.Tenant(t.Context(), id(15)); err != nil || got != puts[15] || got.Version != 2 {
		t.Errorf("Tenant = %+v, %v", got, err)
	}
	large := ddbstore.Plan{Name: "large", Body: strings.Repeat("x", 407_000)}
	for range 4 {
		if large, err = c.PutPlan(t.Context(), large, change); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := c.PlanAt(t.Context(), "large", 4); err != nil || got != large {
		t.Errorf("PlanAt: %d bytes, %v", len(got.Body), err)
	}
	// More than the megabyte that comes with one call.
	if got, err := c.PlanHistory(t.Context(), "large", 10); err != nil || len(got) != 4 || got[0] != large || got[3].Version != 1 {
		t.Errorf("PlanHistory: %d versions, %v, want 4", len(got), err)
	}
}
