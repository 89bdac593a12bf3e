package devgateway

import (
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// testVariables are those of a refused POST of /v1/users/7/follow.
func testVariables(t testing.TB) variables {
	t.Helper()
	r := httptest.NewRequest("POST", "/v1/users/7/follow?q=1&q=2", nil)
	r.Header.Set("Origin", "https://example.test")
	to := route{resource: "/v1/users/{id}/follow", id: "abc123"}
	e := newEvent(r, r.Header, to, map[string]string{"id": "7"}, netip.MustParseAddr("192.0.2.9"), time.Unix(1_700_000_000, 0))
	e.RequestContext.RequestID = "req-1"
	return variables{
		event:      e,
		authorizer: map[string]string{"retryAfter": "3", "code": "rate_limited"},
		err:        errAccessDenied(explicitDeny),
	}
}

func TestParseMapping(t *testing.T) {
	v := testVariables(t)
	tests := []struct{ expr, want string }{
		{"'60'", "60"},
		{"''", ""},
		{"context.authorizer.retryAfter", "3"},
		{"context.requestId", "req-1"},
		{"context.identity.sourceIp", "192.0.2.9"},
		{"context.resourcePath", "/v1/users/{id}/follow"},
		{"context.requestTimeEpoch", "1700000000000"},
		{"context.error.responseType", "ACCESS_DENIED"},
		{"method.request.header.origin", "https://example.test"},
		{"method.request.querystring.q", "2"},
		{"method.request.path.id", "7"},
	}
	for _, tt := range tests {
		m, err := parseMapping(tt.expr)
		if err != nil {
			t.Errorf("parseMapping(%s): %v", tt.expr, err)
			continue
		}
		if got, ok := m.value(v); !ok || got != tt.want {
			t.Errorf("%s = %q, %v; want %q", tt.expr, got, ok, tt.want)
		}
	}
	for _, expr := range []string{"context.authorizer.gone", "stageVariables.x", "method.request.header.X-Gone", "integration.response.header.X"} {
		m, err := parseMapping(expr)
		if err != nil {
			t.Errorf("parseMapping(%s): %v", expr, err)
			continue
		}
		if got, ok := m.value(v); ok {
			t.Errorf("%s = %q, want it unset", expr, got)
		}
	}
}

func TestParseMappingBad(t *testing.T) {
	tests := []struct{ expr, want string }{
		{"$context.authorizer.retryAfter", "write context.authorizer.retryAfter"},
		{"${context.requestId}", "write context.requestId"},
		{"60", `"'60'"`},
		{"*", `"'*'"`},
		{"'open", "neither"},
		{"", "neither"},
		{"context.authoriser.retryAfter", "context.authorizer.NAME"},
		{"context.authorizer.", "a name is missing"},
		{"context.authorizer.a b", "' ' is not allowed"},
		{"method.request.body", "not a variable"},
	}
	for _, tt := range tests {
		_, err := parseMapping(tt.expr)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("parseMapping(%s) = %v, want an error with %q", tt.expr, err, tt.want)
		}
	}
}

func TestBodyTemplate(t *testing.T) {
	v := testVariables(t)
	tests := []struct {
		template, want, unset string
	}{
		{"", "", ""},
		{"plain, costs $5 or 5$", "plain, costs $5 or 5$", ""},
		{`{"s":$context.authorizer.retryAfter}`, `{"s":3}`, ""},
		{`"${context.authorizer.code}d"`, `"rate_limitedd"`, ""},
		{"See $context.requestId.", "See req-1.", ""},
		{"$context.requestId$context.requestId", "req-1req-1", ""},
		{"$method.request.header.X-Gone-1!", "!", "method.request.header.X-Gone-1"},
		{"$context.error.messageString", `"User is not authorized to access this resource with an explicit deny"`, ""},
		{"[$context.authorizer.gone]", "[]", "context.authorizer.gone"},
		{"$contextual ${context.requestId", "$contextual ${context.requestId", ""},
		{"#1 # $ {}", "#1 # $ {}", ""},
	}
	for _, tt := range tests {
		b, err := parseBody(tt.template)
		if err != nil {
			t.Errorf("parseBody(%s): %v", tt.template, err)
			continue
		}
		got, unset := b.render(v)
		if got != tt.want || strings.Join(unset, " ") != tt.unset {
			t.Errorf("%s renders %q, unset %q; want %q, %q", tt.template, got, unset, tt.want, tt.unset)
		}
	}
}

func TestBodyTemplateBad(t *testing.T) {
	for template, want := range map[string]string{
		"#set($x = 1)":                  "VTL",
		"#if($context.requestId)#end":   "VTL",
		"$input.json('$')":              "VTL",
		"$util.escapeJavaScript('x')":   "VTL",
		"$context.authorizerr.x":        "not a variable",
		"${context.responseOverride.x}": "not a variable",
	} {
		_, err := parseBody(template)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parseBody(%s) = %v, want an error with %q", template, err, want)
		}
	}
}

// FuzzBodyTemplate checks that what is not a variable comes out as it went in.
func FuzzBodyTemplate(f *testing.F) {
	for _, s := range []string{
		`{"code":"$context.authorizer.code","retryAfter":$context.authorizer.retryAfter}`,
		"${context.requestId}", "$", "${", "#", "$context.", "$context.authorizer.a.b.", "$$context.stage", "#set", "$stageVariables.x-y",
	} {
		f.Add(s)
	}
	v := testVariables(f)
	f.Fuzz(func(t *testing.T, s string) {
		b, err := parseBody(s)
		if err != nil {
			return
		}
		var literal strings.Builder
		for _, m := range b {
			if m.variable == "" {
				literal.WriteString(m.literal)
			} else if err := checkVariable(m.variable); err != nil {
				t.Errorf("%q parsed to an impossible variable: %v", s, err)
			}
		}
		if len(b) == 0 && s != "" {
			t.Errorf("%q parsed to nothing", s)
		}
		if !strings.Contains(s, "$") && literal.String() != s {
			t.Errorf("%q without variables became %q", s, literal.String())
		}
		b.render(v)
	})
}

// FuzzMapping checks that every mapping is a literal or can be looked up.
func FuzzMapping(f *testing.F) {
	for _, s := range []string{"'x'", "'", "''", "$context.x", "context.requestId", "context.authorizer.", "method.request.header.X", "60"} {
		f.Add(s)
	}
	v := testVariables(f)
	f.Fuzz(func(t *testing.T, s string) {
		m, err := parseMapping(s)
		if err != nil {
			return
		}
		got, ok := m.value(v)
		if m.variable == "" && (!ok || "'"+got+"'" != s) {
			t.Errorf("literal %q became %q", s, got)
		}
		if m.variable != "" && m.variable != s {
			t.Errorf("variable %q became %q", s, m.variable)
		}
	})
}
