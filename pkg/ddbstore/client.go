package ddbstore

import (
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"weir/internal/onewrite"
)

// Limits of a client's connections. A request path that must answer within
// 100 ms gains nothing from a connection that takes longer than a second.
const (
	connectTimeout = time.Second
	answerTimeout  = 5 * time.Second // for calls without a deadline

	// idleTimeout is well below the 60 to 90 s after which DynamoDB has been seen
	// to close a connection. It is measured on the wall clock, so a function that
	// was frozen for longer connects anew instead of losing its first charge.
	idleTimeout = 30 * time.Second

	// maxIdle is for the limits of one request, which are charged in parallel.
	maxIdle = 32
)

// EnvConfig returns the configuration for a DynamoDB client that the environment
// of a Lambda function describes. It looks at variables only: no files, no
// instance metadata, no other call, and none of the SDK code for those.
//
//	AWS_REGION or AWS_DEFAULT_REGION           required
//	AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY   required
//	AWS_SESSION_TOKEN                          optional
//	AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL optional; the first wins
//
// Anywhere else, load a configuration with the SDK's config package.
func EnvConfig(getenv func(string) string) (aws.Config, error) {
	first := func(names ...string) string {
		for _, n := range names {
			if v := getenv(n); v != "" {
				return v
			}
		}
		return ""
	}
	var errs []error
	region := first("AWS_REGION", "AWS_DEFAULT_REGION")
	if region == "" {
		errs = append(errs, errors.New("ddbstore: no Region: set AWS_REGION"))
	}
	id, secret := getenv("AWS_ACCESS_KEY_ID"), getenv("AWS_SECRET_ACCESS_KEY")
	if id == "" || secret == "" {
		errs = append(errs, errors.New("ddbstore: no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"))
	}
	if len(errs) > 0 {
		return aws.Config{}, errors.Join(errs...)
	}
	cfg := aws.Config{
		Region:      region,
		Credentials: credentials.NewStaticCredentialsProvider(id, secret, getenv("AWS_SESSION_TOKEN")),
	}
	if url := first("AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL"); url != "" {
		cfg.BaseEndpoint = &url
	}
	return cfg, nil
}

// NewClient returns a client for Store and Config: short timeouts, one packet a
// call, and a pool of connections made for a function that is frozen between
// requests. It connects when it is first used. Options are applied last and may
// change everything, but not how often Store and Config try.
func NewClient(cfg aws.Config, options ...func(*dynamodb.Options)) *dynamodb.Client {
	tuned := func(o *dynamodb.Options) {
		o.HTTPClient = onewrite.Client{Next: connections().Freeze()}
	}
	return dynamodb.NewFromConfig(cfg, append([]func(*dynamodb.Options){tuned}, options...)...)
}

// connections returns the HTTP client below a new client.
func connections() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().
		WithDialerOptions(func(d *net.Dialer) {
			d.Timeout = connectTimeout
			d.KeepAlive = 15 * time.Second
		}).
		WithTransportOptions(func(t *http.Transport) {
			t.TLSHandshakeTimeout = connectTimeout
			t.ResponseHeaderTimeout = answerTimeout
			t.IdleConnTimeout = idleTimeout
			t.MaxIdleConnsPerHost = maxIdle
			http1(t)
		})
}

// http1 keeps t from HTTP/2, where a call that is given up leaves its connection
// in use: one that hangs without a word would take the next calls too. With HTTP/1
// a connection ends with the call that was given up on it.
func http1(t *http.Transport) {
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	t.ForceAttemptHTTP2 = false
	t.TLSClientConfig.NextProtos = nil // has been filled by Transport.Clone, which the SDK calls
}
