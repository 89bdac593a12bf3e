package testengine

import (
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"weir/internal/onewrite"
)

// Credentials are accepted by the engine and by nothing else.
var Credentials = credentials.NewStaticCredentialsProvider("test", "test", "")

// Client returns a client for the engine's tables in the named Region, with a
// connection pool of its own. It retries, for it is meant for setting a test up
// and for looking at what came of it.
func (e *Engine) Client(region string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       region,
		BaseEndpoint: aws.String(e.endpoint),
		Credentials:  Credentials,
		HTTPClient: onewrite.Client{Next: awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
			t.IdleConnTimeout = 2 * time.Second // before the server closes them
		}).Freeze()},
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts, o.MaxBackoff = 5, 200*time.Millisecond
		}),
	})
}
