package doctor

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Kinds of API.
const (
	REST = "REST"
	HTTP = "HTTP"
)

// API is an API that Weir's authorizer is attached to.
type API struct {
	Name   string // for people
	Region string
	Kind   string // REST or HTTP

	TTL     *int     // seconds for which the authorizer's answers are cached; nil if not set: 300 for REST, 0 for HTTP
	Sources []string // the authorizer's identity sources
	Payload string   // HTTP: format of the event
	Simple  bool     // HTTP: whether simple responses are expected

	Invocable bool // the API may call the authorizer
	Methods   []Method
	Open      []string // paths that are meant to be without the authorizer

	Responses map[string]Response // REST: gateway responses that are customised, by type
	Twice     []string            // REST: types that a template customises more than once
	Undone    []string            // what the stage's deployment does not wait for, and may so go without

	OverLimit    string // HTTP: WEIR_HTTP_OVER_LIMIT of the authorizer, "" if not known
	HTTPResponse string // HTTP: WEIR_HTTP_RESPONSE of the authorizer, "" if not known
}

// Method is one route.
type Method struct {
	Path, Verb string
	Limited    bool   // it has Weir's authorizer
	Has        string // what it has otherwise, as "NONE"
}

// Response is a gateway response.
type Response struct {
	Status  string
	Headers map[string]string // by name, to mapping expressions
	Body    string            // the application/json template
}

func (a API) where() string { return fmt.Sprintf("%s API %s in %s", a.Kind, a.Name, a.Region) }

// healthPath is the route of Weir's own that health checks call.
const healthPath = "/weir/health"

func (c *check) api(a API) {
	where := a.where()
	switch {
	case a.TTL == nil && a.Kind == REST:
		c.broken("authorizer-cached", where, "the authorizer's answers are cached for 300 s, as nothing is said: requests that are answered from the cache are not counted.", "Set the authorizer's TTL to 0.")
	case a.TTL != nil && *a.TTL != 0:
		c.broken("authorizer-cached", where, fmt.Sprintf("the authorizer's answers are cached for %d s: requests that are answered from the cache are not counted.", *a.TTL), "Set the authorizer's TTL to 0.")
	}
	if !a.Invocable {
		c.broken("authorizer-not-invocable", where, "it may not invoke the authorizer: every request is a 500.", "Give apigateway.amazonaws.com lambda:InvokeFunction on the function that the authorizer names (the alias, if it names one).")
	}
	c.methods(a)
	if a.Kind == HTTP {
		c.httpAPI(a)
		return
	}
	if len(a.Sources) > 0 {
		c.risky("identity-source", where, "the authorizer has identity sources ("+strings.Join(a.Sources, ", ")+"): requests without them are 401 before Weir can count them, so guessing is not limited.", "Remove the identity sources.")
	}
	c.limited(a)
	for _, typ := range a.Twice {
		c.broken("response-twice", where, "gateway response "+typ+" is set twice: which of the two is in force is not said.", "Remove the one that is not Weir's.")
	}
	if r, ok := a.Responses["UNAUTHORIZED"]; ok && r.Status != "" && r.Status != "401" {
		c.risky("unauthorized-status", where, "gateway response UNAUTHORIZED is "+r.Status+": a bad credential does not look like one.", "Set its status to 401.")
	}
	if len(a.Undone) > 0 {
		c.broken("deployed-without", where, "the stage's deployment does not wait for "+strings.Join(a.Undone, ", ")+", and what is not there yet when it is made is not in force.", "Make the deployment depend on it.")
	}
}

func (c *check) methods(a API) {
	var open []string
	for _, m := range a.Methods {
		if m.Limited || m.Verb == "OPTIONS" || m.Path == healthPath || slices.Contains(a.Open, m.Path) {
			continue
		}
		has := ""
		if m.Has != "" && m.Has != "NONE" {
			has = " (it has " + m.Has + ")"
		}
		open = append(open, m.Verb+" "+m.Path+has)
	}
	if len(open) > 0 {
		slices.Sort(open)
		c.broken("method-unlimited", a.where(), "no limit holds for "+strings.Join(open, ", ")+": the authorizer is not asked.", "Give it Weir's authorizer, or name its path as open.")
	}
}

