package authorizer

import (
	"encoding/json"

	"weir/internal/limiter"
	"weir/internal/request"
)

// verdict is what is to be answered, before it has a form.
type verdict struct {
	allowed  bool
	over     bool // refused by a limit of the caller's own plan, and by nothing else
	fields   fields
	decision limiter.Decision // that it is made of; none if no limit was asked
}

// HTTPStyle is how an HTTP API is answered; the zero value is its safe default.
type HTTPStyle struct {
	IAM  bool // policies rather than {"isAuthorized": ...} for payload 2.0
	Flag bool // let requests over a limit through, with limited=true: the backend answers 429
}

// iamAnswer is the answer of REST and WebSocket APIs, and of HTTP APIs that were
// told to expect it.
type iamAnswer struct {
	PrincipalID    string `json:"principalId"`
	PolicyDocument policy `json:"policyDocument"`
	Context        fields `json:"context"`
}

type policy struct {
	Version   string       `json:"Version"`
	Statement [1]statement `json:"Statement"`
}

type statement struct {
	Action   string `json:"Action"`
	Effect   string `json:"Effect"`
	Resource string `json:"Resource"`
}

// simpleAnswer is the other answer of HTTP APIs with payload 2.0.
type simpleAnswer struct {
	IsAuthorized bool   `json:"isAuthorized"`
	Context      fields `json:"context"`
}

// encode gives v the form that the kind of API expects. The wrong form would be a
// 500 to the client.
func (s HTTPStyle) encode(kind request.Kind, v verdict) json.RawMessage {
	http := kind == request.HTTPv2 || kind == request.HTTPv1
	allowed := v.allowed || http && s.Flag && v.over
	if kind == request.HTTPv2 && !s.IAM {
		return marshal(simpleAnswer{IsAuthorized: allowed, Context: v.fields})
	}
	effect := "Deny"
	if allowed {
		effect = "Allow"
	}
	return marshal(iamAnswer{
		PrincipalID: v.fields.Tenant,
		PolicyDocument: policy{
			Version: "2012-10-17",
			// On everything: a policy on one method's ARN would refuse the others if
			// somebody turned caching on, its ARN may exceed 512 characters, and a
			// path may have characters that mean something in a policy.
			Statement: [1]statement{{Action: "execute-api:Invoke", Effect: effect, Resource: "*"}},
		},
		Context: v.fields,
	})
}

// marshal encodes answers, which are made of strings and booleans: it cannot fail.
func marshal(v any) json.RawMessage {
	b, _ := json.Marshal(v)
	return b
}
