package authorizer

import "weir/internal/request"

// connectRoute is the only route of a WebSocket API that has an authorizer: it
// limits connections, not messages.
const connectRoute = "$connect"

// isConnect reports whether the event is that of a new WebSocket connection.
// Its ARN ends in {stage}/$connect, without a verb; that of a REST API has one,
// whatever path the client asked for.
func (e *event) isConnect() bool {
	if e.RequestContext.EventType == "CONNECT" {
		return true
	}
	_, resource, _ := cutN(e.MethodARN, '/', 2)
	return resource == connectRoute
}

func (e *event) webSocket() request.Request {
	return request.Request{
		Kind:     request.WebSocket,
		ID:       e.RequestContext.RequestID,
		Resource: connectRoute,
		Headers:  headers(e.Headers, e.MultiValueHeaders),
		IP:       parseIP(e.RequestContext.Identity.SourceIP),
		ARN:      e.MethodARN,
	}
}
