package testworld

import (
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// Calls counts what the functions of a Region ask of the store.
type Calls struct {
	Charges, Queries, Lookups int64 // UpdateItem, Query, everything else
}

// counter stands between the functions of a Region and the store.
type counter struct {
	endpoint                  string
	server                    *http.Server
	charges, queries, lookups atomic.Int64
}

func newCounter(engine string) (*counter, error) {
	target, err := url.Parse(engine)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	// The engine may close an idle connection just when it is used again.
	proxy.Transport = &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 2 * time.Second}
	c := &counter{endpoint: "http://" + l.Addr().String()}
	c.server = &http.Server{ErrorLog: log.New(log.Writer(), "", 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch _, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), "."); op {
		case "UpdateItem":
			c.charges.Add(1)
		case "Query":
			c.queries.Add(1)
		default:
			c.lookups.Add(1)
		}
		proxy.ServeHTTP(w, r)
	})}
	go func() { _ = c.server.Serve(l) }() // until close
	return c, nil
}

func (c *counter) calls() Calls {
	return Calls{Charges: c.charges.Load(), Queries: c.queries.Load(), Lookups: c.lookups.Load()}
}

func (c *counter) close() { _ = c.server.Close() }
