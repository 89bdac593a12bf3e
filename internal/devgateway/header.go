package devgateway

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// headerMapping sets one header of a response.
type headerMapping struct {
	name string
	from mapping
}

var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// reservedHeaders belong to the HTTP server.
var reservedHeaders = []string{"Connection", "Content-Length", "Date", "Trailer", "Transfer-Encoding", "Upgrade"}

// readHeaders reads header mappings whose keys begin with prefix.
func readHeaders(n *yaml.Node, prefix string) ([]headerMapping, error) {
	var headers []headerMapping
	seen := map[string]bool{}
	for key, value := range pairs(n) {
		name, ok := strings.CutPrefix(key.Value, prefix)
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case !ok || !headerName.MatchString(name):
			return nil, errorAt(key, "%q: want the name of a header, as %sNAME", key.Value, prefix)
		case slices.Contains(reservedHeaders, canonical):
			return nil, errorAt(key, "header %s cannot be mapped", name)
		case seen[canonical]:
			return nil, errorAt(key, "header %s is mapped twice", name)
		case !isText(value):
			return nil, errorAt(value, "header %s: %s: want a mapping expression", name, describe(value))
		}
		seen[canonical] = true
		m, err := parseMapping(value.Value)
		if err != nil {
			return nil, errorAt(value, "header %s: %w", name, err)
		}
		headers = append(headers, headerMapping{name: name, from: m})
	}
	return headers, nil
}

// mapHeaders adds the mapped headers to h and returns the variables that are not
// set; their headers are left out.
func mapHeaders(h http.Header, mappings []headerMapping, v variables) (unset []string) {
	for _, m := range mappings {
		s, ok := m.from.value(v)
		if !ok {
			unset = append(unset, m.from.variable)
			continue
		}
		setHeader(h, m.name, s)
	}
	return unset
}

// setHeader sets a header with its name as written, as API Gateway sends it, not
// in Go's canonical form: X-RateLimit-Limit, not X-Ratelimit-Limit.
func setHeader(h http.Header, name, value string) {
	canonical := http.CanonicalHeaderKey(name)
	for k := range h {
		if http.CanonicalHeaderKey(k) == canonical {
			delete(h, k)
		}
	}
	if canonical == "Content-Type" {
		name = canonical // net/http looks for it
	}
	h[name] = []string{value}
}
