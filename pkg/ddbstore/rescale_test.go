package ddbstore_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// stamp is a version as plans have them.
const stamp = t0 + 17

func hundredPerSecond(t *testing.T) bucket.Limit {
	t.Helper()
	l, err := bucket.NewLimit(bucket.Rate{Count: 100, Period: time.Second}, 100)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestRowWithoutLimit: a row written before rows carried their limit is taken to
// be under the charge's, whatever its version was; its TAT stays, and then it has
// a limit.
func TestRowWithoutLimit(t *testing.T) {
	direct := tables(t).Client(region)
	s, l := ddbstore.New(direct, buckets, region), tenPerSecond(t)
	old := map[string]string{"tat": fmt.Sprint(t0 + 5e8), "spent": "40", "at": fmt.Sprint(t0), "born": "7", "ver": "12",
		"es": fmt.Sprint(t0), "ep": "38", "ttl": fmt.Sprint(t0/1e9 + 1e5)}
	for _, ver := range []int64{0, 3, stamp} {
		for _, knows := range []bool{false, true} {
			key := newKey(t)
			put(t, direct, key, old)
			row, found, err := s.Row(t.Context(), key)
			if err != nil || !found || row.Limit != (bucket.Limit{}) || row.Ver != 12 {
				t.Fatalf("Row = %+v, %v, %v, want one of version 12 without a limit", row, found, err)
			}
			most := 2
			c := take(l, t0+1, 2)
			if c.Ver = ver; knows {
				c.Known, most = &row, 1
			}
			out, err := s.Charge(t.Context(), key, c)
			if err != nil || out.Status != bucket.Charged || out.Calls > most {
				t.Errorf("version %d: Charge = %+v, %v, want it in %d calls", ver, out, err, most)
			}
			if want, _ := c.Apply(row, true); !equalRow(out.Row, want) || out.Row.TAT != t0+7e8 || out.Row.Limit != l || out.Row.Ver != ver {
				t.Errorf("version %d: row %+v\nwant %+v", ver, out.Row, want)
			}
			c.Known = &out.Row
			if out, err = s.Charge(t.Context(), key, c); err != nil || out.Status != bucket.Charged || out.Calls != 1 {
				t.Errorf("version %d: the next Charge = %+v, %v, want one call", ver, out, err)
			}
		}
	}
	key := newKey(t)
	put(t, direct, key, old)
	out, err := s.Rescale(t.Context(), key, bucket.Rescale{Limit: l, Ver: stamp, Now: t0 + 1})
	if err != nil || out.Status != bucket.Charged || out.Row.TAT != t0+5e8 || out.Row.Limit != l || out.Row.Ver != stamp {
		t.Errorf("Rescale = %+v, %v, want the same TAT under a limit", out, err)
	}
}

// TestRowChargedByAnOlderProgram: a program that knows nothing of limits in rows
// leaves the limit and sets the version back. The next charge puts that right and
// changes no level.
func TestRowChargedByAnOlderProgram(t *testing.T) {
	direct := tables(t).Client(region)
	s, l, key := ddbstore.New(direct, buckets, region), tenPerSecond(t), newKey(t)
	c := take(l, t0, 3)
	c.Ver = stamp
	if _, err := s.Charge(t.Context(), key, c); err != nil {
		t.Fatal(err)
	}
	_, err := direct.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: ptr(buckets),
		Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: key}, "sk": &types.AttributeValueMemberS{Value: region},
		},
		UpdateExpression: aws.String("SET tat = tat + :inc, spent = spent + :one, ver = :ver"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":inc": &types.AttributeValueMemberN{Value: fmt.Sprint(l.Time(1))},
			":one": &types.AttributeValueMemberN{Value: "1"}, ":ver": &types.AttributeValueMemberN{Value: "12"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Charge(t.Context(), key, c)
	if err != nil || out.Status != bucket.Charged || out.Row.Spent != 7 || out.Row.TAT != t0+l.Time(7) || out.Row.Ver != stamp {
		t.Errorf("Charge = %+v, %v, want 7 spent under %d", out, err, stamp)
	}
}

// TestRescaleLosesRaces: a row that is charged between being read and being
// written is carried over as it then is; after a few times the Rescale gives up,
// and has written nothing.
func TestRescaleLosesRaces(t *testing.T) {
	e := tables(t)
	p, direct := e.Proxy(t), ddbstore.New(e.Client(region), buckets, region)
	s := ddbstore.New(client(p.Endpoint(), patient), buckets, region)
	before, after := tenPerSecond(t), hundredPerSecond(t)
	for _, tt := range []struct {
		lost, calls int // races, round trips
		err         error
	}{{0, 2, nil}, {1, 3, nil}, {5, 7, nil}, {6, 7, ddbstore.ErrConflict}} {
		key, lose := newKey(t), tt.lost
		charge := func() {
			if _, err := direct.Charge(context.Background(), key, take(before, t0, 1)); err != nil {
				t.Errorf("Charge: %v", err)
			}
		}
		charge()
		p.Set(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.Header.Get("X-Amz-Target") == "DynamoDB_20120810.UpdateItem" && lose > 0 {
				lose--
				charge()
			}
			next.ServeHTTP(w, r)
		})
		out, err := s.Rescale(t.Context(), key, bucket.Rescale{Limit: after, Ver: 2, Now: t0})
		if !errors.Is(err, tt.err) || out.Calls != tt.calls || out.Units != float64(tt.calls-1) {
			t.Errorf("%d races lost: Rescale = %+v, %v, want %d calls, %v", tt.lost, out, err, tt.calls, tt.err)
		}
		spent, limit := int64(1+tt.lost), after
		if tt.err != nil {
			limit = before
		}
		if row, _, err := direct.Row(t.Context(), key); err != nil || row.Spent != spent || row.Limit != limit || row.TAT != t0+before.Time(spent) {
			t.Errorf("%d races lost: Row = %+v, %v, want %d spent of ten, or of a hundred at ten times the pace", tt.lost, row, err, spent)
		}
	}
}

// TestStrictRescaleCollides: in a strict table a Rescale is repeated while another
// Region writes the row, as a charge is.
func TestStrictRescaleCollides(t *testing.T) {
	p := strictTable(t).Proxy(t)
	s, key := ddbstore.NewStrict(client(p.Endpoint(), patient), strict), newKey(t)
	if _, err := s.Charge(t.Context(), key, take(tenPerSecond(t), t0, 5)); err != nil {
		t.Fatal(err)
	}
	collisions := 2
	p.Set(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Header.Get("X-Amz-Target") == "DynamoDB_20120810.UpdateItem" && collisions > 0 {
			collisions--
			writeConflict(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	})
	out, err := s.Rescale(t.Context(), key, bucket.Rescale{Limit: hundredPerSecond(t), Ver: 2, Now: t0})
	if err != nil || out.Status != bucket.Charged || out.Calls != 4 || out.Row.TAT != t0+5e8 {
		t.Errorf("Rescale = %+v, %v, want it done in four calls", out, err)
	}
}
