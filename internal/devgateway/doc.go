// Package devgateway is an API Gateway REST API for development: an HTTP server
// that puts every request through an authorizer function as API Gateway would,
// and answers with the gateway responses of a SAM or CloudFormation template.
//
// # What it reproduces
//
// The REQUEST event, the evaluation of the returned policy (explicit Deny wins,
// no match denies), the error "Unauthorized", what happens to an answer that is
// malformed, context values as strings, gateway responses (status, header
// mappings, body templates without VTL, fallback to DEFAULT_4XX and DEFAULT_5XX,
// AWS's own defaults), header mappings of integration responses, the route
// table's precedence, and the x-amzn-RequestId and x-amzn-ErrorType headers.
//
// # Where it is stricter
//
// What AWS leaves undocumented is an error or a warning here, so that it is seen
// before a deployment and not after: unknown variables, body templates that do
// not come out as JSON, policies with conditions, null in the context.
//
// # What it leaves out
//
// TLS, caching of authorizer results (Weir needs it off), CORS preflight, usage
// plans, resource policies, request validation and VTL. Header names arrive in
// Go's canonical form, not in the client's casing.
package devgateway
