package replicator

import (
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
)

// local credentials are accepted by a test engine and by nothing else.
var local = credentials.NewStaticCredentialsProvider("test", "test", "")

// pool returns an HTTP client for one kind of call. The engine may close an idle
// connection just when it is used again, hence the short idle time and the
// attempts that follow a failed one.
func pool() aws.HTTPClient {
	return awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.IdleConnTimeout = 2 * time.Second
	})
}

func patient() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts, o.MaxBackoff = 5, 200*time.Millisecond
	})
}

// tableClient returns a client that makes one attempt of a call: a failed
// condition must mean that nothing was written.
func tableClient(endpoint, region string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: region, BaseEndpoint: &endpoint, Credentials: local, HTTPClient: pool(), Retryer: aws.NopRetryer{},
	})
}

func streamsClient(endpoint, region string) *dynamodbstreams.Client {
	return dynamodbstreams.New(dynamodbstreams.Options{
		Region: region, BaseEndpoint: &endpoint, Credentials: local, HTTPClient: pool(), Retryer: patient(),
	})
}
