package ddbstore_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"weir/internal/onewrite"
	"weir/internal/testengine"
	"weir/pkg/ddbstore"
)

// TestHungConnection: a connection that goes silent, with nobody to reset it,
// costs the call that was on it its time, and the next call nothing. The server
// would rather speak HTTP/2, as a load balancer in front of DynamoDB might.
func TestHungConnection(t *testing.T) {
	engine, err := url.Parse(tables(t).Endpoint())
	if err != nil {
		t.Fatal(err)
	}
	next := httputil.NewSingleHostReverseProxy(engine)
	var mu sync.Mutex
	served, hung := make(map[string]bool), make(map[string]bool) // addresses of connections
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		silent := hung[r.RemoteAddr]
		served[r.RemoteAddr] = true
		mu.Unlock()
		if silent {
			testengine.Stall(w, r, next)
		}
		next.ServeHTTP(w, r)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})

	c := client(server.URL, func(o *dynamodb.Options) {
		trusted := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
		o.HTTPClient = onewrite.Client{Next: ddbstore.Connections().WithTransportOptions(func(t *http.Transport) {
			t.TLSClientConfig.RootCAs = trusted
		}).Freeze()}
	})
	store := ddbstore.New(c, buckets, region)
	charge := func(d time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), d)
		defer cancel()
		_, err := store.Charge(ctx, "hung", take(tenPerSecond(t), t0, 1))
		return err
	}
	if err := charge(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	maps.Copy(hung, served)
	mu.Unlock()
	if err := charge(100 * time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("on the hung connection: %v, want DeadlineExceeded", err)
	}
	if err := charge(10 * time.Second); err != nil {
		t.Errorf("after it: %v, want a charge on a new connection", err)
	}
}
