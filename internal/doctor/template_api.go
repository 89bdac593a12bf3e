package doctor

import (
	"slices"
	"strings"
)

// MetadataKey marks, in the metadata of a template's resource, what part it has in
// Weir: {"part": "authorizer", "open": ["/health"]}.
const MetadataKey = "weir"

// APIs returns the APIs of a template that have Weir's authorizer.
func (t *Template) APIs() []API {
	var all []API
	for id, r := range t.of("AWS::ApiGateway::Authorizer") {
		if t.isWeir(r) {
			all = append(all, t.restAPI(id, r))
		}
	}
	for id, r := range t.of("AWS::ApiGatewayV2::Authorizer") {
		if t.isWeir(r) {
			all = append(all, t.httpAPI(id, r))
		}
	}
	return all
}

// isWeir reports whether an authorizer is Weir's: it says so, or calls a function
// that is.
func (t *Template) isWeir(r resource) bool {
	if at(r.Metadata, MetadataKey, "part") == "authorizer" {
		return true
	}
	_, ok := t.called(r)
	return ok
}

// called returns the function of the template that an authorizer calls, directly
// or by an alias.
func (t *Template) called(authorizer resource) (id string, ok bool) {
	uri := t.text(authorizer.Properties["AuthorizerUri"])
	for fn, r := range t.of("AWS::Lambda::Function") {
		if roleOf(r) != "authorizer" {
			continue
		}
		if strings.Contains(uri, "${"+fn+".") || strings.Contains(uri, "${"+fn+"}") {
			return fn, true
		}
		for alias, a := range t.of("AWS::Lambda::Alias") {
			if t.ref(a.Properties["FunctionName"]) == fn && strings.Contains(uri, "${"+alias+"}") {
				return fn, true
			}
		}
	}
	return "", false
}

// invocable reports whether the template lets API Gateway call what an authorizer
// names.
func (t *Template) invocable(authorizer resource) bool {
	if authorizer.Properties["AuthorizerCredentials"] != nil || authorizer.Properties["AuthorizerCredentialsArn"] != nil {
		return true
	}
	uri := t.text(authorizer.Properties["AuthorizerUri"])
	for _, p := range t.of("AWS::Lambda::Permission") {
		fn := t.text(p.Properties["FunctionName"])
		from := t.text(p.Properties["SourceArn"])
		authorizers := from == "" || strings.Contains(from, "/authorizers/") || strings.HasSuffix(from, "}/*") // not those of a method
		if t.text(p.Properties["Principal"]) == "apigateway.amazonaws.com" && fn != "" && strings.Contains(uri, fn) && authorizers {
			return true
		}
	}
	return false
}

func (t *Template) restAPI(id string, authorizer resource) API {
	api := t.ref(authorizer.Properties["RestApiId"])
	a := API{
		Name:      t.name(api),
		Region:    t.Region,
		Kind:      REST,
		Invocable: t.invocable(authorizer),
		Responses: map[string]Response{},
	}
	if ttl, ok := number(authorizer.Properties["AuthorizerResultTtlInSeconds"]); ok {
		a.TTL = &ttl
	}
	if s := t.text(authorizer.Properties["IdentitySource"]); s != "" {
		a.Sources = strings.Split(s, ",")
	}
	for _, path := range t.texts(at(authorizer.Metadata, MetadataKey, "open")) {
		a.Open = append(a.Open, path)
	}
	mine := func(r resource) bool { return t.ref(r.Properties["RestApiId"]) == api }
	waited := []string{id}
	for m, r := range t.of("AWS::ApiGateway::Method") {
		if mine(r) {
			waited = append(waited, m)
			a.Methods = append(a.Methods, Method{
				Path:    t.path(r.Properties["ResourceId"]),
				Verb:    t.text(r.Properties["HttpMethod"]),
				Limited: t.text(r.Properties["AuthorizationType"]) == "CUSTOM" && t.ref(r.Properties["AuthorizerId"]) == id,
				Has:     t.text(r.Properties["AuthorizationType"]),
			})
		}
	}
	for g, r := range t.of("AWS::ApiGateway::GatewayResponse") {
		if mine(r) {
			waited = append(waited, g)
			typ := t.text(r.Properties["ResponseType"])
			if _, twice := a.Responses[typ]; twice {
				a.Twice = append(a.Twice, typ)
			}
			a.Responses[typ] = t.response(r)
		}
	}
	a.Undone = t.undone(api, waited)
	return a
}

// name returns what people call an API.
func (t *Template) name(api string) string {
	if n := t.text(t.resources[api].Properties["Name"]); n != "" {
		return n
	}
	return api
}

func (t *Template) response(r resource) Response {
	headers := map[string]string{}
	parameters, _ := r.Properties["ResponseParameters"].(map[string]any)
	for k, v := range parameters {
		if name, ok := strings.CutPrefix(k, "gatewayresponse.header."); ok {
			headers[name] = t.text(v)
		}
	}
	return Response{
		Status:  t.text(r.Properties["StatusCode"]),
		Headers: headers,
		Body:    t.text(at(r.Properties["ResponseTemplates"], "application/json")),
	}
}

// path returns the path of a resource, from its parents'. One that is its own
// parent has no more than so many.
func (t *Template) path(v any) string {
	path := ""
	for range 100 {
		r, ok := t.resources[t.ref(v)]
		if !ok || r.Type != "AWS::ApiGateway::Resource" {
			break // the root is an attribute of the API
		}
		path, v = "/"+t.text(r.Properties["PathPart"])+path, r.Properties["ParentId"]
	}
	if path == "" {
		return "/"
	}
	return path
}

// undone returns which of the resources the API's deployments do not wait for.
func (t *Template) undone(api string, resources []string) []string {
	var missing []string
	for _, d := range t.of("AWS::ApiGateway::Deployment") {
		if t.ref(d.Properties["RestApiId"]) != api {
			continue
		}
		waits := t.texts(d.DependsOn)
		for _, r := range resources {
			if !slices.Contains(waits, r) && !slices.Contains(missing, r) {
				missing = append(missing, r)
			}
		}
	}
	return missing
}

func (t *Template) httpAPI(id string, authorizer resource) API {
	api := t.ref(authorizer.Properties["ApiId"])
	a := API{
		Name:      t.name(api),
		Region:    t.Region,
		Kind:      HTTP,
		Invocable: t.invocable(authorizer),
		Payload:   t.text(authorizer.Properties["AuthorizerPayloadFormatVersion"]),
		Simple:    isTrue(authorizer.Properties["EnableSimpleResponses"]),
		Sources:   t.texts(authorizer.Properties["IdentitySource"]),
	}
	if ttl, ok := number(authorizer.Properties["AuthorizerResultTtlInSeconds"]); ok {
		a.TTL = &ttl
	}
	if fn, ok := t.called(authorizer); ok {
		env := t.environment(t.resources[fn])
		a.OverLimit, a.HTTPResponse = env["WEIR_HTTP_OVER_LIMIT"], env["WEIR_HTTP_RESPONSE"]
	}
	for _, r := range t.of("AWS::ApiGatewayV2::Route") {
		if t.ref(r.Properties["ApiId"]) != api {
			continue
		}
		verb, path, _ := strings.Cut(t.text(r.Properties["RouteKey"]), " ")
		a.Methods = append(a.Methods, Method{
			Path: path, Verb: verb,
			Limited: t.text(r.Properties["AuthorizationType"]) == "CUSTOM" && t.ref(r.Properties["AuthorizerId"]) == id,
			Has:     t.text(r.Properties["AuthorizationType"]),
		})
	}
	return a
}
