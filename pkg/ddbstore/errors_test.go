package ddbstore_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"weir/internal/testengine"
	"weir/pkg/ddbstore"
)

// TestErrors has real answers of DynamoDB go through the real client.
func TestErrors(t *testing.T) {
	exception := func(status int, name, more string) testengine.Fault {
		return testengine.Answer(status, `{"__type":"com.amazonaws.dynamodb.v20120810#`+name+`","message":"m"`+more+`}`)
	}
	const reasons = `,"ThrottlingReasons":[{"reason":"TableWriteKeyRangeThroughputExceeded","resource":"arn:r"}]`
	for _, tt := range []struct {
		name   string
		answer testengine.Fault
		want   error
		text   string // in the message
		calls  int    // of a Charge
		units  float64
	}{
		{"throttled", exception(400, "ThrottlingException", strings.Replace(reasons, "T", "t", 1)), ddbstore.ErrThrottled, "TableWriteKeyRangeThroughputExceeded", 1, 0},
		{"provisioned", exception(400, "ProvisionedThroughputExceededException", reasons), ddbstore.ErrThrottled, "TableWriteKeyRangeThroughputExceeded", 1, 0},
		{"account limit", exception(400, "RequestLimitExceeded", ""), ddbstore.ErrThrottled, "", 1, 0},
		{"another throttle", exception(400, "ThrottledException", ""), ddbstore.ErrThrottled, "", 1, 0},
		{"another Region writes", exception(400, "ReplicatedWriteConflictException", ""), ddbstore.ErrConflict, "", 3, 3},
		{"a transaction writes", exception(400, "TransactionConflictException", ""), ddbstore.ErrConflict, "", 3, 3},
		{"server error", exception(500, "InternalServerError", ""), ddbstore.ErrUnavailable, "", 1, 1},
		{"server busy", testengine.Answer(503, ""), ddbstore.ErrUnavailable, "", 1, 1},
		{"no table", exception(400, "ResourceNotFoundException", ""), ddbstore.ErrUnavailable, `no table "weir-buckets"`, 1, 1},
		{"no permission", exception(400, "AccessDeniedException", ""), ddbstore.ErrUnavailable, `table "weir-buckets"`, 1, 1},
		{"bad signature", exception(400, "UnrecognizedClientException", ""), ddbstore.ErrUnavailable, "", 1, 1},
		{"bad request", exception(400, "ValidationException", ""), ddbstore.ErrUnavailable, "", 1, 1},
		{"garbage", testengine.Answer(200, "<html>"), ddbstore.ErrUnavailable, "", 1, 1},
		{"hung up", func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }, ddbstore.ErrUnavailable, "", 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var requests atomic.Int64
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				tt.answer(w, r, nil)
			}))
			defer srv.Close()
			s := ddbstore.New(client(srv.URL), buckets, region)
			out, err := s.Charge(t.Context(), "k", take(tenPerSecond(t), t0, 1))
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("Charge: %v, want %v and %q", err, tt.want, tt.text)
			}
			for _, other := range []error{ddbstore.ErrThrottled, ddbstore.ErrUnavailable, ddbstore.ErrConflict, context.Canceled, context.DeadlineExceeded} {
				if other != tt.want && errors.Is(err, other) {
					t.Errorf("Charge: %v is also %v", err, other)
				}
			}
			if out.Calls != tt.calls || int(requests.Load()) != tt.calls || out.Units != tt.units {
				t.Errorf("%d calls, %d requests, %v units, want %d and %v", out.Calls, requests.Load(), out.Units, tt.calls, tt.units)
			}
			if _, err := s.Rows(t.Context(), "k"); !errors.Is(err, tt.want) {
				t.Errorf("Rows: %v, want %v", err, tt.want)
			}
		})
	}
}

// TestTimeoutWithoutDeadlineIsUnavailable: only the caller's own deadline is the
// context's error; the client's is not, although net/http calls it that.
func TestTimeoutWithoutDeadlineIsUnavailable(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		testengine.Stall(w, r, nil)
	}))
	defer srv.Close()
	c := client(srv.URL, impatient(10*time.Millisecond))
	_, err := ddbstore.New(c, buckets, region).Charge(t.Context(), "k", take(tenPerSecond(t), t0, 1))
	if !errors.Is(err, ddbstore.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Charge: %v, want ErrUnavailable and not the context's error", err)
	}
}

func TestMissingTableIsNamed(t *testing.T) {
	e := tables(t)
	s := ddbstore.New(client(e.Endpoint()), "no-such-table", region)
	if _, err := s.Charge(t.Context(), "k", take(tenPerSecond(t), t0, 1)); !errors.Is(err, ddbstore.ErrUnavailable) || !strings.Contains(err.Error(), `no table "no-such-table"`) {
		t.Errorf("Charge: %v, want an error that names the table", err)
	}
	if _, err := ddbstore.NewConfig(client(e.Endpoint()), "no-such-table").Plan(t.Context(), "pro"); !errors.Is(err, ddbstore.ErrUnavailable) || errors.Is(err, ddbstore.ErrNotFound) {
		t.Errorf("Plan: %v, want ErrUnavailable and not ErrNotFound", err)
	}
}
