// Package onewrite is an HTTP client for the AWS SDK that sends a small request
// in one write.
//
// net/http sends the headers of a request before its body unless it can tell that
// the body is in memory, and the SDK (smithy-go 1.28) wraps its bodies so that it
// cannot. Every call then takes two packets. It also loses answers: having sent
// the body, net/http looks for more of it; the SDK closes the body as soon as the
// answer begins, and its body reports io.EOF when it is read after that. If the
// answer was faster than the look, net/http takes the error for a failed write
// and closes the connection under the answer: "use of closed network connection".
// That is frequent on loopback, and possible wherever a process may lose its CPU
// between two instructions. For a write that must not be repeated it is the
// difference between an answer and none.
package onewrite

import (
	"bytes"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// limit is the size of bodies above which they are sent as they are.
const limit = 1 << 20

// Client passes requests on with their bodies in memory.
type Client struct {
	Next aws.HTTPClient
}

// Do sends the request. Its body is replaced by one that net/http can see
// through and, if nothing was sent because a pooled connection turned out to be
// dead, may begin again.
func (c Client) Do(req *http.Request) (*http.Response, error) {
	if req.Body == nil || req.ContentLength <= 0 || req.ContentLength > limit {
		return c.Next.Do(req)
	}
	body := make([]byte, req.ContentLength)
	if _, err := io.ReadFull(req.Body, body); err != nil {
		return nil, err
	}
	if err := req.Body.Close(); err != nil {
		return nil, err
	}
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, _ = req.GetBody()
	return c.Next.Do(req)
}
