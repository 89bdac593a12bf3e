package devgateway

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// responseType is a type of gateway response, such as ACCESS_DENIED.
type responseType string

// The types this gateway answers with.
const (
	accessDenied                 responseType = "ACCESS_DENIED"
	authorizerConfigurationError responseType = "AUTHORIZER_CONFIGURATION_ERROR"
	default4XX                   responseType = "DEFAULT_4XX"
	default5XX                   responseType = "DEFAULT_5XX"
	missingAuthenticationToken   responseType = "MISSING_AUTHENTICATION_TOKEN"
	requestTooLarge              responseType = "REQUEST_TOO_LARGE"
	unauthorized                 responseType = "UNAUTHORIZED"
)

// awsDefaults are the types a template may customise, with the status each has
// if it is not (0: that of the error at hand).
var awsDefaults = map[responseType]int{
	accessDenied:                 http.StatusForbidden,
	"API_CONFIGURATION_ERROR":    http.StatusInternalServerError,
	authorizerConfigurationError: http.StatusInternalServerError,
	"AUTHORIZER_FAILURE":         http.StatusInternalServerError,
	"BAD_REQUEST_BODY":           http.StatusBadRequest,
	"BAD_REQUEST_PARAMETERS":     http.StatusBadRequest,
	default4XX:                   0,
	default5XX:                   0,
	"EXPIRED_TOKEN":              http.StatusForbidden,
	"INTEGRATION_FAILURE":        http.StatusGatewayTimeout,
	"INTEGRATION_TIMEOUT":        http.StatusGatewayTimeout,
	"INVALID_API_KEY":            http.StatusForbidden,
	"INVALID_SIGNATURE":          http.StatusForbidden,
	missingAuthenticationToken:   http.StatusForbidden,
	"QUOTA_EXCEEDED":             http.StatusTooManyRequests,
	requestTooLarge:              http.StatusRequestEntityTooLarge,
	"RESOURCE_NOT_FOUND":         http.StatusNotFound,
	"THROTTLED":                  http.StatusTooManyRequests,
	unauthorized:                 http.StatusUnauthorized,
	"UNSUPPORTED_MEDIA_TYPE":     http.StatusUnsupportedMediaType,
	"WAF_FILTERED":               http.StatusForbidden,
}

// gatewayError is an error that the gateway itself answers.
type gatewayError struct {
	typ       responseType
	errorType string  // of the x-amzn-ErrorType header
	message   *string // nil is rendered as null
	status    int     // for types without one
	cause     error   // for the log, never for the client
}

func (e *gatewayError) text() string {
	if e == nil || e.message == nil {
		return ""
	}
	return *e.message
}

func (e *gatewayError) quoted() string {
	if e == nil || e.message == nil {
		return "null"
	}
	b, _ := json.Marshal(*e.message) // a string
	return string(b)
}

func (e *gatewayError) responseType() string {
	if e == nil {
		return ""
	}
	return string(e.typ)
}

func newError(typ responseType, errorType, message string) *gatewayError {
	return &gatewayError{typ: typ, errorType: errorType, message: &message}
}

func errAccessDenied(v verdict) *gatewayError {
	message := "User is not authorized to access this resource"
	if v == explicitDeny {
		message += " with an explicit deny"
	}
	return newError(accessDenied, "AccessDeniedException", message)
}

func errUnauthorized() *gatewayError {
	return newError(unauthorized, "UnauthorizedException", "Unauthorized")
}

func errAuthorizer(cause error) *gatewayError {
	return &gatewayError{typ: authorizerConfigurationError, errorType: "AuthorizerConfigurationException", cause: cause}
}

func errNoMethod() *gatewayError {
	return newError(missingAuthenticationToken, "MissingAuthenticationTokenException", "Missing Authentication Token")
}

func errTooLarge() *gatewayError {
	return newError(requestTooLarge, "RequestTooLargeException", "Request Entity Too Large")
}

func errURITooLong() *gatewayError {
	e := newError(default4XX, "RequestTooLargeException", "Request URI too long")
	e.status = http.StatusRequestURITooLong
	return e
}

// response is a gateway response as a template customises it.
type response struct {
	status  int // 0: the type's own
	headers []headerMapping
	body    bodyTemplate // nil: AWS's default
}

var (
	defaultBody, _ = parseBody(`{"message":$context.error.messageString}`)

	// Only the uncustomised ACCESS_DENIED spells its key with a capital M.
	defaultAccessDenied, _ = parseBody(`{"Message":$context.error.messageString}`)
)

// responseFor returns the gateway response in effect for an error: that of the
// template for its type, else for its family, else AWS's own. An entry for the
// type wins entirely; nothing of the family's is merged into it.
func (t *Template) responseFor(e *gatewayError) response {
	family := default4XX
	if awsDefaults[e.typ] >= http.StatusInternalServerError {
		family = default5XX
	}
	r, customised := t.responses[e.typ]
	if !customised {
		r, customised = t.responses[family]
	}
	if r.status == 0 {
		r.status = max(awsDefaults[e.typ], e.status)
	}
	if r.body == nil {
		r.body = defaultBody
		if e.typ == accessDenied && !customised {
			r.body = defaultAccessDenied
		}
	}
	return r
}

// write answers with the gateway response of v.err and returns what the
// developer should know of it.
func (t *Template) write(w http.ResponseWriter, v variables) (status int, warnings []string) {
	r := t.responseFor(v.err)
	h := w.Header()
	setHeader(h, "Content-Type", "application/json")
	setHeader(h, "x-amzn-ErrorType", v.err.errorType)
	unset := mapHeaders(h, r.headers, v)
	body, more := r.body.render(v)
	for _, name := range append(unset, more...) {
		warnings = append(warnings, fmt.Sprintf("%s uses %s, which is not set", v.err.typ, name))
	}
	if !json.Valid([]byte(body)) {
		warnings = append(warnings, fmt.Sprintf("%s: the body is not JSON once its variables are filled in", v.err.typ))
	}
	w.WriteHeader(r.status)
	_, _ = w.Write([]byte(body)) // a client that has gone
	return r.status, warnings
}
