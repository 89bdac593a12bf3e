package authorizer

import (
	"encoding/json"
	"errors"
	"net/netip"
	"strings"

	"weir/internal/request"
)

// errNotAuthorizer is returned for an event that no authorizer is sent, such as
// that of a proxy integration the function was attached to by mistake.
var errNotAuthorizer = errors.New("not an event of an API Gateway authorizer")

// event has the fields of all kinds of authorizer events that matter here; what
// is not named is ignored, as API Gateway may add to its events.
type event struct {
	Version   string `json:"version"`
	Type      string `json:"type"`
	MethodARN string `json:"methodArn"`
	RouteARN  string `json:"routeArn"`

	AuthorizationToken string `json:"authorizationToken"`

	HTTPMethod string `json:"httpMethod"`
	Path       string `json:"path"`
	Resource   string `json:"resource"`
	RawPath    string `json:"rawPath"`
	RouteKey   string `json:"routeKey"`

	Headers           map[string]string   `json:"headers"`
	MultiValueHeaders map[string][]string `json:"multiValueHeaders"`

	RequestContext struct {
		RequestID string `json:"requestId"`
		EventType string `json:"eventType"`
		Stage     string `json:"stage"`
		Identity  struct {
			SourceIP string `json:"sourceIp"`
		} `json:"identity"`
		HTTP struct {
			Method   string `json:"method"`
			SourceIP string `json:"sourceIp"`
		} `json:"http"`
	} `json:"requestContext"`
}

// parse reads an authorizer event of any kind. The error is errNotAuthorizer.
func parse(raw []byte) (request.Request, error) {
	var e event
	if err := json.Unmarshal(raw, &e); err != nil {
		// A field of a type that the event never has is skipped, not fatal: one
		// odd field must not cost a client its answer.
		var typeErr *json.UnmarshalTypeError
		if !errors.As(err, &typeErr) || typeErr.Field == "" {
			return request.Request{}, errNotAuthorizer
		}
	}
	switch e.kind() {
	case request.HTTPv2:
		return e.httpV2(), nil
	case request.HTTPv1:
		return e.httpV1(), nil
	case request.WebSocket:
		return e.webSocket(), nil
	case request.RESTToken:
		return e.restToken(), nil
	case request.RESTRequest:
		return e.restRequest(), nil
	}
	return request.Request{}, errNotAuthorizer
}

// kind tells events apart by what API Gateway alone writes: a client chooses
// paths and headers, and must not be able to choose the kind with them.
func (e *event) kind() request.Kind {
	switch {
	case e.Type == "TOKEN":
		return request.RESTToken
	case e.Type != "REQUEST":
		return 0 // proxy events have a version but no type
	case e.Version == "2.0":
		return request.HTTPv2
	case e.Version == "1.0":
		return request.HTTPv1
	case e.Version != "":
		return 0
	case e.isConnect():
		return request.WebSocket
	}
	return request.RESTRequest
}

// parseIP returns the zero Addr for what is not an address.
func parseIP(s string) netip.Addr {
	a, _ := netip.ParseAddr(s)
	return a
}

// route is what an ARN of a method says:
// arn:aws:execute-api:{region}:{account}:{api}/{stage}/{VERB}/{path}
type route struct {
	method string
	path   string // with its slash, "" if the ARN has no method
}

func parseARN(arn string) route {
	_, resource, ok := cutN(arn, ':', 5)
	if !ok {
		return route{}
	}
	_, rest, ok := cutN(resource, '/', 2)
	if !ok {
		return route{}
	}
	method, path, _ := strings.Cut(rest, "/")
	return route{method: strings.ToUpper(method), path: "/" + path}
}

// cutN cuts s around the nth sep.
func cutN(s string, sep byte, n int) (before, after string, ok bool) {
	for i := range len(s) {
		if s[i] != sep {
			continue
		}
		if n--; n == 0 {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}
