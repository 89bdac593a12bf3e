package devgateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// policy is an IAM policy document as far as API Gateway evaluates one.
type policy struct {
	Statement oneOrMore[statement] `json:"Statement"`
}

type statement struct {
	Effect      string            `json:"Effect"`
	Action      oneOrMore[string] `json:"Action"`
	Resource    oneOrMore[string] `json:"Resource"`
	NotAction   json.RawMessage   `json:"NotAction"`
	NotResource json.RawMessage   `json:"NotResource"`
	Condition   json.RawMessage   `json:"Condition"`
}

// oneOrMore is a JSON value that may be written with or without brackets.
type oneOrMore[T any] []T

func (o *oneOrMore[T]) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, (*[]T)(o))
	}
	var one T
	if err := json.Unmarshal(b, &one); err != nil {
		return err
	}
	*o = oneOrMore[T]{one}
	return nil
}

// verdict is what a policy says of a request.
type verdict int

const (
	implicitDeny verdict = iota // no statement matches
	allow
	explicitDeny
)

const invokeAction = "execute-api:Invoke"

// maxResource is the most bytes a statement's resource may have.
const maxResource = 512

// check reports what API Gateway would refuse, or this gateway cannot evaluate.
func (p policy) check() error {
	if len(p.Statement) == 0 {
		return errors.New("policyDocument has no Statement")
	}
	for i, s := range p.Statement {
		switch {
		case s.Effect != "Allow" && s.Effect != "Deny":
			return fmt.Errorf("policyDocument.Statement[%d].Effect is %q: want Allow or Deny", i, s.Effect)
		case s.NotAction != nil || s.NotResource != nil || s.Condition != nil:
			return fmt.Errorf("policyDocument.Statement[%d]: NotAction, NotResource and Condition are not evaluated here", i)
		case len(s.Action) == 0 || len(s.Resource) == 0:
			return fmt.Errorf("policyDocument.Statement[%d]: Action or Resource is missing", i)
		}
		for _, r := range s.Resource {
			if len(r) > maxResource {
				return fmt.Errorf("policyDocument.Statement[%d]: a Resource of %d bytes, at most %d are allowed; use a wildcard", i, len(r), maxResource)
			}
		}
	}
	return nil
}

// evaluate decides whether the policy lets arn be invoked. An explicit Deny wins
// over every Allow.
func (p policy) evaluate(arn string) verdict {
	v := implicitDeny
	for _, s := range p.Statement {
		if !s.matches(arn) {
			continue
		}
		if s.Effect == "Deny" {
			return explicitDeny
		}
		v = allow
	}
	return v
}

func (s statement) matches(arn string) bool {
	// IAM compares actions without regard to case, resources with.
	return anyMatch(s.Action, invokeAction, strings.ToLower) && anyMatch(s.Resource, arn, strings.Clone)
}

func anyMatch(patterns []string, s string, fold func(string) string) bool {
	for _, p := range patterns {
		if wildcard(fold(p), fold(s)) {
			return true
		}
	}
	return false
}

// wildcard matches s against a pattern in which * is any text, slashes too, and
// ? any one byte. It is linear but for backtracking to the last *.
func wildcard(pattern, s string) bool {
	var p, i int
	star, mark := -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == s[i]):
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
