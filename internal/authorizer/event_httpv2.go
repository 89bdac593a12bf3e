package authorizer

import (
	"strings"

	"weir/internal/request"
)

// httpV2 reads the event of an HTTP API with payload format 2.0. Values of a
// header sent more than once arrive as one, joined with commas.
func (e *event) httpV2() request.Request {
	return request.Request{
		Kind:     request.HTTPv2,
		ID:       e.RequestContext.RequestID,
		Method:   strings.ToUpper(e.RequestContext.HTTP.Method),
		Path:     withoutStage(e.RawPath, e.RequestContext.Stage),
		Resource: routeTemplate(e.RouteKey),
		Headers:  headers(e.Headers, nil),
		IP:       parseIP(e.RequestContext.HTTP.SourceIP),
		ARN:      e.RouteARN,
	}
}

// routeTemplate returns the template in a route key such as "GET /users/{id}";
// "$default" is one of its own.
func routeTemplate(key string) string {
	if _, template, ok := strings.Cut(key, " "); ok {
		return template
	}
	return key
}

// withoutStage removes the stage that a path starts with unless the stage is
// $default.
func withoutStage(path, stage string) string {
	rest, ok := strings.CutPrefix(path, "/"+stage)
	switch {
	case !ok || stage == "" || stage == "$default":
		return path
	case rest == "":
		return "/"
	case rest[0] == '/':
		return rest
	}
	return path
}
