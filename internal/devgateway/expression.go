package devgateway

import (
	"errors"
	"fmt"
	"strings"
)

// mapping is where a response header takes its value from: a literal or a
// variable. API Gateway calls it a parameter-mapping expression.
type mapping struct {
	literal  string
	variable string // "" for a literal
}

// parseMapping parses a mapping expression such as 'no-store' (in single
// quotes), context.authorizer.retryAfter or method.request.header.Origin.
func parseMapping(s string) (mapping, error) {
	switch {
	case len(s) >= 2 && s[0] == '\'' && s[len(s)-1] == '\'':
		return mapping{literal: s[1 : len(s)-1]}, nil
	case strings.HasPrefix(s, "$"):
		return mapping{}, fmt.Errorf("%q: a header mapping takes no `$`; write %s", s, strings.Trim(s, "${}"))
	case !isVariable(s):
		return mapping{}, fmt.Errorf("%q is neither a literal nor a variable; a literal needs single quotes of its own: \"'%s'\"", s, s)
	}
	if err := checkVariable(s); err != nil {
		return mapping{}, err
	}
	return mapping{variable: s}, nil
}

// value returns the header's value; ok is false if the variable is not set, and
// then API Gateway leaves the header out.
func (m mapping) value(v variables) (value string, ok bool) {
	if m.variable == "" {
		return m.literal, true
	}
	return v.lookup(m.variable)
}

// bodyTemplate is a response body with variables in it: $context.requestId or
// ${context.requestId}. It is not VTL.
type bodyTemplate []mapping

// parseBody parses the application/json template of a gateway response.
func parseBody(s string) (bodyTemplate, error) {
	var b bodyTemplate
	for s != "" {
		i := strings.IndexAny(s, "$#")
		if i < 0 {
			break
		}
		if d := directive(s[i:]); d != "" {
			return nil, fmt.Errorf("%s: gateway responses are not VTL, they only know variables", d)
		}
		name, length := variableAt(s[i:])
		if length == 0 {
			b = b.text(s[:i+1])
			s = s[i+1:]
			continue
		}
		if err := checkVariable(name); err != nil {
			return nil, err
		}
		b = append(b.text(s[:i]), mapping{variable: name})
		s = s[i+length:]
	}
	return b.text(s), nil
}

// text appends literal text.
func (b bodyTemplate) text(s string) bodyTemplate {
	if s == "" {
		return b
	}
	return append(b, mapping{literal: s})
}

// render fills the template in. Variables that are not set come out empty and
// are returned: AWS does not document what it makes of them.
func (b bodyTemplate) render(v variables) (body string, unset []string) {
	var out strings.Builder
	for _, m := range b {
		s, ok := m.value(v)
		if !ok {
			unset = append(unset, m.variable)
		}
		out.WriteString(s)
	}
	return out.String(), unset
}

// directive returns the VTL construct s starts with, or "".
func directive(s string) string {
	for _, d := range []string{"#set", "#if", "#else", "#end", "#foreach", "$input", "$util"} {
		if strings.HasPrefix(s, d) {
			return d
		}
	}
	return ""
}

// variableAt returns the variable that s, which starts with `$` or `#`, begins
// with, and the length of the reference; 0 if there is none.
func variableAt(s string) (name string, length int) {
	if s[0] != '$' {
		return "", 0
	}
	start := 1
	braced := strings.HasPrefix(s[1:], "{")
	if braced {
		start = 2
	}
	end := start
	for end < len(s) && isWord(s[end]) {
		end++
		// A dot belongs to the name only if the name goes on behind it, and so
		// does a hyphen in the name of a header.
		if end+1 < len(s) && isWord(s[end+1]) {
			if s[end] == '.' || s[end] == '-' && strings.HasPrefix(s[start:end], "method.request.header.") {
				end++
			}
		}
	}
	name = s[start:end]
	if !isVariable(name) {
		return "", 0
	}
	if !braced {
		return name, end
	}
	if end == len(s) || s[end] != '}' {
		return "", 0
	}
	return name, end + 1
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

var errNoName = errors.New("a name is missing")

// checkVariable says why API Gateway, or this one, could not resolve a variable.
func checkVariable(name string) error {
	for i := range len(name) {
		if c := name[i]; !isWord(c) && !strings.ContainsRune(".-$", rune(c)) {
			return fmt.Errorf("%s: %q is not allowed in a variable", name, c)
		}
	}
	for _, p := range openPrefixes {
		if rest, ok := strings.CutPrefix(name, p); ok {
			if rest == "" {
				return fmt.Errorf("%s: %w", name, errNoName)
			}
			return nil
		}
	}
	if _, ok := contextVariables[name]; ok {
		return nil
	}
	return fmt.Errorf("%s is not a variable that is known here; what the authorizer answers is context.authorizer.NAME", name)
}
