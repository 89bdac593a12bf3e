package authorizer

import (
	"strings"

	"weir/internal/request"
)

// restRequest reads the REQUEST event of a REST API. It carries everything but
// the body.
func (e *event) restRequest() request.Request {
	return request.Request{
		Kind:     request.RESTRequest,
		ID:       e.RequestContext.RequestID,
		Method:   strings.ToUpper(e.HTTPMethod),
		Path:     e.Path,
		Resource: e.Resource,
		Headers:  headers(e.Headers, e.MultiValueHeaders),
		IP:       parseIP(e.RequestContext.Identity.SourceIP),
		ARN:      e.MethodARN,
	}
}
