package testengine

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"
)

// Answer returns a Fault that answers with a DynamoDB error document, in place
// of doing what was asked.
func Answer(status int, body string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.Header().Set("X-Amzn-Requestid", "FAULT")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// Throttle is DynamoDB's answer for a partition that gets too many writes.
var Throttle = Answer(http.StatusBadRequest, `{
	"__type": "com.amazonaws.dynamodb.v20120810#ThrottlingException",
	"message": "Throughput exceeds the current capacity of one or more partitions.",
	"throttlingReasons": [{"reason": "TableWriteKeyRangeThroughputExceeded", "resource": "arn:aws:dynamodb:us-east-1:000000000000:table/t"}]
}`)

// LoseAnswer does what was asked and closes the connection without a word.
func LoseAnswer(_ http.ResponseWriter, r *http.Request, next http.Handler) {
	next.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// Stall does nothing until the client gives up.
func Stall(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
	_, _ = io.Copy(io.Discard, r.Body) // else the server does not notice that the client left
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}

// Slow does what was asked after d, if the client is still there then.
func Slow(d time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		body, err := io.ReadAll(r.Body) // else the server does not notice that the client left
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		select {
		case <-r.Context().Done():
			panic(http.ErrAbortHandler)
		case <-time.After(d):
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	}
}

// Reset resets the connection.
func Reset(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	_ = conn.(*net.TCPConn).SetLinger(0) // close it with RST
	conn.Close()
}

// EverySecond is f for the first request, the third, and so on.
func EverySecond(f Fault) Fault {
	var n atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if n.Add(1)%2 == 1 {
			f(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	}
}

// In is f for requests to one Region.
func In(region string, f Fault) Fault {
	scope := "/" + region + "/dynamodb/" // of the signature
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.Contains(r.Header.Get("Authorization"), scope) {
			f(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	}
}
