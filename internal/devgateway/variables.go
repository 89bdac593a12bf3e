package devgateway

import (
	"strconv"
	"strings"
)

// variables is what expressions can refer to while one request is answered.
type variables struct {
	event      *Event
	authorizer map[string]string // the answer's context and principalId
	err        *gatewayError     // nil if the request was served
}

// openPrefixes are the families of variables whose names are free.
var openPrefixes = []string{
	"context.authorizer.",
	"stageVariables.",
	"method.request.header.",
	"method.request.querystring.",
	"method.request.path.",
	"integration.response.header.",
}

// contextVariables are the others, as far as this gateway knows them.
var contextVariables = map[string]func(variables) string{
	"context.accountId":           func(v variables) string { return v.event.RequestContext.AccountID },
	"context.apiId":               func(v variables) string { return v.event.RequestContext.APIID },
	"context.domainName":          func(v variables) string { return v.event.RequestContext.DomainName },
	"context.extendedRequestId":   func(v variables) string { return v.event.RequestContext.ExtendedRequestID },
	"context.httpMethod":          func(v variables) string { return v.event.HTTPMethod },
	"context.identity.sourceIp":   func(v variables) string { return v.event.RequestContext.Identity.SourceIP },
	"context.identity.userAgent":  func(v variables) string { return v.event.RequestContext.Identity.UserAgent },
	"context.path":                func(v variables) string { return v.event.RequestContext.Path },
	"context.protocol":            func(v variables) string { return v.event.RequestContext.Protocol },
	"context.requestId":           func(v variables) string { return v.event.RequestContext.RequestID },
	"context.requestTime":         func(v variables) string { return v.event.RequestContext.RequestTime },
	"context.requestTimeEpoch":    func(v variables) string { return strconv.FormatInt(v.event.RequestContext.RequestTimeEpoch, 10) },
	"context.resourceId":          func(v variables) string { return v.event.RequestContext.ResourceID },
	"context.resourcePath":        func(v variables) string { return v.event.Resource },
	"context.stage":               func(v variables) string { return v.event.RequestContext.Stage },
	"context.error.message":       func(v variables) string { return v.err.text() },
	"context.error.messageString": func(v variables) string { return v.err.quoted() },
	"context.error.responseType":  func(v variables) string { return v.err.responseType() },
}

// isVariable reports whether s looks like a variable rather than plain text.
func isVariable(s string) bool {
	for _, p := range []string{"context.", "stageVariables.", "method.request.", "integration.response."} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// lookup returns the value of a variable that checkVariable accepts; ok is false
// if this request does not have it.
func (v variables) lookup(name string) (value string, ok bool) {
	if f, known := contextVariables[name]; known {
		return f(v), true
	}
	prefix, rest := cutPrefix(name)
	switch prefix {
	case "context.authorizer.":
		value, ok = v.authorizer[rest]
	case "method.request.header.":
		for k, s := range v.event.Headers {
			if strings.EqualFold(k, rest) {
				return s, true
			}
		}
	case "method.request.querystring.":
		value, ok = v.event.QueryStringParameters[rest]
	case "method.request.path.":
		value, ok = v.event.PathParameters[rest]
	}
	return value, ok
}

func cutPrefix(name string) (prefix, rest string) {
	for _, p := range openPrefixes {
		if rest, ok := strings.CutPrefix(name, p); ok {
			return p, rest
		}
	}
	return "", ""
}
