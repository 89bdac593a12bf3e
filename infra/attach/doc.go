// Package attach puts a REST API behind Weir: an API of Weir's own stacks, or
// anybody's.
//
//	attach.NewRateLimited(stack, jsii.String("Limits"), &attach.RateLimitedProps{Api: api})
//
// adds the authorizer (with its cache off), puts every method behind it, and makes
// a refusal a 429 with Retry-After, rate-limit headers and a JSON body.
//
// # What is refused
//
// A limiter that silently does not limit is worse than none, so an app does not
// synthesise if the API would
//
//   - cache what the authorizer says: a cached answer counts nothing;
//   - lack the 429 (gateway response ACCESS_DENIED), or have another put in its
//     place, by a second construct or an override;
//   - have methods that pass the authorizer by, other than OPTIONS and those that
//     Open names;
//   - be deployed before the authorizer or a response is there.
//
// An API whose methods are not to be seen (a SpecRestApi, an imported one) does not
// compile. One that cannot answer 429 at all, an HTTP API, has NewRateLimitedHttp,
// which makes you say what its clients get instead.
//
// The check reads the templates as they are written, after every aspect and
// override: see package weir/internal/doctor, whose rules `weir doctor` applies to
// what is deployed.
package attach
