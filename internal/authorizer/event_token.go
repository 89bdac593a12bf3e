package authorizer

import (
	"strings"

	"weir/internal/request"
)

// restToken reads the TOKEN event of a REST API. It has no headers, no address
// and no route template: limits by IP or header cannot be told apart with it,
// and the Resource is the path itself.
func (e *event) restToken() request.Request {
	r := parseARN(e.MethodARN)
	return request.Request{
		Kind:     request.RESTToken,
		Method:   r.method,
		Path:     r.path,
		Resource: r.path,
		Token:    bearer(e.AuthorizationToken),
		ARN:      e.MethodARN,
	}
}

// bearer returns token without the scheme that clients write before it when the
// token's header is Authorization.
func bearer(token string) string {
	const scheme = "bearer "
	token = strings.TrimSpace(token)
	if len(token) > len(scheme) && strings.EqualFold(token[:len(scheme)], scheme) {
		return strings.TrimSpace(token[len(scheme):])
	}
	return token
}
