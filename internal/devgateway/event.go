package devgateway

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// What the event says of the API; there is only one, and no account.
const (
	region    = "us-east-1"
	accountID = "123456789012"
	apiID     = "weirdev000"
	stage     = "dev"
)

// Event is the event of a REST API's REQUEST authorizer, as API Gateway sends it
// for an API behind a custom domain: the path is without the stage.
type Event struct {
	Type                            string              `json:"type"`
	MethodARN                       string              `json:"methodArn"`
	Resource                        string              `json:"resource"`
	Path                            string              `json:"path"`
	HTTPMethod                      string              `json:"httpMethod"`
	Headers                         map[string]string   `json:"headers"`
	MultiValueHeaders               map[string][]string `json:"multiValueHeaders"`
	QueryStringParameters           map[string]string   `json:"queryStringParameters"`
	MultiValueQueryStringParameters map[string][]string `json:"multiValueQueryStringParameters"`
	PathParameters                  map[string]string   `json:"pathParameters"`
	StageVariables                  map[string]string   `json:"stageVariables"`
	RequestContext                  RequestContext      `json:"requestContext"`
}

// RequestContext is the part of an Event about the request and the API.
type RequestContext struct {
	ResourceID        string   `json:"resourceId"`
	ResourcePath      string   `json:"resourcePath"`
	HTTPMethod        string   `json:"httpMethod"`
	ExtendedRequestID string   `json:"extendedRequestId"`
	RequestTime       string   `json:"requestTime"`
	Path              string   `json:"path"`
	AccountID         string   `json:"accountId"`
	Protocol          string   `json:"protocol"`
	Stage             string   `json:"stage"`
	DomainPrefix      string   `json:"domainPrefix"`
	RequestTimeEpoch  int64    `json:"requestTimeEpoch"` // ms
	RequestID         string   `json:"requestId"`
	Identity          Identity `json:"identity"`
	DomainName        string   `json:"domainName"`
	APIID             string   `json:"apiId"`
}

// Identity is the caller, as far as the connection tells. The fields that need
// IAM, Cognito or an API key on the method are null.
type Identity struct {
	Caller                        *string `json:"caller"`
	User                          *string `json:"user"`
	UserARN                       *string `json:"userArn"`
	AccountID                     *string `json:"accountId"`
	AccessKey                     *string `json:"accessKey"`
	CognitoIdentityPoolID         *string `json:"cognitoIdentityPoolId"`
	CognitoIdentityID             *string `json:"cognitoIdentityId"`
	CognitoAuthenticationType     *string `json:"cognitoAuthenticationType"`
	CognitoAuthenticationProvider *string `json:"cognitoAuthenticationProvider"`
	PrincipalOrgID                *string `json:"principalOrgId"`
	SourceIP                      string  `json:"sourceIp"`
	UserAgent                     string  `json:"userAgent"`
}

// newEvent describes request r with the given header, which arrived at now from
// source and has been routed.
func newEvent(r *http.Request, header http.Header, to route, params map[string]string, source netip.Addr, now time.Time) *Event {
	path := r.URL.EscapedPath()
	if path == "" {
		path = "/"
	}
	headers := eventHeaders(r, header, source)
	query, _ := url.ParseQuery(r.URL.RawQuery) // what does not parse is left out
	id := newRequestID()
	host := (&url.URL{Host: r.Host}).Hostname()
	prefix, _, _ := strings.Cut(host, ".")
	return &Event{
		Type:                            "REQUEST",
		MethodARN:                       "arn:aws:execute-api:" + region + ":" + accountID + ":" + apiID + "/" + stage + "/" + r.Method + path,
		Resource:                        to.resource,
		Path:                            path,
		HTTPMethod:                      r.Method,
		Headers:                         lastValues(headers),
		MultiValueHeaders:               headers,
		QueryStringParameters:           lastValues(query),
		MultiValueQueryStringParameters: query,
		PathParameters:                  params,
		StageVariables:                  map[string]string{},
		RequestContext: RequestContext{
			ResourceID:        to.id,
			ResourcePath:      to.resource,
			HTTPMethod:        r.Method,
			ExtendedRequestID: newExtendedID(),
			RequestTime:       now.UTC().Format("02/Jan/2006:15:04:05 -0700"),
			Path:              path,
			AccountID:         accountID,
			Protocol:          r.Proto,
			Stage:             stage,
			DomainPrefix:      prefix,
			RequestTimeEpoch:  now.UnixMilli(),
			RequestID:         id,
			Identity:          Identity{SourceIP: source.String(), UserAgent: r.UserAgent()},
			DomainName:        host,
			APIID:             apiID,
		},
	}
}

// eventHeaders returns header with what API Gateway adds to it.
func eventHeaders(r *http.Request, header http.Header, source netip.Addr) map[string][]string {
	h := header.Clone()
	h.Set("Host", r.Host) // net/http keeps it apart
	forwarded := append(h.Values("X-Forwarded-For"), source.String())
	h.Set("X-Forwarded-For", strings.Join(forwarded, ", "))
	h.Set("X-Forwarded-Proto", "http")
	if a, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		if _, port, err := net.SplitHostPort(a.String()); err == nil {
			h.Set("X-Forwarded-Port", port)
		}
	}
	return h
}

// lastValues is the single-value form of a multi-value map.
func lastValues(multi map[string][]string) map[string]string {
	single := make(map[string]string, len(multi))
	for k, v := range multi {
		if len(v) > 0 {
			single[k] = v[len(v)-1]
		}
	}
	return single
}

// peer returns the address of the client's end of the connection.
func peer(r *http.Request) netip.Addr {
	if ap, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		return ap.Addr().Unmap().WithZone("")
	}
	return netip.IPv4Unspecified()
}
