package ddbstore

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// once makes one attempt. A charge is not idempotent: a second attempt after a
// lost answer would charge twice.
func once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

// reconnecting makes a second attempt, at once, if the connection failed: after a
// pause the server may have closed it, which shows only when it is used. It
// never repeats what was throttled: the SDK would wait for up to a second, and an
// authorizer has a better answer long before.
func reconnecting(o *dynamodb.Options) { o.Retryer = reconnect }

var reconnect = retry.NewStandard(func(o *retry.StandardOptions) {
	o.MaxAttempts = 2
	o.Retryables = []retry.IsErrorRetryable{retry.NoRetryCanceledError{}, retry.RetryableConnectionError{}}
	o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
	o.RateLimiter = ratelimit.None
})
