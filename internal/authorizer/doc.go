// Package authorizer is the Lambda authorizer: it turns an event of API Gateway
// into an answer that API Gateway understands.
//
// # The way of a request
//
//	event -> request.Request            event.go, one file per kind of event
//	      -> credential                 credential.go
//	      -> tenant and plan            directory.Directory
//	      -> limits that match          plan.Plan
//	      -> Decision                   Limiter
//	      -> fields                     fields.go, ratelimit.go
//	      -> answer of the kind's form  answer.go
//
// # What a client can bring about
//
// Never a 500. The only error that leaves [Handler.Handle] is "Unauthorized",
// which API Gateway turns into 401; everything else, a panic included, is a
// well-formed answer. docs/answers.md has the table.
//
// # What is let through
//
// A store that cannot tell whether a known caller is over a limit does not keep
// the caller out: limits protect the API, and their absence is the lesser evil.
// A caller who cannot be identified is refused, whatever the cause: who calls is
// not a matter of limits.
package authorizer
