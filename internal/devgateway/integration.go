package devgateway

import (
	"net/http"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

const integrationKey = "x-amazon-apigateway-integration"

// readIntegrations collects the header mappings of the integration responses
// that a 200 of the backend gets, by resource, from the paths of an OpenAPI body.
// If the methods of a resource differ, the first one counts.
func (t *Template) readIntegrations(paths *yaml.Node) error {
	for path, methods := range pairs(paths) {
		for _, method := range pairs(methods) {
			r := okResponse(child(method, integrationKey, "responses"))
			if _, known := t.success[path.Value]; known || r == nil {
				continue
			}
			headers, err := readHeaders(child(r, "responseParameters"), "method.response.header.")
			if err != nil {
				return err
			}
			if err := declared(method, r, headers); err != nil {
				return err
			}
			t.success[path.Value] = headers
		}
	}
	return nil
}

// okResponse returns the integration response for a backend's 200: the one whose
// key, a regular expression, matches it, else the default.
func okResponse(responses *yaml.Node) *yaml.Node {
	var match *yaml.Node
	for pattern, r := range pairs(responses) {
		if re, err := regexp.Compile("^(?:" + pattern.Value + ")$"); err == nil && re.MatchString(strconv.Itoa(http.StatusOK)) {
			match = r
		}
	}
	if match == nil {
		match = child(responses, "default")
	}
	return match
}

// declared checks that the method declares the headers that its integration maps:
// API Gateway refuses the API otherwise.
func declared(method, integration *yaml.Node, headers []headerMapping) error {
	status := scalar(child(integration, "statusCode"))
	names := map[string]bool{}
	for key := range pairs(child(method, "responses", status, "headers")) {
		names[http.CanonicalHeaderKey(key.Value)] = true
	}
	for _, h := range headers {
		if !names[http.CanonicalHeaderKey(h.name)] {
			return errorAt(integration, "header %s is mapped but not declared in the method's responses.%s.headers", h.name, status)
		}
	}
	return nil
}

// successHeaders returns the mappings for a resource; one that is only in the
// plans, not in the template, is served by the template's catch-all.
func (t *Template) successHeaders(resource string) []headerMapping {
	if h, ok := t.success[resource]; ok {
		return h
	}
	return t.success["/{proxy+}"]
}
