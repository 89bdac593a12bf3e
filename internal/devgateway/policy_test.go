package devgateway

import (
	"encoding/json"
	"strings"
	"testing"
)

const testARN = "arn:aws:execute-api:us-east-1:123456789012:weirdev000/dev/GET/v1/users/7"

func TestPolicyEvaluate(t *testing.T) {
	const (
		any      = `{"Effect":"Allow","Action":"execute-api:Invoke","Resource":"*"}`
		denyThis = `{"Effect":"Deny","Action":"execute-api:Invoke","Resource":"` + testARN + `"}`
	)
	tests := []struct {
		name       string
		statements string
		want       verdict
	}{
		{"allow all", any, allow},
		{"allow in a list", `[` + any + `]`, allow},
		{"deny", denyThis, explicitDeny},
		{"deny after allow", `[` + any + `,` + denyThis + `]`, explicitDeny},
		{"deny before allow", `[` + denyThis + `,` + any + `]`, explicitDeny},
		{"deny of something else", `[` + any + `,{"Effect":"Deny","Action":"*","Resource":"arn:aws:execute-api:*:*:*/dev/POST/*"}]`, allow},
		{"no statement matches", `{"Effect":"Allow","Action":"execute-api:Invoke","Resource":"arn:aws:execute-api:*:*:other/*"}`, implicitDeny},
		{"other action", `{"Effect":"Allow","Action":"execute-api:ManageConnections","Resource":"*"}`, implicitDeny},
		{"action wildcard", `{"Effect":"Allow","Action":"execute-api:*","Resource":"*"}`, allow},
		{"every action", `{"Effect":"Allow","Action":"*","Resource":"*"}`, allow},
		{"action in another case", `{"Effect":"Allow","Action":"Execute-API:invoke","Resource":"*"}`, allow},
		{"resource in another case", `{"Effect":"Allow","Action":"*","Resource":"` + strings.ToUpper(testARN) + `"}`, implicitDeny},
		{"star spans slashes", `{"Effect":"Allow","Action":"*","Resource":"arn:*/dev/GET/*"}`, allow},
		{"question mark is one character", `{"Effect":"Allow","Action":"*","Resource":"arn:aws:execute-api:us-east-?:*/dev/GET/v1/users/?"}`, allow},
		{"question mark is not none", `{"Effect":"Allow","Action":"*","Resource":"` + testARN + `?"}`, implicitDeny},
		{"prefix is not enough", `{"Effect":"Allow","Action":"*","Resource":"arn:aws:execute-api"}`, implicitDeny},
		{"one of several resources", `{"Effect":"Allow","Action":["x:Y","execute-api:Invoke"],"Resource":["nope","` + testARN + `"]}`, allow},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p policy
			if err := json.Unmarshal([]byte(`{"Statement":`+tt.statements+`}`), &p); err != nil {
				t.Fatal(err)
			}
			if err := p.check(); err != nil {
				t.Fatalf("check: %v", err)
			}
			if got := p.evaluate(testARN); got != tt.want {
				t.Errorf("evaluate = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestWildcard(t *testing.T) {
	tests := []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true},
		{"", "a", false},
		{"*", "", true},
		{"**", "", true},
		{"?", "", false},
		{"a*", "a", true},
		{"*a", "ba", true},
		{"a*b*c", "aXbYbZc", true},
		{"a*b*c", "aXbYbZ", false},
		{"*/$default/*", "x/$default/y", true},
		{"a.c", "abc", false},
		{"a+", "aa", false},
	}
	for _, tt := range tests {
		if got := wildcard(tt.pattern, tt.s); got != tt.want {
			t.Errorf("wildcard(%q, %q) = %v, want %v", tt.pattern, tt.s, got, tt.want)
		}
	}
}

func TestParseAnswer(t *testing.T) {
	const pol = `"principalId":"acme","policyDocument":{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"execute-api:Invoke","Resource":"*"}]}`
	a, err := parseAnswer([]byte(`{` + pol + `,"context":{"s":"x","n":12,"f":1.50,"b":true,"e":"","principalId":"other"}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"s": "x", "n": "12", "f": "1.50", "b": "true", "e": "", "principalId": "acme"}
	for k, v := range want {
		if got, ok := a.context[k]; !ok || got != v {
			t.Errorf("context %s = %q, %v; want %q", k, got, ok, v)
		}
	}

	bad := []struct{ name, answer, want string }{
		{"null", ` null `, "null"},
		{"text", `"no"`, "not that of an authorizer"},
		{"a proxy response", `{"statusCode":401}`, "policyDocument is missing"},
		{"the simple form", `{"isAuthorized":true}`, "policyDocument is missing"},
		{"no principal", `{"policyDocument":{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}}`, "principalId is missing"},
		{"no statement", `{"principalId":"a","policyDocument":{}}`, "no Statement"},
		{"effect", `{"principalId":"a","policyDocument":{"Statement":{"Effect":"allow","Action":"*","Resource":"*"}}}`, `Effect is "allow"`},
		{"no action", `{"principalId":"a","policyDocument":{"Statement":{"Effect":"Allow","Resource":"*"}}}`, "Action or Resource is missing"},
		{"condition", `{"principalId":"a","policyDocument":{"Statement":{"Effect":"Allow","Action":"*","Resource":"*","Condition":{}}}}`, "not evaluated"},
		{"long resource", `{"principalId":"a","policyDocument":{"Statement":{"Effect":"Allow","Action":"*","Resource":"` + strings.Repeat("x", 513) + `"}}}`, "512"},
		{"array in context", `{` + pol + `,"context":{"roles":["a"]}}`, "context.roles"},
		{"object in context", `{` + pol + `,"context":{"o":{}}}`, "context.o"},
		{"null in context", `{` + pol + `,"context":{"gone":null}}`, "context.gone"},
		{"key with a space", `{` + pol + `,"context":{"a b":"x"}}`, "a b"},
	}
	for _, tt := range bad {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseAnswer([]byte(tt.answer))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want one with %q", err, tt.want)
			}
		})
	}
}
