package devgateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
)

// answer is what an authorizer returned, checked.
type answer struct {
	policy  policy
	context map[string]string // with principalId
}

var contextKey = regexp.MustCompile(`^[a-zA-Z0-9._$-]+$`)

// parseAnswer reads an authorizer's answer as strictly as API Gateway does; an
// error is what makes it an AUTHORIZER_CONFIGURATION_ERROR.
func parseAnswer(raw []byte) (answer, error) {
	if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return answer{}, errors.New("the answer is null")
	}
	var doc struct {
		PrincipalID    *string                    `json:"principalId"`
		PolicyDocument *policy                    `json:"policyDocument"`
		Context        map[string]json.RawMessage `json:"context"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return answer{}, fmt.Errorf("the answer is not that of an authorizer: %w", err)
	}
	switch {
	case doc.PolicyDocument == nil:
		return answer{}, errors.New("policyDocument is missing")
	case doc.PrincipalID == nil:
		return answer{}, errors.New("principalId is missing")
	}
	if err := doc.PolicyDocument.check(); err != nil {
		return answer{}, err
	}
	values := make(map[string]string, len(doc.Context)+1)
	for k, v := range doc.Context {
		s, err := contextValue(v)
		if err != nil {
			return answer{}, fmt.Errorf("context.%s: %w", k, err)
		}
		if !contextKey.MatchString(k) {
			return answer{}, fmt.Errorf("context: the key %q has characters that no expression can name", k)
		}
		values[k] = s
	}
	values["principalId"] = *doc.PrincipalID // wins over a key of that name
	return answer{policy: *doc.PolicyDocument, context: values}, nil
}

// contextValue returns a context value as the string that mappings and backends
// get to see.
func contextValue(raw json.RawMessage) (string, error) {
	switch raw[0] {
	case '"':
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err
	case '{', '[':
		return "", errors.New("objects and arrays are not allowed, only strings, numbers and booleans")
	case 'n':
		return "", errors.New("null is not allowed; leave the key out")
	}
	return string(raw), nil // a number or boolean
}
