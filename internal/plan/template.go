package plan

import (
	"fmt"
	"slices"
	"strings"
)

// MaxParts is the number of parts a key template may have.
const MaxParts = 8

// defaultKey is the template of a limit that names none.
const defaultKey = "{tenant}"

// Template is a parsed key template such as "{tenant}:{ip}": placeholders and
// words joined by colons. The zero Template is {tenant}.
type Template struct {
	text  string
	parts []part
}

var (
	byTenant = Template{text: defaultKey, parts: []part{{kind: tenant}}}
	byIP     = Template{text: "{ip}", parts: []part{{kind: ip}}}
)

// part is a placeholder, or a word that stands for itself.
type part struct {
	kind kind
	text string // of a word; of a header its name in lower case
}

type kind uint8

const (
	word kind = iota
	tenant
	ip
	route
	method
	header
)

// placeholders are the names that stand alone in braces; header takes a name of its own.
var placeholders = map[string]kind{"tenant": tenant, "ip": ip, "route": route, "method": method}

// String returns the template as written, header names in lower case.
func (t Template) String() string {
	if t.parts == nil {
		return defaultKey
	}
	return t.text
}

// uses reports whether the template has a part of kind k.
func (t Template) uses(k kind) bool {
	if t.parts == nil {
		return k == tenant
	}
	return slices.ContainsFunc(t.parts, func(p part) bool { return p.kind == k })
}

// ParseTemplate parses a key template. Its parts are placeholders ({tenant},
// {ip}, {route}, {method}, {header.NAME}) and words of letters, digits, '.',
// '_' and '-', joined by ':'. A template of words alone names one bucket that
// everybody shares.
func ParseTemplate(text string) (Template, error) {
	fields := strings.Split(text, ":")
	if len(fields) > MaxParts {
		return Template{}, fmt.Errorf("key %s has %d parts: at most %d", quote(text), len(fields), MaxParts)
	}
	t := Template{parts: make([]part, len(fields))}
	for i, f := range fields {
		p, err := parsePart(f)
		if err != nil {
			return Template{}, fmt.Errorf("key %s: %w", quote(text), err)
		}
		t.parts[i] = p
		fields[i] = p.String()
	}
	t.text = strings.Join(fields, ":")
	return t, nil
}

func parsePart(s string) (part, error) {
	inner, opens := strings.CutPrefix(s, "{")
	inner, closes := strings.CutSuffix(inner, "}")
	switch {
	case s == "":
		return part{}, fmt.Errorf("empty part: want parts joined by ':', such as {tenant}:{ip}")
	case !opens && !closes && validName(s):
		return part{kind: word, text: s}, nil
	case strings.Contains(s, "}{"):
		return part{}, fmt.Errorf("placeholders touch in %s: put ':' between them", quote(s))
	case !opens || !closes || strings.ContainsAny(inner, "{}"):
		return part{}, fmt.Errorf("part %s is neither a placeholder such as {tenant} nor a word of letters, digits, '.', '_', '-'; join parts by ':'", quote(s))
	}
	if k, ok := placeholders[inner]; ok {
		return part{kind: k}, nil
	}
	name, isHeader := strings.CutPrefix(inner, "header.")
	switch {
	case isHeader && validHeaderName(name):
		return part{kind: header, text: strings.ToLower(name)}, nil
	case isHeader:
		return part{}, fmt.Errorf("%s is no header name: want 1 to 64 letters, digits, '-' and '_'", quote(name))
	case strings.HasPrefix(inner, "claim."):
		return part{}, fmt.Errorf("%s is not supported by this version", quote(s))
	}
	return part{}, fmt.Errorf("unknown placeholder %s: want {tenant}, {ip}, {route}, {method} or {header.NAME}%s",
		quote(s), didYouMean(inner, []string{"tenant", "ip", "route", "method"}))
}

// String returns the part as it is written in a template.
func (p part) String() string {
	switch p.kind {
	case tenant:
		return "{tenant}"
	case ip:
		return "{ip}"
	case route:
		return "{route}"
	case method:
		return "{method}"
	case header:
		return "{header." + p.text + "}"
	}
	return p.text
}

func validHeaderName(s string) bool {
	return validName(s) && !strings.Contains(s, ".")
}
