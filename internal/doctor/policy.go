package doctor

import (
	"encoding/json"
	"strings"
)

// Invocable reports whether a function's resource policy lets API Gateway call it
// as the authorizer of an API. What it cannot read it takes for no.
func Invocable(policy, api string) bool {
	var document struct {
		Statement []struct {
			Effect    string
			Principal any
			Condition map[string]map[string]any
		}
	}
	if json.Unmarshal([]byte(policy), &document) != nil {
		return false
	}
	for _, s := range document.Statement {
		if s.Effect != "Allow" || !isGateway(s.Principal) {
			continue
		}
		source, limited := sourceOf(s.Condition)
		_, resource, _ := strings.Cut(source, ":"+api+"/")
		if !limited || strings.HasPrefix(resource, "authorizers/") || resource == "*" {
			return true
		}
	}
	return false
}

func isGateway(principal any) bool {
	if m, ok := principal.(map[string]any); ok {
		principal = m["Service"]
	}
	return principal == "apigateway.amazonaws.com" || principal == "*"
}

// sourceOf returns the ARN to which a statement is limited.
func sourceOf(condition map[string]map[string]any) (arn string, limited bool) {
	for _, operator := range condition {
		for key, value := range operator {
			if strings.EqualFold(key, "aws:SourceArn") {
				arn, _ = value.(string)
				return arn, true
			}
		}
	}
	return "", false
}