// mapped are the headers that a refusal must have, and from where.
var mapped = map[string]string{
	"Retry-After":           "context.authorizer.retryAfter",
	"RateLimit":             "context.authorizer.rateLimit",
	"RateLimit-Policy":      "context.authorizer.rateLimitPolicy",
	"X-RateLimit-Limit":     "context.authorizer.limit",
	"X-RateLimit-Remaining": "context.authorizer.remaining",
	"X-RateLimit-Reset":     "context.authorizer.reset",
	"X-RateLimit-Scope":     "context.authorizer.scope",
	"X-RateLimit-Reason":    "context.authorizer.reason",
}

// variables of the authorizer's context that a JSON body may hold as they are. The
// two structured fields have quotes.
var inBodies = regexp.MustCompile(`^(tenant|plan|limited|code|message|retryAfter|held|limit|remaining|reset|scope|reason)$`)

var authorizerVariable = regexp.MustCompile(`\$\{?context\.authorizer\.([A-Za-z0-9_]+)\}?`)

// limited checks what a client over its limit gets.
func (c *check) limited(a API) {
	where := a.where()
	r, ok := a.Responses["ACCESS_DENIED"]
	switch {
	case !ok:
		c.broken("no-429", where, "gateway response ACCESS_DENIED is not customised: a client over its limit gets 403, without Retry-After.", "Add it with status 429 (infra/attach does).")
		return
	case r.Status != "429":
		c.broken("no-429", where, "gateway response ACCESS_DENIED is "+orDefault(r.Status, "403, as no status is set")+": a client over its limit gets no 429.", "Set its status to 429.")
	}
	for _, name := range slices.Sorted(maps.Keys(mapped)) {
		var got string
		for h, expression := range r.Headers {
			if strings.EqualFold(h, name) {
				got = expression
			}
		}
		switch want := mapped[name]; {
		case got == want:
		case name == "Retry-After":
			c.broken("429-headers", where, fmt.Sprintf("Retry-After of the 429 is %s: clients do not learn when to come back.", orDefault(got, "not mapped")), "Map it from "+want+".")
		default:
			c.risky("429-headers", where, fmt.Sprintf("%s of the 429 is %s.", name, orDefault(got, "not mapped")), "Map it from "+want+".")
		}
	}
	c.body(a, r.Body)
}

func (c *check) body(a API, body string) {
	if body == "" {
		c.risky("429-body", a.where(), "the 429 has API Gateway's own body, which says nothing of the limit.", "Give it a JSON template (docs/answers.md).")
		return
	}
	sample := authorizerVariable.ReplaceAllStringFunc(body, func(v string) string {
		if name := authorizerVariable.FindStringSubmatch(v)[1]; !inBodies.MatchString(name) {
			c.broken("429-body", a.where(), "the 429's body has $context.authorizer."+name+", which is not in the context or does not fit into JSON.", "Use the variables of docs/answers.md.")
		}
		return "1"
	})
	if sample = gatewayVariable.ReplaceAllString(sample, "1"); !json.Valid([]byte(sample)) {
		c.broken("429-body", a.where(), "the 429's body is not JSON when its variables are filled in.", "Correct the template.")
	}
}

var gatewayVariable = regexp.MustCompile(`\$\{?context\.[A-Za-z0-9_.]+\}?`)

// httpAPI checks what only HTTP APIs have.
func (c *check) httpAPI(a API) {
	where := a.where()
	if a.Payload != "" && a.Payload != "2.0" && a.Simple {
		c.broken("payload", where, "simple responses are expected of an authorizer with payload "+a.Payload+".", "Set the payload format to 2.0.")
	}
	if a.HTTPResponse != "" && (a.HTTPResponse == "simple") != a.Simple && a.Payload == "2.0" {
		c.broken("http-response", where, fmt.Sprintf("simple responses are %v there, and the function's WEIR_HTTP_RESPONSE is %s: every request is a 500.", onOff(a.Simple), a.HTTPResponse), "Make them agree.")
	}
	if a.OverLimit == "flag" {
		c.risky("backend-429", where, "the backend has to answer 429 when it sees limited=true; nobody else does.", "See that it does: docs/answers.md, HTTP APIs know no 429.")
	}
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

func orDefault(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
