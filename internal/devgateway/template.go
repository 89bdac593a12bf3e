package devgateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Template is what a SAM or CloudFormation template says of an API's answers.
// The zero Template customises nothing.
type Template struct {
	responses map[responseType]response

	// Headers of successful answers, by resource: from the integration
	// responses of an OpenAPI body. Proxy integrations have none.
	success map[string][]headerMapping
}

// TemplateError is a fault in a template, and where it is.
type TemplateError struct {
	Name string // of the file
	Line int    // 0 if the file as a whole is at fault
	Err  error
}

func (e *TemplateError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.Name, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.Name, e.Line, e.Err)
}

func (e *TemplateError) Unwrap() error { return e.Err }

// ParseTemplate reads a template, YAML or JSON; name is for errors, which are
// *TemplateError. It takes gateway responses from AWS::Serverless::Api (and
// Globals) and from AWS::ApiGateway::GatewayResponse, and expects one API.
func ParseTemplate(name string, text []byte) (*Template, error) {
	root, err := parseYAML(text)
	if err == nil {
		t := &Template{responses: map[responseType]response{}, success: map[string][]headerMapping{}}
		if err = t.read(root); err == nil {
			return t, nil
		}
	}
	fault := &TemplateError{Name: name, Err: err}
	var at *nodeError
	if errors.As(err, &at) {
		fault.Line, fault.Err = at.line, at.err
	}
	return nil, fault
}

// DenyStatus returns the status of a request that the authorizer denies.
func (t *Template) DenyStatus() int { return t.responseFor(errAccessDenied(explicitDeny)).status }

// parseYAML returns the only document's top node.
func parseYAML(text []byte) (*yaml.Node, error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("the template is empty")
	case err != nil:
		return nil, err
	case len(doc.Content) == 0:
		return nil, errors.New("the template is empty")
	}
	return doc.Content[0], nil
}

// read takes what it needs out of the document.
func (t *Template) read(root *yaml.Node) error {
	resources := child(root, "Resources")
	if resources == nil || resources.Kind != yaml.MappingNode {
		return errors.New("no Resources in it: not a CloudFormation or SAM template")
	}
	if err := t.readSAMResponses(child(root, "Globals", "Api", "GatewayResponses")); err != nil {
		return err
	}
	var api string
	for id, r := range pairs(resources) {
		switch scalar(child(r, "Type")) {
		case "AWS::Serverless::Api":
			if api != "" {
				return errorAt(id, "a second API (the first is %s): a template with one API is needed", api)
			}
			api = id.Value
			if err := t.readSAMResponses(child(r, "Properties", "GatewayResponses")); err != nil {
				return err
			}
			if err := t.readIntegrations(child(r, "Properties", "DefinitionBody", "paths")); err != nil {
				return err
			}
		case "AWS::ApiGateway::GatewayResponse":
			if err := t.readCFNResponse(child(r, "Properties")); err != nil {
				return err
			}
		}
	}
	return nil
}

// readSAMResponses reads a GatewayResponses property: entries by type.
func (t *Template) readSAMResponses(n *yaml.Node) error {
	for typ, def := range pairs(n) {
		var headers []headerMapping
		for kind, entries := range pairs(child(def, "ResponseParameters")) {
			if kind.Value != "Headers" {
				return errorAt(kind, "%s: only Headers can be mapped in a gateway response here, not %s", typ.Value, kind.Value)
			}
			var err error
			if headers, err = readHeaders(entries, ""); err != nil {
				return err
			}
		}
		if err := t.addResponse(typ, def, headers); err != nil {
			return err
		}
	}
	return nil
}

// readCFNResponse reads the properties of an AWS::ApiGateway::GatewayResponse.
func (t *Template) readCFNResponse(props *yaml.Node) error {
	typ := child(props, "ResponseType")
	if typ == nil {
		return nil // CloudFormation will say so
	}
	headers, err := readHeaders(child(props, "ResponseParameters"), "gatewayresponse.header.")
	if err != nil {
		return err
	}
	return t.addResponse(typ, props, headers)
}

// addResponse adds one gateway response, with its status and body from def.
func (t *Template) addResponse(typ, def *yaml.Node, headers []headerMapping) error {
	name := responseType(typ.Value)
	if _, ok := awsDefaults[name]; !ok {
		return errorAt(typ, "%q is not a type of gateway response; there are %s", typ.Value, joinTypes())
	}
	r := response{headers: headers}
	var err error
	if r.status, err = readStatus(child(def, "StatusCode")); err != nil {
		return err
	}
	if r.body, err = readBody(child(def, "ResponseTemplates")); err != nil {
		return err
	}
	t.responses[name] = r
	return nil
}

func joinTypes() string {
	var s []string
	for _, t := range slices.Sorted(maps.Keys(awsDefaults)) {
		s = append(s, string(t))
	}
	return strings.Join(s, ", ")
}

func readStatus(n *yaml.Node) (int, error) {
	if n == nil {
		return 0, nil
	}
	status, err := strconv.Atoi(scalar(n))
	if err != nil || status < 200 || status > 599 {
		return 0, errorAt(n, "StatusCode %s: want a number from 200 to 599", describe(n))
	}
	return status, nil
}

// readBody reads the application/json template, which API Gateway uses whatever
// the client accepts.
func readBody(n *yaml.Node) (bodyTemplate, error) {
	var body bodyTemplate
	for contentType, text := range pairs(n) {
		if contentType.Value != "application/json" {
			return nil, errorAt(contentType, "ResponseTemplates: only application/json is used here, not %q", contentType.Value)
		}
		if !isText(text) {
			return nil, errorAt(text, "ResponseTemplates: %s: want text", describe(text))
		}
		var err error
		if body, err = parseBody(text.Value); err != nil {
			return nil, errorAt(text, "ResponseTemplates: %w", err)
		}
		if sample := body.sample(); !json.Valid([]byte(sample)) {
			return nil, errorAt(text, "ResponseTemplates: not JSON when its variables are filled in: %s", sample)
		}
	}
	return body, nil
}

// sample renders the template with values that fit inside and outside of quotes.
func (b bodyTemplate) sample() string {
	var out strings.Builder
	for _, m := range b {
		switch m.variable {
		case "":
			out.WriteString(m.literal)
		case "context.error.messageString": // brings its own quotes
			out.WriteString(`""`)
		default:
			out.WriteString("0")
		}
	}
	return out.String()
}
