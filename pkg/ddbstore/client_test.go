package ddbstore_test

import (
	"encoding/json"
	"net"
	"strings"
	"testing"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"weir/internal/onewrite"
	"weir/pkg/ddbstore"
)

func impatient(d time.Duration) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) { o.HTTPClient = awshttp.NewBuildableClient().WithTimeout(d) }
}

// patient waits for a connection as long as the SDK does: a crowd of clients on a
// busy machine may need more than the second that a function gives it.
func patient(o *dynamodb.Options) {
	o.HTTPClient = onewrite.Client{Next: awshttp.NewBuildableClient().Freeze()}
}

func env(vars ...string) func(string) string {
	return func(name string) string {
		for _, v := range vars {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func TestEnvConfig(t *testing.T) {
	const id, secret, token = "AWS_ACCESS_KEY_ID=AKID", "AWS_SECRET_ACCESS_KEY=hush", "AWS_SESSION_TOKEN=tok"
	for _, tt := range []struct {
		name             string
		env              []string
		region, endpoint string
		err              []string // parts of the message
	}{
		{name: "lambda", env: []string{"AWS_REGION=eu-west-1", "AWS_DEFAULT_REGION=x", id, secret, token}, region: "eu-west-1"},
		{name: "default Region", env: []string{"AWS_DEFAULT_REGION=eu-west-1", id, secret, token}, region: "eu-west-1"},
		{name: "endpoint", env: []string{"AWS_REGION=r", id, secret, token, "AWS_ENDPOINT_URL=http://a"}, region: "r", endpoint: "http://a"},
		{name: "endpoint of the service", env: []string{"AWS_REGION=r", id, secret, token, "AWS_ENDPOINT_URL=http://a", "AWS_ENDPOINT_URL_DYNAMODB=http://b"}, region: "r", endpoint: "http://b"},
		{name: "no Region", env: []string{id, secret}, err: []string{"AWS_REGION"}},
		{name: "no secret", env: []string{"AWS_REGION=r", id}, err: []string{"AWS_SECRET_ACCESS_KEY"}},
		{name: "nothing", err: []string{"AWS_REGION", "AWS_ACCESS_KEY_ID"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg, err := ddbstore.EnvConfig(env(tt.env...))
			if tt.err != nil {
				for _, part := range tt.err {
					if err == nil || !strings.Contains(err.Error(), part) {
						t.Errorf("error %v, want one that names %s", err, part)
					}
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			endpoint := ""
			if o := ddbstore.NewClient(cfg).Options(); o.BaseEndpoint != nil {
				endpoint = *o.BaseEndpoint
			}
			if cfg.Region != tt.region || endpoint != tt.endpoint {
				t.Errorf("Region %q, endpoint %q, want %q, %q", cfg.Region, endpoint, tt.region, tt.endpoint)
			}
			creds, err := cfg.Credentials.Retrieve(t.Context())
			if err != nil || creds.AccessKeyID != "AKID" || creds.SecretAccessKey != "hush" || creds.SessionToken != "tok" {
				t.Errorf("credentials are not those of the environment: %v", err)
			}
		})
	}
}

// TestChargeIsOnePacket reads from a connection once: what the client sent in one
// write is all there.
func TestChargeIsOnePacket(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	first := make(chan string, 1)
	go func() {
		defer close(first)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		b := make([]byte, 64<<10)
		n, _ := conn.Read(b)
		first <- string(b[:n])
	}()
	c := client("http://" + l.Addr().String())
	_, err = ddbstore.New(c, buckets, region).Charge(t.Context(), "k", take(tenPerSecond(t), t0, 1))
	if err == nil {
		t.Error("a charge without an answer succeeded")
	}
	head, body, _ := strings.Cut(<-first, "\r\n\r\n")
	if !strings.HasPrefix(head, "POST / HTTP/1.1") || !json.Valid([]byte(body)) {
		t.Errorf("the first packet has %d bytes of headers and %d of the body, want all", len(head), len(body))
	}
}
