// Package request is the one form into which every kind of authorizer event is
// brought before anything is decided.
package request

import "net/netip"

// Kind is the kind of API and payload an event came from; it decides the form
// of the answer.
type Kind int

const (
	RESTRequest Kind = iota + 1 // REST API, REQUEST authorizer
	RESTToken                   // REST API, TOKEN authorizer
	HTTPv2                      // HTTP API, payload 2.0
	HTTPv1                      // HTTP API, payload 1.0
	WebSocket                   // WebSocket API, $connect
)

// Request is what a decision needs to know of a request.
type Request struct {
	Kind     Kind
	ID       string              // API Gateway's request id
	Method   string              // upper case; "" for $connect
	Path     string              // as the client sent it, without the stage
	Resource string              // route template, e.g. /v1/users/{id}; "$connect" for WebSocket
	Headers  map[string][]string // keys in lower case, every value the client sent
	IP       netip.Addr          // zero if the event has none
	Token    string              // TOKEN events only: the credential
	ARN      string              // of the method or route
}
