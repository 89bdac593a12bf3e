package authorizer

import (
	"strings"

	"weir/internal/request"
)

// httpV1 reads the event of an HTTP API with payload format 1.0: nearly that of
// a REST API. Its authorizationToken is only the identity sources, joined.
func (e *event) httpV1() request.Request {
	return request.Request{
		Kind:     request.HTTPv1,
		ID:       e.RequestContext.RequestID,
		Method:   strings.ToUpper(e.HTTPMethod),
		Path:     e.Path,
		Resource: e.Resource,
		Headers:  headers(e.Headers, e.MultiValueHeaders),
		IP:       parseIP(e.RequestContext.Identity.SourceIP),
		ARN:      e.MethodARN,
	}
}
