// Authorizer is the Lambda function that decides each request. What it is
// configured with is in package settings, what it answers in docs/answers.md.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"weir/internal/authorizer"
	"weir/internal/limiter"
	"weir/internal/settings"
	"weir/internal/telemetry/watch"
)

func main() {
	h, release, err := handler()
	if err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintln(os.Stderr, "weir: "+line)
		}
		os.Exit(1)
	}
	lambda.StartWithOptions(h, lambda.WithEnableSIGTERM(release))
}

// releaseTime is how long leases may take to be returned: Lambda kills the
// process 300 to 500 ms after SIGTERM. What is not returned by then expires.
const releaseTime = 200 * time.Millisecond

// handler puts the parts together; release is to be called before the process
// ends. It makes no call: what fails in a network should cost a request its limit,
// not the function its start.
func handler() (h *authorizer.Handler, release func(), err error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	s, err := settings.FromEnv(os.Getenv, executable)
	if err != nil {
		return nil, nil, err
	}
	log := s.Logger(os.Stdout)
	r := newRecorder(s)
	b, err := open(s, r, log)
	if err != nil {
		return nil, nil, err
	}
	l := limiter.New(b.store, limiter.Options{
		Timeout:   s.StoreTimeout,
		Region:    s.Region,
		Regions:   len(s.Regions),
		Grace:     s.Grace,
		Strict:    b.strict,
		Processes: s.Processes,
	})
	watch.Limiter(r, l)
	h = authorizer.New(b.directory, l, authorizer.Options{
		KeyHeader:      s.KeyHeader,
		HTTP:           authorizer.HTTPStyle{IAM: s.HTTPResponse == settings.IAM, Flag: s.OverLimit == settings.Flag},
		LookupTimeout:  10 * s.StoreTimeout,
		Strict:         b.strict != nil || len(s.Regions) == 1, // one Region alone is exact
		BadCredentials: b.badCredentials,
		Log:            log,
		Observer:       newObserver(s, r, log),
	})
	release = func() {
		r.Flush(now()) // first, since it takes no time
		ctx, cancel := context.WithTimeout(context.Background(), releaseTime)
		defer cancel()
		if n := l.Release(ctx, now()); n > 0 {
			log.Info("tokens returned", "tokens", n)
		}
		r.Flush(now())
	}
	return h, release, nil
}
